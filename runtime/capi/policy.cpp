// Policies: loading, and what they say about themselves.

#include "runtime/capi/handles.h"
#include "runtime/capi/support.h"
#include "runtime/policy/guide.h"

using namespace placeto;        // NOLINT: this file is one edge of the library
using namespace placeto::capi;  // NOLINT

namespace {

Status hand_out(Result<std::shared_ptr<const Policy>> loaded, placeto_policy** policy) {
  if (!loaded.ok()) return loaded.status();
  *policy = new placeto_policy{std::move(*loaded)};
  return {};
}

placeto_policy_options loading_defaults() {
  placeto_policy_options options = {};
  options.struct_size = sizeof options;
  return options;
}

// NULL means the defaults, which `to` holds.
Status read_options(const placeto_policy_options* from, placeto_policy_options& to,
                    Limits& bounds) {
  if (from != nullptr) {
    if (Status s = read_struct("placeto_policy_options", from, to); !s.ok()) return s;
  }
  if (Status s = check_choice("mode", to.mode, 2); !s.ok()) return s;
  return read_limits(to.limits, bounds);
}

// The C function behind the runtime's. `options` must outlive it.
PolicyVerifier verifier_of(placeto_policy_options& options) {
  if (options.verify == nullptr) return {};
  const auto accept = [](void* context, std::span<const uint8_t> bytes) {
    const auto& asked = *static_cast<const placeto_policy_options*>(context);
    return asked.verify(asked.verify_context, bytes.data(), bytes.size()) != 0;
  };
  return {accept, &options};
}

}  // namespace

placeto_status placeto_default_policy_options(placeto_policy_options* options,
                                              size_t struct_size) noexcept {
  return set_defaults(options, struct_size, loading_defaults());
}

placeto_status placeto_policy_load_file_with(const char* path,
                                             const placeto_policy_options* options,
                                             placeto_policy** policy,
                                             placeto_error* error) noexcept {
  if (policy != nullptr) *policy = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{path, "path"}, {policy, "policy"}}); !s.ok()) return s;
    placeto_policy_options chosen = loading_defaults();
    Limits bounds;
    if (Status s = read_options(options, chosen, bounds); !s.ok()) return s;
    const auto how = chosen.mode == PLACETO_FILE_MAP ? Policy::File::kMap : Policy::File::kRead;
    return hand_out(Policy::load_file(path, how, known_features(), bounds, verifier_of(chosen)),
                    policy);
  });
}

placeto_status placeto_policy_load_memory_with(const void* bytes, size_t size,
                                               const placeto_policy_options* options,
                                               placeto_policy** policy,
                                               placeto_error* error) noexcept {
  if (policy != nullptr) *policy = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{bytes, "bytes"}, {policy, "policy"}}); !s.ok()) return s;
    placeto_policy_options chosen = loading_defaults();
    Limits bounds;
    if (Status s = read_options(options, chosen, bounds); !s.ok()) return s;
    const auto how =
        chosen.mode == PLACETO_BYTES_VIEW ? Policy::Bytes::kView : Policy::Bytes::kCopy;
    return hand_out(
        Policy::load(as_bytes(bytes, size), how, known_features(), bounds, verifier_of(chosen)),
        policy);
  });
}

placeto_status placeto_policy_load_file(const char* path, int32_t mode,
                                        const placeto_limits* limits, placeto_policy** policy,
                                        placeto_error* error) noexcept {
  placeto_policy_options options = loading_defaults();
  options.mode = mode;
  options.limits = limits;
  return placeto_policy_load_file_with(path, &options, policy, error);
}

placeto_status placeto_policy_load_memory(const void* bytes, size_t size, int32_t mode,
                                          const placeto_limits* limits, placeto_policy** policy,
                                          placeto_error* error) noexcept {
  placeto_policy_options options = loading_defaults();
  options.mode = mode;
  options.limits = limits;
  return placeto_policy_load_memory_with(bytes, size, &options, policy, error);
}

void placeto_policy_free(placeto_policy* policy) noexcept {
  delete policy;
}

const char* placeto_policy_architecture(const placeto_policy* policy) noexcept {
  if (policy == nullptr) return "";
  return name_of(policy->value->architecture()).data();  // a literal: it ends with a NUL
}

uint64_t placeto_policy_parameter_count(const placeto_policy* policy) noexcept {
  return policy == nullptr ? 0 : policy->value->parameter_count();
}

uint64_t placeto_policy_file_bytes(const placeto_policy* policy) noexcept {
  return policy == nullptr ? 0 : policy->value->file_bytes();
}

const char* placeto_policy_feature_name(const placeto_policy* policy, uint32_t column) noexcept {
  if (policy == nullptr) return "";
  return feature_name(*policy->value, column).data();
}

placeto_status placeto_policy_sha256(const placeto_policy* policy, uint8_t digest[32],
                                     placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{policy, "policy"}, {digest, "digest"}}); !s.ok()) return s;
    const Sha256Digest& value = policy->value->sha256();
    std::memcpy(digest, value.data(), value.size());
    return {};
  });
}
