// `contiguous`: the topological order cut into consecutive stages of equal time, one per device:
// what experts do by hand for chains of layers. Groups stand where their first node stands.
#include <algorithm>

#include "runtime/heuristics/heuristics.h"
#include "runtime/heuristics/memory_plan.h"
#include "runtime/timeline/order.h"

namespace placeto {
namespace {

// How long a group runs on a device: looked up, for it is asked for in every cut.
class GroupTimes {
 public:
  GroupTimes(const Problem& problem, Stop* stop)
      : problem_(problem), sums_us_(size_t{problem.group_count()} * problem.class_count(), 0) {
    for (uint32_t v = 0; v < problem.node_count(); ++v) {
      double* const sums = &sums_us_[size_t{problem.group_of(v)} * problem.class_count()];
      for (uint32_t c = 0; c < problem.class_count(); ++c) sums[c] += problem.run_row(v)[c];
      if (spend(stop, problem.class_count())) return;
    }
  }
  double operator()(uint32_t group, uint32_t device) const {
    return sums_us_[size_t{group} * problem_.class_count() + problem_.class_of(device)];
  }

 private:
  const Problem& problem_;
  std::vector<double> sums_us_;  // group x class
};

struct Cut {
  double longest_us = 0;    // the time of the longest stage
  double next_us = kNever;  // what a stage may take at least before the cut is another one
};

// Fills stage after stage up to `stage_us`; the last stage takes what is left. A group that may not
// run on its stage's device goes to the first it may. `assignment` may be null.
Cut cut(const Problem& problem, const GroupTimes& run_us, std::span<const uint32_t> order,
        uint32_t stages, double stage_us, MemoryPlan& plan, Assignment* assignment, Stop* stop) {
  plan.clear();
  uint32_t stage = 0;
  double used = 0;
  Cut made;
  for (uint32_t g : order) {
    uint32_t device = stage;
    double run = 0;
    if (problem.allowed(g, stage)) {
      run = run_us(g, stage);
      const bool late = used > 0 && used + run > stage_us;
      if ((late || !plan.fits(g, stage)) && stage + 1 < stages) {
        if (late) made.next_us = std::min(made.next_us, used + run);
        device = ++stage;
        used = 0;
        if (problem.allowed(g, device)) run = run_us(g, device);
      }
    }
    if (problem.allowed(g, device)) {
      used += run;
      made.longest_us = std::max(made.longest_us, used);
    } else {
      device = problem.next_allowed(g, 0);
    }
    plan.take(g, device);
    if (assignment != nullptr) {
      for (uint32_t v : watched(problem.members(g), stop)) (*assignment)[v] = device;
    }
    if (spend(stop, 2 * problem.members(g).size())) break;
  }
  return made;
}

// The least stage time for which the greedy cut needs no longer stage, by bisection between times
// at which the cut changes. It is little more than the share of each stage, which is tried first.
Assignment balanced_cut(const Problem& problem, const GroupTimes& run_us,
                        std::span<const uint32_t> order, uint32_t stages, MemoryPlan& plan,
                        Stop* stop) {
  double all_us = 0;
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    all_us += problem.mean_run_us(v);
    if (spend(stop, 1)) break;
  }
  const Cut widest = cut(problem, run_us, order, stages, all_us, plan, nullptr, stop);
  double low = 0, high = std::max(all_us, widest.longest_us), stage_us = all_us / stages;
  constexpr int kBisections = 30;
  for (int i = 0; i < kBisections && high - low > 1e-6 * high && !stopped(stop); ++i) {
    const Cut made = cut(problem, run_us, order, stages, stage_us, plan, nullptr, stop);
    const bool is_enough = made.longest_us <= stage_us;
    if (is_enough) {
      high = made.longest_us;
    } else {
      low = std::min(made.longest_us, made.next_us);
    }
    stage_us = low + (high - low) / (is_enough ? 8 : 2);
  }
  Assignment assignment(problem.node_count());
  cut(problem, run_us, order, stages, high, plan, &assignment, stop);
  return assignment;
}

class Contiguous final : public Method {
 public:
  std::string_view name() const override { return "contiguous"; }
  std::string_view summary() const override {
    return "balanced consecutive stages of the topological order";
  }
  // Tries 2, 4, 8, ... and all devices as the number of stages.
  bool in_auto() const override { return true; }
  Result<Candidate> place(Workbench& bench) const override {
    const Problem& problem = bench.problem();
    Stop* const stop = bench.stop();
    const std::vector<uint32_t> order = groups_in_topological_order(problem, stop);
    const GroupTimes run_us(problem, stop);
    Candidate best;
    const uint32_t devices = problem.device_count();
    for (uint32_t stages = std::min(2u, devices);; stages = std::min(2 * stages, devices)) {
      Candidate candidate =
          place_within_memory(problem, bench.evaluator(), "contiguous", [&](MemoryPlan& plan) {
            return balanced_cut(problem, run_us, order, stages, plan, stop);
          });
      const bool complete = !candidate.assignment.empty();
      if (best.assignment.empty() || (complete && candidate.score < best.score)) {
        best = std::move(candidate);
      }
      if (stages == devices || stopped(stop)) return unless_stopped(std::move(best));
    }
  }
};

}  // namespace

const Method& contiguous_method() {
  static constexpr Contiguous method;
  return method;
}

}  // namespace placeto
