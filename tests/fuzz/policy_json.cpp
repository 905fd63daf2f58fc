// Policies in JSON: read, and what is accepted is a policy that loads and is written again.
#include "tools/io/policy_json.h"

#include "runtime/policy/file/policy.h"
#include "runtime/policy/guide.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/targets.h"
#include "tools/io/write.h"

namespace placeto::fuzz {

int fuzz_policy_json(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes = own_copy(data, size);
  const auto policy = policy_from_json(as_text(bytes));
  if (!policy.ok()) return check_refused(policy.status()), 0;
  check(check_policy(*policy).ok(), "what is accepted verifies");
  const auto loaded = Policy::load(*policy, Policy::Bytes::kView, known_features());
  check(loaded.ok(), "what is accepted loads");
  const auto text = to_json(PolicyFile{*policy});
  check(text.ok(), "what was read as JSON can be written as JSON");
  const auto again = policy_from_json(*text);
  check(again.ok() && *again == *policy, "a policy survives JSON to the last bit");
  return 1;
}

}  // namespace placeto::fuzz
