#include "runtime/placer/placer.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/message.h"
#include "runtime/cost/rounding.h"
#include "runtime/graph/text.h"
#include "runtime/heuristics/packing.h"
#include "runtime/placer/methods.h"
#include "runtime/placer/step_functions.h"
#include "runtime/search/stage_search.h"

namespace placeto {
namespace {

Status does_not_fit(const Placing& placing, std::span<const uint64_t> shortfall) {
  const Problem& problem = placing.bench.problem();
  std::string text =
      placing.proved ? "no placement fits in memory" : "found no placement that fits";
  if (placing.missing_bytes > 0) {
    text += ": every one lacks at least " + bytes_text(placing.missing_bytes);
  }
  text += "; the closest (" + placing.bench.best().method + ") lacks";
  constexpr uint32_t kShown = 4;  // devices
  uint32_t lacking = 0;
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    if (shortfall[d] == 0 || ++lacking > kShown) continue;
    text += join({lacking == 1 ? " " : ", ", bytes_text(shortfall[d]), " on ",
                  problem.topology().device(d).name, " (limit ",
                  bytes_text(problem.memory_limit(d)), ")"});
  }
  if (lacking > kShown) text += join({", and some on ", lacking - kShown, " more"});
  return placing.proved ? Status::infeasible(text) : Status(StatusCode::kNotFound, text);
}

// A timeline and bounds of it take about a millisecond: they are made whatever the stop says.
bool timeline_is_cheap(const Problem& problem) {
  constexpr uint64_t kElements = 4'000, kRunTimes = 32'000, kChannels = 10'000;
  const uint64_t nodes = problem.node_count();
  return problem.graph().size() <= kElements && nodes * problem.class_count() <= kRunTimes &&
         problem.topology().channel_count() <= kChannels;
}

// There is no time to simulate the best again.
void leave_timeline_out(const Problem& problem, PlaceResult& result) {
  const bool latency = problem.is_for_latency();
  result.timeline = {};
  (latency ? result.timeline.makespan_us : result.timeline.bottleneck_us) =
      result.best.score.objective_us;
  result.stopped = true;
  result.simulated = false;
}

// The candidate with the fewest stages among those that the tolerance allows; then the better, and
// then the one tried first.
const Candidate& simplest(Workbench& bench) {
  const Candidate* chosen = &bench.best();
  if (!chosen->score.feasible()) return *chosen;
  const double limit_us = bench.tolerated_us();
  uint32_t fewest = 0;  // not counted yet
  for (const Candidate& candidate : bench.candidates()) {
    if (!candidate.score.feasible() || candidate.score.objective_us > limit_us) continue;
    const bool divided = !candidate.division.empty() || !chosen->division.empty();
    if (candidate.assignment == chosen->assignment && !divided) continue;
    if (&candidate == chosen) continue;
    if (fewest == 0) fewest = count_stages(*chosen, bench.evaluator());
    const uint32_t stages = count_stages(candidate, bench.evaluator());
    if (stopped(bench.stop())) return bench.best();
    if (stages > fewest || (stages == fewest && !(candidate.score < chosen->score))) continue;
    chosen = &candidate;
    fewest = stages;
  }
  return *chosen;
}

// The chosen one where it may stand for the best: as good, with fewer stages, but nobody has looked
// for moves from it. One that gains would make the promise of the best untrue.
const Candidate& keep_optimal(Workbench& bench, const Candidate& chosen) {
  const bool other = chosen.assignment != bench.best().assignment;
  if (!other || !bench.best().one_move_optimal || bench.options().tolerance > 0) return chosen;
  Candidate moved = chosen;
  const bool better = make_better_move(bench.move_evaluator(), moved);
  return better || stopped(bench.stop()) ? bench.best() : chosen;
}

// One method alone does not ask whether anything fits at all.
void look_for_proof(Placing& placing) {
  if (placing.proved || placing.packed) return;
  const Packing packing = pack(placing.bench.problem(), placing.bench.stop());
  placing.proved = packing.verdict == Packing::Verdict::kImpossible;
  placing.missing_bytes = packing.missing_bytes;
}

// What is known of the best of all candidates; the answer may be another within the tolerance.
void note_proof(const Placing& placing, PlaceResult& result) {
  const Candidate& least = placing.bench.best();
  const bool is_best = result.best.score == least.score;
  result.proved = placing.proved && is_best;
  if (placing.bench.problem().is_for_latency()) {
    result.proved |= result.bounds.best_us() >= rounded_down(result.timeline.makespan_us);
    if (result.proved) {
      const double most = result.bounds.proved_us = result.timeline.makespan_us;
      result.bounds.critical_path_us = std::min(result.bounds.critical_path_us, most);
      result.bounds.work_us = std::min(result.bounds.work_us, most);
    }
  }
  result.one_move_optimal =
      result.proved || result.best.one_move_optimal || (is_best && least.one_move_optimal);
}

// A stream of runs that a copy of the model on every device serves; 0 where one has no room for it,
// or was not tried.
double replicas_us(Workbench& bench) {
  const Problem& problem = bench.problem();
  if (problem.is_for_latency() || problem.device_count() < 2) return 0;
  std::vector<double> rate(problem.device_count(), 0);
  for (const Candidate& candidate : bench.candidates()) {
    const auto device = only_device(candidate.assignment);
    if (device && candidate.score.feasible() && candidate.score.objective_us > 0) {
      rate[*device] = 1 / candidate.score.objective_us;
    }
  }
  if (*std::min_element(rate.begin(), rate.end()) == 0) return 0;
  return 1 / std::accumulate(rate.begin(), rate.end(), 0.0);
}

// Whether stages are where their nodes are.
bool fits(const Candidate& candidate) {
  const Division& division = candidate.division;
  for (size_t v = 0; v < division.stage_of.size(); ++v) {
    if (division.device[division.stage_of[v]] != candidate.assignment[v]) return false;
  }
  return true;
}

// The answer: the best candidate, its timeline and what bounds it.
PlaceOutcome conclude(Placing& placing) {
  const Problem& problem = placing.bench.problem();
  Stop* const stop = placing.bench.stop();
  if (placing.bench.candidates().empty()) return Status::stopped();
  PlaceResult result;
  const Candidate& chosen = keep_optimal(placing.bench, simplest(placing.bench));
  result.won = static_cast<size_t>(&chosen - placing.bench.candidates().data());
  result.best = chosen;
  // In every build: it costs less than the least of what was done before.
  if (!obeys_rules(problem, result.best.assignment) || !fits(result.best)) {
    return Status::internal("method '" + result.best.method +
                            "' made a placement against the rules");
  }
  result.note = std::move(placing.note);
  result.searched = placing.searched;
  result.stopped = stopped(stop);
  if (result.stopped && !result.best.score.feasible() && !placing.proved) return Status::stopped();
  Stop* const limit = timeline_is_cheap(problem) ? nullptr : stop;
  if (!stopped(limit)) {
    result.timeline =
        Evaluator(problem, limit).take_timeline(result.best.assignment, result.best.division);
  }
  if (stopped(limit)) {
    result.candidates = placing.bench.take_candidates();
    leave_timeline_out(problem, result);
    result.place_us = placing.elapsed_us();
    return result;
  }
  if (!result.best.score.feasible()) {
    look_for_proof(placing);
    std::vector<uint64_t> shortfall = memory_shortfall(problem, result.timeline.peak_memory_bytes);
    PlaceOutcome nothing = does_not_fit(placing, shortfall);
    nothing.shortfall_bytes = std::move(shortfall);
    return nothing;
  }
  result.replicas_us = replicas_us(placing.bench);
  result.bounds = lower_bounds(problem, limit);
  if (stopped(limit)) {
    result.bounds = {};
    result.stopped = true;
  }
  note_proof(placing, result);
  result.candidates = placing.bench.take_candidates();
  result.place_us = placing.elapsed_us();
  return result;
}

// Runs that do not overlap may use devices that feed each other in circles: what is placed for
// latency then serves more than any pipeline does. Not for problems that take long to copy.
void compare_with_sequence(const Placing& placing, PlaceResult& result) {
  const Problem& pipelined = placing.bench.problem();
  if (result.stopped || !is_quickly_copied(pipelined)) return;
  MethodOptions options = placing.bench.options();
  options.budget = {};
  options.progress = nullptr;
  const Problem problem = pipelined.for_latency();
  const double pipelined_us = result.timeline.bottleneck_us;
  if (lower_bounds(problem, options.stop).best_us() < pipelined_us) {
    const PlaceOutcome placed = place_auto(problem, options, placing.options.unobserved());
    const double sequential_us = placed.ok() ? placed->timeline.drain_us : 0;
    if (sequential_us < pipelined_us) result.sequential_us = sequential_us;
  }
  result.stopped = stopped(options.stop);
  result.place_us = placing.elapsed_us();
}

}  // namespace

Status take_steps(Placing& placing, std::string_view end) {
  for (const Step& step : auto_steps()) {
    if (stopped(placing.bench.stop()) || step.name == end) break;
    if (!step.applies(placing)) continue;
    if (Status s = step.run(step, placing); !s.ok()) return s;
  }
  return {};
}

PlaceOutcome place_auto(Placing& placing) {
  if (Status s = take_steps(placing); !s.ok()) return s;
  return conclude(placing);
}

PlaceOutcome place_auto(const Problem& problem, const MethodOptions& options,
                        const PlacerOptions& placer) {
  Placing placing(problem, options, placer);
  PlaceOutcome placed = place_auto(placing);
  if (placed.ok() && !problem.is_for_latency()) compare_with_sequence(placing, *placed);
  return placed;
}

PlaceOutcome place_policy(const Problem& problem, const MethodOptions& options,
                          const PlacerOptions& placer) {
  if (placer.policy == nullptr) return Status::invalid("method is 'policy' and there is no policy");
  Placing placing(problem, options, placer);
  Workbench& bench = placing.bench;
  if (Status s = take_steps(placing, kPolicyAlone); !s.ok()) return s;
  if (stopped(bench.stop())) return conclude(placing);  // what there is to start from
  if (Status s = make_guide(placing); !s.ok()) return s;
  leap_by_policy(placing);
  Candidate placed = guided_candidate(placing);
  bench.take_candidates();
  bench.add(std::move(placed));
  return conclude(placing);
}

PlaceOutcome place_with(const Problem& problem, const Method& method, const MethodOptions& options,
                        const PlacerOptions& placer) {
  Placing placing(problem, options, placer);
  Result<Candidate> candidate = method.place(placing.bench);
  if (!candidate.ok()) return candidate.status();
  placing.bench.add(std::move(*candidate));
  return conclude(placing);
}

PlaceOutcome place(const Problem& problem, std::string_view name, const MethodOptions& options,
                   const PlacerOptions& placer) {
  if (name == kAuto) return place_auto(problem, options, placer);
  if (name == kPolicyAlone) return place_policy(problem, options, placer);
  if (const Method* method = find_method(name)) {
    return place_with(problem, *method, options, placer);
  }
  std::string known;
  for (std::string_view other : placer_names()) {
    known += (known.empty() ? "" : ", ") + in_quotes(other);
  }
  return Status::invalid(join({"method is ", in_quotes(name), ", expected one of ", known}));
}

std::vector<std::string_view> placer_names() {
  std::vector<std::string_view> names{kAuto, kPolicyAlone};
  for (const Method* method : builtin_methods()) names.push_back(method->name());
  return names;
}

}  // namespace placeto
