#include "trainer/eval/fit.h"

#include "runtime/policy/guide.h"
#include "trainer/base/parallel.h"

namespace placeto::train {

Status check_each(const TestSet& set, uint32_t threads,
                  const std::function<Status(const Problem&)>& check) {
  std::vector<Status> found(set.problems.size());
  parallel_for(static_cast<uint32_t>(found.size()), threads,
               [&](uint32_t i) { found[i] = check(*set.problems[i]().problem); });
  for (const Status& status : found) {
    if (!status.ok()) return status.at(set.name);
  }
  return {};
}

Status check_fits(const Policy& policy, const Problem& problem) {
  const MethodOptions by_default;
  Workbench bench(problem, by_default);
  return make_policy_guide(policy, bench, KernelChoice::kPortable).status();
}

Status check_fits_any(const Policy& policy, std::span<const TestSet> sets) {
  Status first;
  for (const TestSet& set : sets) {
    for (const auto& make : set.problems) {
      const Status status = check_fits(policy, *make().problem);
      if (status.ok()) return {};
      if (first.ok()) first = status.at(set.name);
    }
  }
  return first;
}

}  // namespace placeto::train
