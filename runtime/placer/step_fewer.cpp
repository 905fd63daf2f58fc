// Placing on fewer devices, to be judged among all.
#include "runtime/placer/step_functions.h"

#include "runtime/placer/fewer_devices.h"
#include "runtime/placer/near_devices.h"
#include "runtime/search/polish.h"

namespace placeto {
namespace {

// The best of the heuristics there, among all; nothing if none of it fits.
Candidate place_by_heuristics(const FewerDevices& fewer, Workbench& bench) {
  MethodOptions options = bench.options();
  options.progress = nullptr;
  Placing there(fewer.problem(), options, {});
  Candidate found{{}, {}, Score::worst()};
  if (!take_steps(there, kAfterHeuristics).ok() || stopped(bench.stop())) return found;
  if (!there.bench.best().score.feasible()) return found;
  found = fewer.among_all(there.bench.best());
  found.score = bench.evaluator().evaluate(found.assignment);
  return found;
}

// Whether there is room for what all groups hold throughout.
bool may_hold(const std::vector<uint32_t>& devices, const Problem& problem, Stop* stop) {
  double room = 0;
  for (const uint32_t d : devices) room += static_cast<double>(problem.memory_limit(d));
  for (uint32_t g = 0; g < problem.group_count() && room >= 0; ++g) {
    room -= static_cast<double>(problem.resident_bytes(g));
    if (spend(stop, 1)) break;
  }
  return room >= 0;
}

}  // namespace

// At each scale on the first devices on which anything fits. From the best of it, moves go on among
// all devices, as from the best so far; a single device is known among all.
Status place_near(const Step& step, Placing& placing) {
  constexpr double kWorthMoving = 1.2;
  constexpr int kMostTried = 3;  // of a scale: on equal hosts the next ones fit no more than these
  Workbench& bench = placing.bench;
  if (!is_quickly_copied(bench.problem()) || !ready(bench)) return {};
  Candidate found{{}, {}, Score::worst()};
  for (const DeviceSets& sets : near_devices(bench.problem(), bench.stop())) {
    int tried = 0;
    for (const std::vector<uint32_t>& devices : sets) {
      if (!may_hold(devices, bench.problem(), bench.stop())) continue;
      const auto fewer = FewerDevices::of(bench.problem(), devices, bench.stop());
      if (fewer == nullptr) continue;
      Candidate there = place_by_heuristics(*fewer, bench);
      if (stopped(bench.stop())) return {};
      const bool fits = there.score.feasible();
      if (there.score < found.score) found = std::move(there);
      if (fits || ++tried == kMostTried) break;
    }
  }
  if (found.assignment.empty() || only_device(found.assignment)) return {};
  const Score best = bench.best().score;
  const bool comes_near = found.score.objective_us <= kWorthMoving * best.objective_us;
  if (comes_near || found.score < best) move_from(std::move(found), step.name, placing);
  return {};
}

// All that is finished with fewer devices is finished here once more, which has more of them to
// move to. As more of it never changes what came before, more budget is never worse.
Status place_on_fewer(const Step& step, Placing& placing) {
  Workbench& bench = placing.bench;
  if (!ready(bench)) return {};
  MethodOptions options = bench.options();
  options.progress = nullptr;
  const auto sets = like_devices(bench.problem());
  for (const size_t k : sets_to_lessen(sets, placing.first_set)) {
    const auto fewer =
        FewerDevices::of(bench.problem(), without_last(bench.problem(), sets[k]), bench.stop());
    if (fewer == nullptr) return {};
    Placing there(fewer->problem(), options, placing.options.unobserved());
    there.first_set = k;
    there.on_finished = [&](const Candidate& finished) {
      Candidate found = fewer->among_all(finished);
      found.method = step.name;
      found.score = bench.evaluator().evaluate(found.assignment, found.division);
      if (is_staged(placing)) {
        finish_part(bench.options().budget.evaluations, bench, found);
      } else {
        polish(&bench.hierarchy(), bench.move_evaluator(), found);
      }
      if (stopped(bench.stop())) return;
      placing.tell_finished(found);
      bench.add_if_better(std::move(found));
    };
    const PlaceOutcome placed = place_auto(there);
    if (placed.ok() && placed->proved) there.on_finished(placed->best);
    if (stopped(bench.stop())) return {};
  }
  return {};
}

}  // namespace placeto
