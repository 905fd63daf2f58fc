// Version, statuses and limits.
#include "runtime/capi/support.h"
#include "runtime/policy/net/kernels.h"

#define PLACETO_TEXT(x) #x
#define PLACETO_TEXT_OF(x) PLACETO_TEXT(x)
#define PLACETO_TEXT_VERSION             \
  PLACETO_TEXT_OF(PLACETO_VERSION_MAJOR) \
  "." PLACETO_TEXT_OF(PLACETO_VERSION_MINOR) "." PLACETO_TEXT_OF(PLACETO_VERSION_PATCH)

namespace placeto::capi {
namespace {

// PLACETO_PROJECT_VERSION comes from the build: the header must not be left behind.
static_assert(std::string_view(PLACETO_TEXT_VERSION) == PLACETO_PROJECT_VERSION,
              "placeto.h and project(placeto VERSION ...) disagree");

static_assert(PLACETO_OK == static_cast<int>(StatusCode::kOk));
static_assert(PLACETO_INFEASIBLE == static_cast<int>(StatusCode::kInfeasible));
static_assert(PLACETO_INVALID_ARGUMENT == static_cast<int>(StatusCode::kInvalidArgument));
static_assert(PLACETO_BAD_INPUT == static_cast<int>(StatusCode::kBadInput));
static_assert(PLACETO_INTERNAL == static_cast<int>(StatusCode::kInternal));
static_assert(PLACETO_OUT_OF_MEMORY == static_cast<int>(StatusCode::kOutOfMemory));
static_assert(PLACETO_IO == static_cast<int>(StatusCode::kIo));
static_assert(PLACETO_BUFFER_TOO_SMALL == static_cast<int>(StatusCode::kBufferTooSmall));
static_assert(PLACETO_STOPPED == static_cast<int>(StatusCode::kStopped));
static_assert(PLACETO_NOT_FOUND == static_cast<int>(StatusCode::kNotFound));

}  // namespace
}  // namespace placeto::capi

uint32_t placeto_version(void) noexcept {
  return PLACETO_VERSION;
}

int32_t placeto_has_onednn(void) noexcept {
  return placeto::Kernels::onednn_available() ? 1 : 0;
}

const char* placeto_version_text(void) noexcept {
  return PLACETO_TEXT_VERSION;
}

const char* placeto_status_text(placeto_status status) noexcept {
  switch (status) {
    case PLACETO_OK:
      return "ok";
    case PLACETO_INFEASIBLE:
      return "infeasible";
    case PLACETO_INVALID_ARGUMENT:
      return "invalid argument";
    case PLACETO_BAD_INPUT:
      return "bad input";
    case PLACETO_INTERNAL:
      return "internal error";
    case PLACETO_OUT_OF_MEMORY:
      return "out of memory";
    case PLACETO_IO:
      return "input/output error";
    case PLACETO_STOPPED:
      return "stopped";
    case PLACETO_BUFFER_TOO_SMALL:
      return "buffer too small";
    case PLACETO_NOT_FOUND:
      return "not found";
    default:
      return "unknown";
  }
}

placeto_status placeto_default_limits(placeto_limits* limits, size_t struct_size) noexcept {
  const placeto::Limits defaults;
  placeto_limits value = {};
  value.max_nodes = defaults.max_nodes;
  value.max_edges = defaults.max_edges;
  value.max_outputs = defaults.max_outputs;
  value.max_kinds = defaults.max_kinds;
  value.max_devices = defaults.max_devices;
  value.max_links = defaults.max_links;
  value.max_name_bytes = defaults.max_name_bytes;
  value.max_file_bytes = defaults.max_file_bytes;
  value.max_run_entries = defaults.max_run_entries;
  return placeto::capi::set_defaults(limits, struct_size, value);
}
