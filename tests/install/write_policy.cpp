// write_policy FILE: a policy with weights written down, not trained, for the examples' tests.
#include <cstdio>

#include "runtime/format/file.h"
#include "runtime/policy/file/policy_file.h"
#include "tests/support/small_policies.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const placeto::Status status = placeto::write_file_atomically(
      argv[1], *placeto::encode_policy(placeto::test::small_pairwise_policy()));
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 4;
}
