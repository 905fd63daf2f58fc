// What policies are measured on, as the commands that measure them are told.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/options/options.h"
#include "trainer/data/test_sets.h"
#include "trainer/eval/named_policy.h"

namespace placeto::train {

struct SetArguments {
  std::vector<std::string> sets, graphs, topologies;
  TestSetOptions tests;

  // The options; what `sets` and `tests` hold are their defaults.
  void add_to(cli::Command& command);

  // The files that are read: policies, and graphs and topologies of one's own. kBadInput if a
  // pattern matches none.
  Result<std::vector<std::string>> inputs(const std::vector<std::string>& policies) const;

  // The test sets, notes on which go to standard error; with graphs merged as a policy of the
  // published architecture was trained. There is a problem among them. Errors: those of
  // own_test_set and test_set.
  Result<std::vector<TestSet>> open(const std::vector<NamedPolicy>& policies) const;
};

}  // namespace placeto::train
