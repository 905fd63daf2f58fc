// Policies made by the tests, loaded through the C interface.
#pragma once

#include "runtime/policy/file/policy_file.h"
#include "tests/support/small_policies.h"
#include "tests/unit/capi_support.h"

namespace capi_test {

inline std::vector<uint8_t> policy_bytes(
    const placeto::PolicySpec& spec = placeto::test::small_pairwise_policy()) {
  return *placeto::encode_policy(spec);
}

inline Policy load(const placeto::PolicySpec& spec) {
  const std::vector<uint8_t> bytes = policy_bytes(spec);
  placeto_policy* policy = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_policy_load_memory(bytes.data(), bytes.size(), PLACETO_BYTES_COPY,
                                             nullptr, &policy, &error) == PLACETO_OK,
                  error.message);
  return Policy(policy);
}

}  // namespace capi_test
