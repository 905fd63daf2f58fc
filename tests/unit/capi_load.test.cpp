// The C interface: how a policy is loaded, and verified before that.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/capi_policies.h"

using namespace capi_test;

TEST_CASE("a policy loads in all four ways and says what it is") {
  const std::vector<uint8_t> bytes = policy_bytes();
  const TemporaryFile file("policy.plpo", bytes);
  alignas(8) static uint8_t view[4096];
  REQUIRE(bytes.size() <= sizeof view);
  std::memcpy(view, bytes.data(), bytes.size());
  placeto_policy* loaded[4] = {};
  placeto_error error;
  CHECK(placeto_policy_load_file(file.path(), PLACETO_FILE_READ, nullptr, &loaded[0], &error) ==
        PLACETO_OK);
  CHECK(placeto_policy_load_file(file.path(), PLACETO_FILE_MAP, nullptr, &loaded[1], &error) ==
        PLACETO_OK);
  CHECK(placeto_policy_load_memory(bytes.data(), bytes.size(), PLACETO_BYTES_COPY, nullptr,
                                   &loaded[2], &error) == PLACETO_OK);
  CHECK(placeto_policy_load_memory(view, bytes.size(), PLACETO_BYTES_VIEW, nullptr, &loaded[3],
                                   &error) == PLACETO_OK);
  size_t parameters = 0;
  for (const auto& tensor : placeto::test::small_pairwise_policy().tensors) {
    parameters += tensor.data.size();
  }
  uint8_t first[32] = {};
  for (placeto_policy* policy : loaded) {
    REQUIRE(policy != nullptr);
    CHECK(std::string(placeto_policy_architecture(policy)) == "pairwise");
    CHECK(placeto_policy_parameter_count(policy) == parameters);
    CHECK(placeto_policy_file_bytes(policy) == bytes.size());
    uint8_t digest[32] = {};
    CHECK(placeto_policy_sha256(policy, digest, &error) == PLACETO_OK);
    if (policy == loaded[0]) std::memcpy(first, digest, sizeof first);
    CHECK(std::memcmp(first, digest, sizeof first) == 0);
    CHECK(std::count(digest, digest + 32, 0) < 32);
    CHECK(placeto_policy_sha256(policy, nullptr, &error) == PLACETO_INVALID_ARGUMENT);
    placeto_policy_free(policy);
  }
}

TEST_CASE("a policy that cannot be loaded is an error with a message") {
  std::vector<uint8_t> bytes = policy_bytes();
  placeto_policy* policy = nullptr;
  placeto_error error;
  CHECK(placeto_policy_load_file(nullptr, 0, nullptr, &policy, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_policy_load_file("no such file", 0, nullptr, &policy, &error) == PLACETO_IO);
  CHECK(mentions(error, "no such file"));
  CHECK(placeto_policy_load_file("no such file", 0, nullptr, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_policy_load_file("no such file", 2, nullptr, &policy, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "mode"));
  CHECK(placeto_policy_load_memory(nullptr, 0, 0, nullptr, &policy, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_policy_load_memory(bytes.data(), bytes.size(), -1, nullptr, &policy, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_policy_load_memory(bytes.data(), bytes.size(), 0, nullptr, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  bytes[bytes.size() / 2] ^= 1;
  CHECK(placeto_policy_load_memory(bytes.data(), bytes.size(), 0, nullptr, &policy, &error) ==
        PLACETO_BAD_INPUT);
  CHECK(policy == nullptr);
  CHECK(std::strlen(error.message) > 0);
}

namespace {

// What a caller's verification was shown, and what it is to answer.
struct Verification {
  std::vector<uint8_t> seen;
  int calls = 0;
  int32_t answer = 1;
};

int32_t note_and_answer(void* context, const void* bytes, size_t size) {
  auto& verification = *static_cast<Verification*>(context);
  const auto* first = static_cast<const uint8_t*>(bytes);
  verification.seen.assign(first, first + size);
  ++verification.calls;
  return verification.answer;
}

placeto_policy_options verified_by(Verification& verification, int32_t mode) {
  placeto_policy_options options;
  REQUIRE(placeto_default_policy_options(&options, sizeof options) == PLACETO_OK);
  options.mode = mode;
  options.verify = note_and_answer;
  options.verify_context = &verification;
  return options;
}

}  // namespace

TEST_CASE("the caller's verification sees the whole policy once, however it is loaded") {
  const std::vector<uint8_t> bytes = policy_bytes();
  const TemporaryFile file("verified.plpo", bytes);
  placeto_error error;
  for (const int32_t mode : {PLACETO_FILE_READ, PLACETO_FILE_MAP}) {
    Verification verification;
    const placeto_policy_options options = verified_by(verification, mode);
    placeto_policy* policy = nullptr;
    CHECK(placeto_policy_load_file_with(file.path(), &options, &policy, &error) == PLACETO_OK);
    CHECK(verification.calls == 1);
    CHECK(verification.seen == bytes);
    placeto_policy_free(policy);
  }
  Verification verification;
  const placeto_policy_options options = verified_by(verification, PLACETO_BYTES_COPY);
  placeto_policy* policy = nullptr;
  CHECK(placeto_policy_load_memory_with(bytes.data(), bytes.size(), &options, &policy, &error) ==
        PLACETO_OK);
  CHECK(verification.calls == 1);
  CHECK(verification.seen == bytes);
  placeto_policy_free(policy);
}

TEST_CASE("a policy that the caller's verification refuses is not loaded") {
  const std::vector<uint8_t> bytes = policy_bytes();
  const TemporaryFile file("refused.plpo", bytes);
  Verification verification;
  verification.answer = 0;
  placeto_policy_options options = verified_by(verification, PLACETO_FILE_READ);
  placeto_policy* policy = nullptr;
  placeto_error error;
  CHECK(placeto_policy_load_file_with(file.path(), &options, &policy, &error) == PLACETO_BAD_INPUT);
  CHECK(policy == nullptr);
  CHECK(mentions(error, file.path()));
  CHECK(mentions(error, "refused by the caller's verification"));
  CHECK(placeto_policy_load_memory_with(bytes.data(), bytes.size(), &options, &policy, &error) ==
        PLACETO_BAD_INPUT);
  CHECK(policy == nullptr);
}

TEST_CASE("the caller's verification comes before anything is interpreted") {
  const std::vector<uint8_t> garbage = {1, 2, 3};
  Verification verification;
  verification.answer = 0;
  const placeto_policy_options options = verified_by(verification, PLACETO_BYTES_COPY);
  placeto_policy* policy = nullptr;
  placeto_error error;
  CHECK(placeto_policy_load_memory_with(garbage.data(), garbage.size(), &options, &policy,
                                        &error) == PLACETO_BAD_INPUT);
  CHECK(mentions(error, "verification"));
  verification.answer = 1;  // accepted, it is checked like any other
  CHECK(placeto_policy_load_memory_with(garbage.data(), garbage.size(), &options, &policy,
                                        &error) == PLACETO_BAD_INPUT);
  CHECK(!mentions(error, "verification"));
}

TEST_CASE("loading a policy with options checks the options, and takes none for the defaults") {
  const std::vector<uint8_t> bytes = policy_bytes();
  placeto_policy* policy = nullptr;
  placeto_error error;
  CHECK(placeto_policy_load_memory_with(bytes.data(), bytes.size(), nullptr, &policy, &error) ==
        PLACETO_OK);
  placeto_policy_free(policy);
  placeto_policy_options options;
  REQUIRE(placeto_default_policy_options(&options, sizeof options) == PLACETO_OK);
  options.mode = 2;
  CHECK(placeto_policy_load_memory_with(bytes.data(), bytes.size(), &options, &policy, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "mode"));
  options.mode = 0;
  options.struct_size = 4;
  CHECK(placeto_policy_load_file_with("x", &options, &policy, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "placeto_policy_options"));
  CHECK(policy == nullptr);
}
