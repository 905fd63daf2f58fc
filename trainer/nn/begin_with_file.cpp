#include "trainer/nn/begin_with_file.h"

#include <span>
#include <string_view>

#include "runtime/graph/text.h"
#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"
#include "tools/io/shipped.h"
#include "trainer/base/files.h"

namespace placeto::train {

static Status take_policy(const std::string& start, Learner& learner) {
  constexpr std::string_view kShipped = "default";
  std::string file;
  std::span<const uint8_t> bytes = shipped::default_policy();
  if (start != kShipped) {
    Result<std::string> read = read_text(start);
    if (!read.ok()) return read.status();
    file = std::move(*read);
    bytes = as_bytes(file);
  }
  const Result<PolicySpec> policy = decode_policy(bytes, known_features());
  if (!policy.ok()) return policy.status().at(start);
  const Status taken = learner.begin_with(*policy);
  return taken.ok() ? taken : taken.at(start);
}

Status begin_with_file(const Config& config, Learner& learner) {
  const Status taken = take_policy(config.learn.start, learner);
  return taken.ok() ? taken : taken.at(config.where("learn.start"));
}

}  // namespace placeto::train
