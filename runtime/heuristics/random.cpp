// `random`: a device drawn for every group among those it may run on and that have room.
#include "runtime/base/random.h"
#include "runtime/heuristics/heuristics.h"
#include "runtime/heuristics/memory_plan.h"

namespace placeto {
namespace {

uint32_t draw_device(const Problem& problem, uint32_t group, const MemoryPlan& plan,
                     Random& random) {
  uint32_t seen = 0, seen_with_room = 0, any = 0, with_room = 0;
  for (uint32_t d = 0; d < problem.device_count(); ++d) {  // reservoir of one
    if (!problem.allowed(group, d)) continue;
    if (random.below(++seen) == 0) any = d;
    if (plan.fits(group, d) && random.below(++seen_with_room) == 0) with_room = d;
  }
  return seen_with_room > 0 ? with_room : any;
}

class RandomMethod final : public Method {
 public:
  std::string_view name() const override { return "random"; }
  std::string_view summary() const override { return "a random device for every group, by seed"; }
  Result<Candidate> place(Workbench& bench) const override {
    const Problem& problem = bench.problem();
    Stop* const stop = bench.stop();
    Random random(bench.options().seed);
    const auto draw = [&](MemoryPlan& plan) {
      Assignment assignment(problem.node_count());
      for (uint32_t g = 0; g < problem.group_count(); ++g) {
        if (spend(stop, problem.members(g).size() + Stop::compared(problem.device_count()))) break;
        const uint32_t device = draw_device(problem, g, plan, random);
        plan.take(g, device);
        for (uint32_t v : watched(problem.members(g), stop)) assignment[v] = device;
      }
      return assignment;
    };
    return unless_stopped(place_within_memory(problem, bench.evaluator(), "random", draw));
  }
};

}  // namespace

const Method& random_method() {
  static constexpr RandomMethod method;
  return method;
}

}  // namespace placeto
