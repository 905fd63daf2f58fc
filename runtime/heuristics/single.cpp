// `single`: the whole graph on one device. The candidate that nothing may be worse than.
#include <algorithm>

#include "runtime/heuristics/heuristics.h"

namespace placeto {
namespace {

Assignment mostly_on(const Problem& problem, uint32_t device) {
  Assignment assignment(problem.node_count());
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    uint32_t chosen = device;
    for (uint32_t d = 0; !problem.allowed(g, chosen); ++d) chosen = d;
    for (uint32_t v : problem.members(g)) assignment[v] = chosen;
  }
  return assignment;
}

bool has_earlier_twin(const Problem& problem, uint32_t device) {
  for (uint32_t d = 0; d < device; ++d) {
    if (problem.class_of(d) == problem.class_of(device) &&
        problem.memory_limit(d) == problem.memory_limit(device)) {
      return true;
    }
  }
  return false;
}

class Single final : public Method {
 public:
  std::string_view name() const override { return "single"; }
  std::string_view summary() const override { return "everything on one device, the best of them"; }
  Result<Candidate> place(const Problem& problem, const MethodOptions&) const override {
    Evaluator evaluator(problem);
    std::vector<Candidate> all = place_on_each_device(problem, evaluator);
    return *std::min_element(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return a.score < b.score;
    });
  }
};

}  // namespace

std::vector<Candidate> place_on_each_device(const Problem& problem, Evaluator& evaluator) {
  // One device moves no tensor, so devices of one class and memory limit tell the same; on large
  // systems the first of them speaks for all.
  constexpr uint32_t kEachUpTo = 64;
  std::vector<Candidate> candidates;
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    if (problem.device_count() > kEachUpTo && has_earlier_twin(problem, d)) continue;
    Assignment assignment = mostly_on(problem, d);
    const Score score = evaluator.evaluate(assignment);
    candidates.push_back(
        {"single " + problem.topology().device(d).name, std::move(assignment), score});
  }
  return candidates;
}

const Method& single_method() {
  static constexpr Single method;
  return method;
}

}  // namespace placeto
