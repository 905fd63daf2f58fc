// Placements: what came out, and why.
#include <algorithm>

#include "runtime/capi/handles.h"
#include "runtime/capi/support.h"
#include "runtime/format/placement_file.h"

using namespace placeto;        // NOLINT: this file is one edge of the library
using namespace placeto::capi;  // NOLINT

namespace {

// Copies a list into the caller's array, if there is one.
template <class T>
Status copy_list(const char* name, std::span<const T> from, T* to, size_t capacity) {
  if (to == nullptr) return {};
  if (Status s = check_capacity(name, capacity, from.size()); !s.ok()) return s;
  std::copy(from.begin(), from.end(), to);
  return {};
}

// Fails for a placing that ended before its result could be simulated.
Status check_simulated(const placeto_placement& placement) {
  if (placement.result.simulated) return {};
  return {StatusCode::kStopped,
          "the placing was stopped before its result was simulated: score the assignment with "
          "placeto_score"};
}

Explainer& explainer_of(placeto_placement& placement) {
  if (placement.explainer == nullptr) {
    const Candidate& best = placement.result.best;
    placement.explainer =
        std::make_unique<Explainer>(placement.problem, best.assignment, best.division);
  }
  return *placement.explainer;
}

void explain(placeto_placement& placement, uint32_t node, placeto_reason& reason) {
  const Problem& problem = placement.problem;
  const uint32_t group = problem.group_of(node);
  const Reason found = explainer_of(placement).explain(node);
  reason.device = found.device;
  reason.group_nodes = static_cast<uint32_t>(problem.members(group).size());
  reason.allowed_devices = 0;
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    reason.allowed_devices += problem.allowed(group, d) ? 1 : 0;
  }
  reason.cost_us = found.score.objective_us;
  reason.second_device = found.second ? found.second->device : PLACETO_NONE;
  reason.second_cost_us = found.second ? found.second->score.objective_us : 0;
  reason.second_feasible = found.second && found.second->score.feasible() ? 1 : 0;
}

}  // namespace

void placeto_placement_free(placeto_placement* placement) noexcept {
  delete placement;
}

uint32_t placeto_placement_node_count(const placeto_placement* placement) noexcept {
  return placement == nullptr ? 0 : placement->problem.node_count();
}

uint32_t placeto_placement_device_count(const placeto_placement* placement) noexcept {
  return placement == nullptr ? 0 : placement->problem.device_count();
}

uint32_t placeto_placement_device(const placeto_placement* placement, uint32_t node) noexcept {
  if (placement == nullptr || node >= placement->result.best.assignment.size()) return PLACETO_NONE;
  return placement->result.best.assignment[node];
}

placeto_status placeto_placement_assignment(const placeto_placement* placement, uint32_t* devices,
                                            size_t capacity, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{placement, "placement"}, {devices, "devices"}}); !s.ok()) {
      return s;
    }
    return copy_list<uint32_t>("devices", placement->result.best.assignment, devices, capacity);
  });
}

double placeto_placement_makespan_us(const placeto_placement* placement) noexcept {
  return placement == nullptr ? 0 : placement->result.timeline.makespan_us;
}

double placeto_placement_bottleneck_us(const placeto_placement* placement) noexcept {
  return placement == nullptr ? 0 : placement->result.timeline.bottleneck_us;
}

double placeto_placement_lower_bound_us(const placeto_placement* placement) noexcept {
  return placement == nullptr ? 0 : placement->result.bounds.best_us();
}

int32_t placeto_placement_proved(const placeto_placement* placement) noexcept {
  return placement != nullptr && placement->result.proved ? 1 : 0;
}

double placeto_placement_replicas_us(const placeto_placement* placement) noexcept {
  return placement == nullptr ? 0 : placement->result.replicas_us;
}

double placeto_placement_sequential_us(const placeto_placement* placement) noexcept {
  return placement == nullptr ? 0 : placement->result.sequential_us;
}

double placeto_placement_place_time_us(const placeto_placement* placement) noexcept {
  return placement == nullptr ? 0 : placement->result.place_us;
}

const char* placeto_placement_method(const placeto_placement* placement) noexcept {
  return placement == nullptr ? "" : placement->result.best.method.c_str();
}

const char* placeto_placement_note(const placeto_placement* placement) noexcept {
  return placement == nullptr ? "" : placement->result.note.c_str();
}

int32_t placeto_placement_stopped(const placeto_placement* placement) noexcept {
  if (placement == nullptr || !placement->result.stopped) return PLACETO_COMPLETE;
  return placement->result.simulated ? PLACETO_ENDED_EARLY : PLACETO_NOT_SIMULATED;
}

int32_t placeto_placement_feasible(const placeto_placement* placement) noexcept {
  return placement != nullptr && placement->result.best.score.feasible() ? 1 : 0;
}

placeto_status placeto_placement_times(const placeto_placement* placement, double* start_us,
                                       double* finish_us, size_t capacity,
                                       placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{placement, "placement"}}); !s.ok()) return s;
    if (Status s = check_simulated(*placement); !s.ok()) return s;
    const Timeline& timeline = placement->result.timeline;
    if (Status s = copy_list<double>("start_us", timeline.start_us, start_us, capacity); !s.ok()) {
      return s;
    }
    return copy_list<double>("finish_us", timeline.finish_us, finish_us, capacity);
  });
}

placeto_status placeto_placement_peak_memory(const placeto_placement* placement, uint64_t* bytes,
                                             size_t capacity, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{placement, "placement"}, {bytes, "bytes"}}); !s.ok()) return s;
    if (Status s = check_simulated(*placement); !s.ok()) return s;
    return copy_list<uint64_t>("bytes", placement->result.timeline.peak_memory_bytes, bytes,
                               capacity);
  });
}

placeto_status placeto_placement_shortfall(const placeto_placement* placement, uint64_t* bytes,
                                           size_t capacity, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{placement, "placement"}, {bytes, "bytes"}}); !s.ok()) return s;
    if (Status s = check_simulated(*placement); !s.ok()) return s;
    const std::vector<uint64_t> shortfall =
        memory_shortfall(placement->problem, placement->result.timeline.peak_memory_bytes);
    return copy_list<uint64_t>("bytes", shortfall, bytes, capacity);
  });
}

size_t placeto_placement_candidate_count(const placeto_placement* placement) noexcept {
  return placement == nullptr ? 0 : placement->result.candidates.size();
}

placeto_status placeto_placement_candidate(const placeto_placement* placement, size_t index,
                                           placeto_candidate* candidate,
                                           placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{placement, "placement"}, {candidate, "candidate"}}); !s.ok()) {
      return s;
    }
    if (Status s = check_size("placeto_candidate", *candidate); !s.ok()) return s;
    if (Status s = check_index("index", index, placement->result.candidates.size()); !s.ok()) {
      return s;
    }
    const Candidate& tried = placement->result.candidates[index];
    candidate->method = tried.method.c_str();
    candidate->makespan_us = placement->makespan_us[index];
    candidate->objective_us = tried.score.objective_us;
    candidate->feasible = tried.score.feasible() ? 1 : 0;
    candidate->won = index == placement->result.won ? 1 : 0;
    return {};
  });
}

placeto_status placeto_placement_explain(placeto_placement* placement, uint32_t node,
                                         placeto_reason* reason, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{placement, "placement"}, {reason, "reason"}}); !s.ok()) {
      return s;
    }
    if (Status s = check_size("placeto_reason", *reason); !s.ok()) return s;
    if (Status s = check_index("node", node, placement->problem.node_count()); !s.ok()) return s;
    explain(*placement, node, *reason);
    return {};
  });
}

uint32_t placeto_placement_stage_count(const placeto_placement* placement) noexcept {
  return placement == nullptr ? 0 : static_cast<uint32_t>(placement->result.timeline.stages.size());
}

placeto_status placeto_placement_stages(const placeto_placement* placement, uint32_t* stages,
                                        size_t capacity, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{placement, "placement"}, {stages, "stages"}}); !s.ok()) {
      return s;
    }
    if (Status s = check_simulated(*placement); !s.ok()) return s;
    return copy_list<uint32_t>("stages", placement->result.timeline.stage_of, stages, capacity);
  });
}

placeto_status placeto_placement_stage_order(const placeto_placement* placement, uint32_t* order,
                                             size_t capacity, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{placement, "placement"}, {order, "order"}}); !s.ok()) {
      return s;
    }
    if (Status s = check_simulated(*placement); !s.ok()) return s;
    return copy_list<uint32_t>("order", placement->result.timeline.stage_order, order, capacity);
  });
}

placeto_status placeto_placement_encode(const placeto_placement* placement, void* buffer,
                                        size_t capacity, size_t* size,
                                        placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{placement, "placement"}, {size, "size"}}); !s.ok()) return s;
    if (Status s = check_simulated(*placement); !s.ok()) return s;
    const Result<std::vector<uint8_t>> bytes = encode_placement(describe_placement(
        *placement->graph, *placement->topology, placement->result.best.assignment,
        placement->result.timeline, placement->result.best.method));
    if (!bytes.ok()) return bytes.status();
    return copy_out(*bytes, buffer, capacity, size);
  });
}

placeto_status placeto_assignment_decode(const void* bytes, size_t size, const placeto_graph* graph,
                                         const placeto_topology* topology,
                                         const placeto_limits* limits, uint32_t* devices,
                                         size_t capacity, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null(
            {{bytes, "bytes"}, {graph, "graph"}, {topology, "topology"}, {devices, "devices"}});
        !s.ok()) {
      return s;
    }
    Limits bounds;
    if (Status s = read_limits(limits, bounds); !s.ok()) return s;
    const Result<PlacementSpec> spec = decode_placement(as_bytes(bytes, size), bounds);
    if (!spec.ok()) return spec.status();
    const Result<Assignment> assignment =
        resolve_placement(*spec, *graph->value, *topology->value, bounds);
    if (!assignment.ok()) return assignment.status();
    return copy_list<uint32_t>("devices", *assignment, devices, capacity);
  });
}
