// Placing, and scoring placements that callers bring.
#include <algorithm>
#include <limits>
#include <memory>

#include "runtime/base/message.h"
#include "runtime/capi/handles.h"
#include "runtime/capi/observer.h"
#include "runtime/capi/support.h"
#include "runtime/cost/rule_conflict.h"
#include "runtime/format/placement_file.h"
#include "runtime/graph/text.h"
#include "runtime/graph/unused_times.h"

using namespace placeto;        // NOLINT: this file is one edge of the library
using namespace placeto::capi;  // NOLINT

namespace {

static_assert(PLACETO_THROUGHPUT == static_cast<int>(Objective::kThroughput));

placeto_options placing_defaults() {
  const MethodOptions method;
  placeto_options options = {};
  options.struct_size = sizeof options;
  options.seed = method.seed;
  options.passes = method.passes;
  return options;
}

// NULL means the defaults, which `to` holds.
Status read_options(const placeto_options* from, placeto_options& to) {
  return from == nullptr ? Status() : read_struct("placeto_options", from, to);
}

struct NumberOption {
  const char* name;
  double value, most;
  const char* expected;
};

Status check_numbers(std::initializer_list<NumberOption> options) {
  for (const NumberOption& option : options) {
    if (option.value >= 0 && option.value <= option.most) continue;
    return invalid(
        {option.name, " is ", number_text(option.value), ", expected ", option.expected});
  }
  return {};
}

Status check_options(const placeto_options& options) {
  if (Status s = check_choice("objective", options.objective, 2); !s.ok()) return s;
  if (Status s = check_choice("kernels", options.kernels, 3); !s.ok()) return s;
  if (options.samples > kMostSamples) {
    return invalid({"samples is ", options.samples, ", expected at most ", kMostSamples});
  }
  if (options.passes == 0 || options.passes > kMostPasses) {
    return invalid({"passes is ", options.passes, ", expected 1 to ", kMostPasses});
  }
  constexpr double kFinite = std::numeric_limits<double>::max();
  constexpr const char* kTime = "a finite number of at least 0";
  return check_numbers({{"budget_milliseconds", options.budget_milliseconds, kFinite, kTime},
                        {"deadline_milliseconds", options.deadline_milliseconds, kFinite, kTime},
                        {"tolerance", options.tolerance, 1, "a share from 0 to 1"}});
}

// The clock starts here.
Stop make_stop(const placeto_options& options, const Graph& graph) {
  Stop stop(options.cancel == nullptr ? nullptr : &options.cancel->requested,
            options.deadline_milliseconds);
  stop.head_start_for(graph.size());
  return stop;
}

Status read_pairs(const char* name, const placeto_node_device* from, size_t count, Stop& stop,
                  std::vector<Rules::NodeDevice>& to) {
  if (Status s = check_list(name, from, count); !s.ok()) return s;
  to.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    to.push_back({from[i].node, from[i].device});
    if (stop.spend(1)) return Status::stopped();
  }
  return {};
}

Status read_rules(const placeto_options& from, Stop& stop, Rules& to) {
  to.memory_headroom = from.memory_headroom;
  to.objective = static_cast<Objective>(from.objective);
  if (Status s = read_pairs("pins", from.pins, from.pin_count, stop, to.pins); !s.ok()) return s;
  if (Status s = read_pairs("forbids", from.forbids, from.forbid_count, stop, to.forbids);
      !s.ok()) {
    return s;
  }
  if (Status s = check_list("colocate", from.colocate, from.colocate_count); !s.ok()) return s;
  for (size_t i = 0; i < from.colocate_count; ++i) {
    const placeto_node_list& list = from.colocate[i];
    const std::string name = join({"colocate[", i, "].nodes"});
    if (Status s = check_list(name.c_str(), list.nodes, list.count); !s.ok()) return s;
    if (list.count > 0) to.colocate.emplace_back(list.nodes, list.nodes + list.count);
    constexpr uint64_t kAllocation = 4;
    if (stop.spend(kAllocation + Stop::copied(list.count))) return Status::stopped();
  }
  return {};
}

// Everything up to the placing: options checked, rules compiled, an empty result around them.
Status prepare(const placeto_graph& graph, const placeto_topology& topology,
               const placeto_options& options, Stop& stop,
               std::unique_ptr<placeto_placement>& result) {
  Limits limits;
  Rules rules;
  if (Status s = check_options(options); !s.ok()) return s;
  if (Status s = read_limits(options.limits, limits); !s.ok()) return s;
  if (Status s = read_rules(options, stop, rules); !s.ok()) return s;
  Result<Problem> problem = Problem::build(*graph.value, *topology.value, rules, limits, &stop);
  if (!problem.ok()) {
    const Status& status = problem.status();
    if (status.code() != StatusCode::kBadInput) return status;
    // The graph may well run on the topology, and the caller's own rules leave no device.
    const Blame blame = find_blame(*graph.value, *topology.value, rules, limits, &stop);
    if (stop.stopped()) return Status::stopped();
    return {blame.rules ? StatusCode::kInfeasible : status.code(),
            status.message() + blame.conflict};
  }
  result = std::make_unique<placeto_placement>(graph.value, topology.value, std::move(*problem));
  return {};
}

MethodOptions read_method_options(const placeto_options& from, Stop& stop) {
  MethodOptions to;
  to.seed = from.seed;
  to.passes = from.passes;
  to.samples = from.samples;
  to.tolerance = from.tolerance;
  to.budget.evaluations = from.budget_evaluations;
  to.budget.milliseconds = from.budget_milliseconds;
  to.stop = &stop;
  return to;
}

KernelChoice read_kernels(int32_t kernels) {
  switch (kernels) {
    case PLACETO_KERNELS_AUTO:
      return KernelChoice::kAuto;
    case PLACETO_KERNELS_ONEDNN:
      return KernelChoice::kOneDnn;
    default:
      return KernelChoice::kPortable;
  }
}

PlaceOutcome run_method(const Problem& problem, const Policy* policy,
                        const placeto_options& options, Stop& stop) {
  const MethodOptions method_options = read_method_options(options, stop);
  StepReporter reporter(options.on_step, options.step_context);
  const std::string_view name = options.method == nullptr ? kAuto : options.method;
  if (name == kPolicyAlone && policy == nullptr) {
    return Status::invalid("method is 'policy' and policy is NULL");
  }
  PlacerOptions placer = {policy, read_kernels(options.kernels)};
  if (options.on_step != nullptr) placer.observer = &reporter;
  return place(problem, name, method_options, placer);
}

// The handle keeps what is asked for of the candidates, which their placements are not.
void finish_candidates(Stop& stop, placeto_placement& placement) {
  // The objective is the makespan unless it is the bottleneck; only then is there more to simulate.
  const bool latency = placement.problem.is_for_latency();
  std::optional<Simulator> simulator;
  if (!latency) simulator.emplace(placement.problem, &stop);
  for (Candidate& candidate : placement.result.candidates) {
    double makespan_us = latency ? candidate.score.objective_us : 0;
    if (!latency && !stop.stopped()) {
      const double us = simulator->run(candidate.assignment, candidate.division).makespan_us;
      if (!stop.stopped()) makespan_us = us;
    }
    placement.makespan_us.push_back(makespan_us);
    candidate = {std::move(candidate.method), {}, candidate.score};
  }
}

void write_shortfall(const placeto_options& options, const std::vector<uint64_t>& shortfall,
                     uint32_t devices) {
  if (options.shortfall_bytes == nullptr) return;
  std::fill_n(options.shortfall_bytes, devices, 0);
  std::copy(shortfall.begin(), shortfall.end(), options.shortfall_bytes);
}

Status place(const placeto_graph& graph, const placeto_topology& topology, const Policy* policy,
             const placeto_options& options, std::unique_ptr<placeto_placement>& placement) {
  const uint32_t devices = topology.value->device_count();
  Stop stop = make_stop(options, *graph.value);
  if (Status s = prepare(graph, topology, options, stop, placement); !s.ok()) {
    if (s.code() == StatusCode::kInfeasible) write_shortfall(options, {}, devices);
    return s;
  }
  PlaceOutcome placed = run_method(placement->problem, policy, options, stop);
  if (!placed.ok()) {
    const StatusCode code = placed.status().code();
    if (code == StatusCode::kInfeasible || code == StatusCode::kNotFound) {
      write_shortfall(options, placed.shortfall_bytes, devices);
    }
    return placed.status();
  }
  placement->result = std::move(*placed);
  const std::string unused = unused_times(*graph.value, *topology.value);
  std::string& note = placement->result.note;
  note = join({note, note.empty() || unused.empty() ? "" : "; ", unused});
  finish_candidates(stop, *placement);
  return {};
}

Status check_shortfall_buffer(const placeto_options& options, const Topology& topology) {
  if (options.shortfall_bytes == nullptr) return {};
  return check_capacity("shortfall_bytes", options.shortfall_capacity, topology.device_count());
}

// Names the first node that is where it may not be.
Status check_assignment(const Problem& problem, std::span<const uint32_t> assignment) {
  if (assignment.size() != problem.node_count()) {
    return invalid({"the assignment has ", assignment.size(), " entries, expected ",
                    problem.node_count(), ": one per node"});
  }
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    const uint32_t device = assignment[v], group = problem.group_of(v);
    const uint32_t first = problem.members(group).front();
    std::string expected;
    if (device >= problem.device_count()) {
      expected = join({"a number below ", problem.device_count()});
    } else if (!problem.allowed(group, device)) {
      expected = "a device that it may run on";
    } else if (assignment[first] != device) {
      const std::string other = node_place(problem.graph().spec(), first);
      expected = join({"that of ", other, ", with which it is colocated"});
    } else {
      continue;
    }
    const std::string node = node_place(problem.graph().spec(), v);
    const auto& devices = problem.topology().spec().devices;
    return invalid({node, " is on device ", device,
                    device < devices.size() ? " " + in_quotes(devices[device].name) : "",
                    ", expected ", expected});
  }
  return {};
}

// A placement that a caller brings; an empty division: by rule.
struct Given {
  std::span<const uint32_t> assignment;
  Division division = {};
  std::string method = "given";
};

Status score(const placeto_graph& graph, const placeto_topology& topology,
             const placeto_options& options, Given given, placeto_placement** placement) {
  Stop never;
  std::unique_ptr<placeto_placement> scored;
  if (Status s = prepare(graph, topology, options, never, scored); !s.ok()) return s;
  const Problem& problem = scored->problem;
  if (Status s = check_assignment(problem, given.assignment); !s.ok()) return s;
  Evaluator evaluator(problem);
  PlaceResult& result = scored->result;
  Candidate& best = result.best;
  best.method = std::move(given.method);
  const Score score = evaluator.evaluate(given.assignment, given.division);
  best.take(given.assignment, score, std::move(given.division));
  result.timeline = evaluator.timeline(best.assignment, best.division);
  result.bounds = lower_bounds(problem);
  result.candidates.push_back({best.method, {}, best.score});
  result.note = unused_times(*graph.value, *topology.value);
  scored->makespan_us.push_back(result.timeline.makespan_us);
  *placement = scored.release();
  return {};
}

}  // namespace

placeto_status placeto_default_options(placeto_options* options, size_t struct_size) noexcept {
  return set_defaults(options, struct_size, placing_defaults());
}

placeto_status placeto_cancel_create(placeto_cancel** cancel, placeto_error* error) noexcept {
  if (cancel != nullptr) *cancel = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{cancel, "cancel"}}); !s.ok()) return s;
    *cancel = new placeto_cancel;
    return {};
  });
}

void placeto_cancel_request(placeto_cancel* cancel) noexcept {
  if (cancel != nullptr) cancel->requested = true;
}

void placeto_cancel_reset(placeto_cancel* cancel) noexcept {
  if (cancel != nullptr) cancel->requested = false;
}

void placeto_cancel_free(placeto_cancel* cancel) noexcept {
  delete cancel;
}

placeto_status placeto_place(const placeto_graph* graph, const placeto_topology* topology,
                             const placeto_policy* policy, const placeto_options* options,
                             placeto_placement** placement, placeto_error* error) noexcept {
  if (placement != nullptr) *placement = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s =
            check_not_null({{graph, "graph"}, {topology, "topology"}, {placement, "placement"}});
        !s.ok()) {
      return s;
    }
    placeto_options chosen = placing_defaults();
    if (Status s = read_options(options, chosen); !s.ok()) return s;
    if (Status s = check_shortfall_buffer(chosen, *topology->value); !s.ok()) return s;
    // Kept, as the graph and the topology are: on_step may free its handle.
    const auto loaded = policy == nullptr ? nullptr : policy->value;
    std::unique_ptr<placeto_placement> result;
    if (Status s = place(*graph, *topology, loaded.get(), chosen, result); !s.ok()) return s;
    *placement = result.release();
    return {};
  });
}

placeto_status placeto_score(const placeto_graph* graph, const placeto_topology* topology,
                             const uint32_t* assignment, size_t count,
                             const placeto_options* options, placeto_placement** placement,
                             placeto_error* error) noexcept {
  if (placement != nullptr) *placement = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s =
            check_not_null({{graph, "graph"}, {topology, "topology"}, {placement, "placement"}});
        !s.ok()) {
      return s;
    }
    if (Status s = check_list("assignment", assignment, count); !s.ok()) return s;
    placeto_options chosen = placing_defaults();
    if (Status s = read_options(options, chosen); !s.ok()) return s;
    return score(*graph, *topology, chosen, {.assignment = {assignment, count}}, placement);
  });
}

placeto_status placeto_placement_decode(const void* bytes, size_t size, const placeto_graph* graph,
                                        const placeto_topology* topology,
                                        const placeto_options* options,
                                        placeto_placement** placement,
                                        placeto_error* error) noexcept {
  if (placement != nullptr) *placement = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null(
            {{bytes, "bytes"}, {graph, "graph"}, {topology, "topology"}, {placement, "placement"}});
        !s.ok()) {
      return s;
    }
    placeto_options chosen = placing_defaults();
    Limits limits;
    if (Status s = read_options(options, chosen); !s.ok()) return s;
    if (Status s = read_limits(chosen.limits, limits); !s.ok()) return s;
    Result<PlacementSpec> spec = decode_placement(as_bytes(bytes, size), limits);
    if (!spec.ok()) return spec.status();
    const Result<Assignment> assignment =
        resolve_placement(*spec, *graph->value, *topology->value, limits);
    if (!assignment.ok()) return assignment.status();
    Result<Division> division = resolve_stages(*spec, *graph->value, *assignment);
    if (!division.ok()) return division.status();
    return score(*graph, *topology, chosen,
                 {*assignment, std::move(*division), std::move(spec->method)}, placement);
  });
}

placeto_status placeto_run_times(const placeto_graph* graph, const placeto_topology* topology,
                                 const placeto_limits* limits, double* us, size_t capacity,
                                 placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{graph, "graph"}, {topology, "topology"}, {us, "us"}});
        !s.ok()) {
      return s;
    }
    Limits bounds;
    if (Status s = read_limits(limits, bounds); !s.ok()) return s;
    const size_t nodes = graph->value->node_count(), devices = topology->value->device_count();
    if (Status s = check_capacity("us", capacity, nodes * devices); !s.ok()) return s;
    const auto problem = Problem::build(*graph->value, *topology->value, {}, bounds);
    if (!problem.ok()) return problem.status();
    for (uint32_t v = 0; v < nodes; ++v) {
      for (uint32_t d = 0; d < devices; ++d) {
        us[v * devices + d] = problem->can_run(v, d) ? problem->run_us(v, d) : -1;
      }
    }
    return {};
  });
}
