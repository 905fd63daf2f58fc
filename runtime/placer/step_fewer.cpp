// Placing on fewer devices, to be judged among all.
#include "runtime/placer/step_functions.h"

#include "runtime/placer/fewer_devices.h"
#include "runtime/placer/near_devices.h"
#include "runtime/search/polish.h"

namespace placeto {

// From what the heuristics make of those, moves go on among all devices, as from the best so far.
Status place_near(const Step& step, Placing& placing) {
  constexpr double kWorthMoving = 1.2;
  Workbench& bench = placing.bench;
  if (!is_quickly_copied(bench.problem()) || !ready(bench)) return {};
  std::vector<uint32_t> devices = near_devices(bench.problem(), bench.stop());
  if (devices.empty()) return {};
  const auto fewer = FewerDevices::of(bench.problem(), std::move(devices), bench.stop());
  if (fewer == nullptr) return {};
  Placing there(fewer->problem(), bench.options(), {});
  if (Status s = take_steps(there, kAfterHeuristics); !s.ok()) return s;
  // A single device is known among all.
  if (there.bench.candidates().empty() || only_device(there.bench.best().assignment)) return {};
  Candidate found = fewer->among_all(there.bench.best());
  found.score = bench.evaluator().evaluate(found.assignment);
  const Score best = bench.best().score;
  const bool comes_near =
      found.score.feasible() && found.score.objective_us <= kWorthMoving * best.objective_us;
  if (stopped(bench.stop()) || !(comes_near || found.score < best)) return {};
  move_from(std::move(found), step, placing);
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
