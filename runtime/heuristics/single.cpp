// `single`: the whole graph on one device. The candidate that nothing may be worse than.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "runtime/base/stoppable_sort.h"
#include "runtime/heuristics/heuristics.h"

namespace placeto {
namespace {

// On the device as far as rules let it, else on the first one that they let it.
Assignment mostly_on(const Problem& problem, uint32_t device, Stop* stop) {
  Assignment assignment(problem.node_count());
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    const uint32_t chosen = problem.allowed(g, device) ? device : problem.next_allowed(g, 0);
    for (uint32_t v : watched(problem.members(g), stop)) assignment[v] = chosen;
    if (spend(stop, problem.members(g).size())) break;
  }
  return assignment;
}

std::string name_of(const Problem& problem, const Assignment& assignment, uint32_t device) {
  const std::optional<uint32_t> only = only_device(assignment);
  return (only ? "single " : "mostly ") + problem.topology().device(only.value_or(device)).name;
}

// Devices worth trying: every one, or on large systems the kMostTried with the least total run
// time, of those alike only the first: without pins and forbids one device moves no tensor, so
// those of one class, memory limit and price of a stage tell the same.
constexpr size_t kMostTried = 64;

std::vector<uint32_t> devices_to_try(const Problem& problem, Stop* stop) {
  std::vector<uint32_t> devices(problem.device_count());
  std::iota(devices.begin(), devices.end(), 0u);
  if (devices.size() <= kMostTried) return devices;
  std::vector<double> class_us(problem.class_count(), 0);
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    for (uint32_t c = 0; c < problem.class_count(); ++c) {
      const double run = problem.run_row(v)[c];
      // Where a class cannot run a node, another device has to.
      class_us[c] += run == kNever ? problem.mean_run_us(v) : run;
    }
    if (spend(stop, problem.class_count())) break;
  }
  const bool staged = problem.is_staged();
  const auto key = [&](uint32_t d) {
    const uint32_t c = problem.class_of(d);
    const double stage_us = staged ? problem.topology().device(d).stage_us : 0;
    const uint32_t self = problem.is_restricted() ? d : 0;
    return std::make_tuple(class_us[c] + stage_us, c, ~problem.memory_limit(d), self);
  };
  stoppable_sort(devices.begin(), devices.end(),
                 [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  const auto alike_alone = [&](uint32_t a, uint32_t b) { return key(a) == key(b); };
  devices.erase(std::unique(devices.begin(), devices.end(), alike_alone), devices.end());
  devices.resize(std::min(devices.size(), kMostTried));
  stoppable_sort(devices.begin(), devices.end(), std::less<>());
  return devices;
}

class Single final : public Method {
 public:
  std::string_view name() const override { return "single"; }
  std::string_view summary() const override { return "everything on one device, the best of them"; }
  bool in_auto() const override { return true; }
  Result<Candidate> place(Workbench& bench) const override {
    std::vector<Candidate> all = place_on_each_device(bench.problem(), bench.evaluator());
    if (all.empty()) return Status::stopped();
    return *std::min_element(all.begin(), all.end(), is_better);
  }
  // Each device is a candidate of its own there.
  Status add_to(Workbench& bench) const override {
    for (Candidate& candidate : place_on_each_device(bench.problem(), bench.evaluator())) {
      bench.add(std::move(candidate));
    }
    return {};
  }
};

}  // namespace

std::vector<Candidate> place_on_each_device(const Problem& problem, Evaluator& evaluator) {
  std::vector<Candidate> candidates;
  const bool staged = problem.is_staged();
  // Without a transfer nothing but class and memory tells devices apart.
  const auto score_of_its_like = [&](uint32_t device) -> const Score* {
    for (const Candidate& other : candidates) {
      const uint32_t d = other.assignment[0];
      const bool alike = problem.class_of(d) == problem.class_of(device) &&
                         problem.memory_limit(d) == problem.memory_limit(device);
      if (alike && !staged && only_device(other.assignment)) return &other.score;
    }
    return nullptr;
  };
  for (uint32_t d : devices_to_try(problem, evaluator.stop())) {
    Assignment assignment = mostly_on(problem, d, evaluator.stop());
    if (stopped(evaluator.stop())) break;
    const auto same = [&](const Candidate& other) { return other.assignment == assignment; };
    if (std::any_of(candidates.begin(), candidates.end(), same)) continue;
    const Score* const known = only_device(assignment) ? score_of_its_like(d) : nullptr;
    const Score score = known != nullptr ? *known : evaluator.evaluate(assignment);
    if (stopped(evaluator.stop())) break;
    candidates.push_back({name_of(problem, assignment, d), std::move(assignment), score});
  }
  return candidates;
}

const Method& single_method() {
  static constexpr Single method;
  return method;
}

}  // namespace placeto
