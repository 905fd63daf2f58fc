#include "runtime/format/placement.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "runtime/base/message.h"
#include "runtime/base/no_index.h"
#include "runtime/graph/text.h"

namespace placeto {
namespace {

Status check_reasons(const PlacementSpec& spec) {
  const auto wrong = [](size_t i, const char* what) {
    return bad_input({"reasons[", i, "]: ", what});
  };
  for (size_t i = 0; i < spec.reasons.size(); ++i) {
    const ReasonSpec& r = spec.reasons[i];
    if (r.node >= spec.assignment.size()) return wrong(i, "node has no entry in assignment");
    if (r.device != spec.assignment[r.node]) {
      return wrong(i, "device is not that of the node in assignment");
    }
    if (r.second_device != kNoIndex && r.second_device >= spec.devices.size()) {
      return wrong(i, "second_device is no index into devices");
    }
    for (const double us : {r.cost_us, r.second_cost_us}) {
      if (!std::isfinite(us) || us < 0)
        return wrong(i, "has a cost that is not finite or negative");
    }
  }
  return {};
}

// Stages by themselves: all of it that needs no graph.
Status check_stages(const PlacementSpec& spec) {
  if (spec.stages.empty()) {
    if (spec.order.empty()) return {};
    return Status::bad_input("order: lists stages, expected 'stages' beside it");
  }
  if (spec.stages.size() != spec.assignment.size()) {
    return bad_input({"stages: ", spec.stages.size(), " entries, expected one for each of ",
                      spec.assignment.size(), " nodes, or none"});
  }
  const size_t count = size_t{*std::max_element(spec.stages.begin(), spec.stages.end())} + 1;
  if (count > spec.stages.size()) {
    return bad_input({"stages: stage ", count - 1, " of ", spec.stages.size(),
                      " nodes, expected numbers from 0 without gaps"});
  }
  std::vector<uint32_t> device(count, kNoIndex);
  for (size_t v = 0; v < spec.stages.size(); ++v) {
    uint32_t& of_stage = device[spec.stages[v]];
    if (of_stage == kNoIndex) of_stage = spec.assignment[v];
    if (of_stage == spec.assignment[v]) continue;
    return bad_input({"stages[", v, "] is ", spec.stages[v], ", a stage of ",
                      in_quotes(spec.devices[of_stage]), ", but the node is on ",
                      in_quotes(spec.devices[spec.assignment[v]])});
  }
  const auto unused = std::find(device.begin(), device.end(), kNoIndex);
  if (unused != device.end()) {
    return bad_input({"stages: stage ", unused - device.begin(),
                      " has no node, expected numbers from 0 without gaps"});
  }
  if (spec.order.empty()) return {};
  std::string wrong;
  if (spec.order.size() != count) wrong = join({"order has length ", spec.order.size()});
  std::vector<bool> seen(count, false);
  for (size_t i = 0; i < spec.order.size() && wrong.empty(); ++i) {
    const uint32_t s = spec.order[i];
    if (s >= count || seen[s]) {
      wrong = join({"order[", i, "] is ", s});
    } else {
      seen[s] = true;
    }
  }
  if (wrong.empty()) return {};
  return bad_input({wrong, ", expected each of the ", count, " stages once"});
}

Status check_times(const PlacementSpec& spec) {
  const auto check = [](const std::string& place, double us) -> Status {
    if (std::isfinite(us) && us >= 0) return {};
    return bad_input(
        {place, " is ", number_text(us), ", expected a finite number that is not negative"});
  };
  for (auto [field, us] :
       {std::pair{"makespan_us", spec.makespan_us},
        std::pair{"lower_bound_us", spec.lower_bound_us},
        std::pair{"place_time_us", spec.place_time_us},
        std::pair{"bottleneck_us", spec.bottleneck_us}, std::pair{"replicas_us", spec.replicas_us},
        std::pair{"sequential_us", spec.sequential_us}}) {
    if (Status s = check(field, us); !s.ok()) return s;
  }
  for (size_t c = 0; c < spec.candidates.size(); ++c) {
    for (auto [field, us] : {std::pair{".makespan_us", spec.candidates[c].makespan_us},
                             std::pair{".bottleneck_us", spec.candidates[c].bottleneck_us}}) {
      if (Status s = check(entry("candidates", c) + field, us); !s.ok()) return s;
    }
  }
  return {};
}

// "batch=1": a name, and a whole number that an axis may have.
bool is_dim(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return false;
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, number);
  return error == std::errc() && stop == end && number > 0 && number <= kMaxExtent;
}

Status check_dims(const std::vector<std::string>& dims, const Limits& limits) {
  if (dims.size() > kMostDims) {
    return too_many("dims", dims.size(), kMostDims);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (Status s = check_text(dims[i], limits); !s.ok()) return s.at(entry("dims", i));
    if (is_dim(dims[i])) continue;
    return bad_input({"dims[", i, "] is ", in_quotes(dims[i]),
                      ", expected NAME=N with a whole number N from 1 to ", kMaxExtent});
  }
  return {};
}

Status check_devices(const PlacementSpec& spec, const Limits& limits) {
  if (spec.devices.size() > limits.max_devices) {
    return too_many("devices", spec.devices.size(), limits.max_devices);
  }
  std::map<std::string_view, uint32_t> first;
  for (uint32_t d = 0; d < spec.devices.size(); ++d) {
    if (Status s = check_name(spec.devices[d], limits); !s.ok()) return s.at(entry("devices", d));
    const auto [it, fresh] = first.emplace(spec.devices[d], d);
    if (fresh) continue;
    return bad_input({"devices[", d, "]: ", in_quotes(spec.devices[d]), " stands at devices[",
                      it->second, "] already, expected distinct devices"});
  }
  return {};
}

std::string device_names(const Topology& topology) {
  constexpr uint32_t kShown = 16;
  std::string text;
  for (uint32_t d = 0; d < topology.device_count() && d < kShown; ++d) {
    text += (d == 0 ? "" : ", ") + in_quotes(topology.device(d).name);
  }
  return topology.device_count() > kShown ? text + ", ..." : text;
}

}  // namespace

Status check_placement(const PlacementSpec& spec, const Limits& limits) {
  for (auto [field, text] : {std::pair{"graph", &spec.graph}, std::pair{"topology", &spec.topology},
                             std::pair{"method", &spec.method}, std::pair{"note", &spec.note},
                             std::pair{"engine", &spec.engine}}) {
    if (Status s = check_text(*text, limits); !s.ok()) return s.at(field);
  }
  if (Status s = check_dims(spec.dims, limits); !s.ok()) return s;
  if (Status s = check_devices(spec, limits); !s.ok()) return s;
  if (spec.candidates.size() > kMostCandidates) {
    return too_many("candidates", spec.candidates.size(), kMostCandidates);
  }
  for (size_t c = 0; c < spec.candidates.size(); ++c) {
    if (Status s = check_text(spec.candidates[c].method, limits); !s.ok()) {
      return s.at(entry("candidates", c) + ".method");
    }
  }
  if (spec.assignment.size() > limits.max_nodes) {
    return too_many("assignment", spec.assignment.size(), limits.max_nodes);
  }
  for (size_t v = 0; v < spec.assignment.size(); ++v) {
    if (spec.assignment[v] < spec.devices.size()) continue;
    return bad_input({"assignment[", v, "] is ", spec.assignment[v],
                      ", expected an index into the ", spec.devices.size(),
                      " devices of this file"});
  }
  if (Status s = check_times(spec); !s.ok()) return s;
  if (Status s = check_reasons(spec); !s.ok()) return s;
  if (Status s = check_stages(spec); !s.ok()) return s;
  const size_t peaks = spec.peak_memory_bytes.size();
  if (peaks != 0 && peaks != spec.devices.size()) {
    return bad_input({"peak_memory_bytes: ", peaks, " entries, expected one for each of the ",
                      spec.devices.size(), " devices, or none"});
  }
  return {};
}

Status check_entries(const PlacementSpec& spec, size_t nodes, std::string_view what) {
  if (spec.assignment.size() == nodes) return {};
  return bad_input({"assignment: ", spec.assignment.size(), " entries, expected ", nodes,
                    ", one for each node of ", what});
}

Result<Assignment> resolve_placement(const PlacementSpec& spec, const Graph& graph,
                                     const Topology& topology, const Limits& limits) {
  if (Status s = check_placement(spec, limits); !s.ok()) return s;
  const std::string what = "graph " + in_quotes(graph.name());
  if (Status s = check_entries(spec, graph.node_count(), what); !s.ok()) return s;
  std::vector<uint32_t> index(spec.devices.size());
  for (size_t d = 0; d < index.size(); ++d) {
    index[d] = topology.find_device(spec.devices[d]);
    if (index[d] < topology.device_count()) continue;
    return bad_input({"devices[", d, "] is ", in_quotes(spec.devices[d]),
                      ", expected a device of topology ", in_quotes(topology.name()), ": ",
                      device_names(topology)});
  }
  Assignment assignment(spec.assignment.size());
  std::transform(spec.assignment.begin(), spec.assignment.end(), assignment.begin(),
                 [&index](uint32_t d) { return index[d]; });
  return assignment;
}

Result<Division> resolve_stages(const PlacementSpec& spec, const Graph& graph,
                                const Assignment& assignment) {
  Division division;
  if (spec.stages.empty()) return division;
  division.stage_of = spec.stages;
  division.device.resize(size_t{*std::max_element(spec.stages.begin(), spec.stages.end())} + 1);
  division.order = spec.order;
  std::vector<uint32_t> position(division.device.size());
  for (uint32_t i = 0; i < spec.order.size(); ++i) position[spec.order[i]] = i;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    division.device[spec.stages[v]] = assignment[v];
    for (const OutEdge& e : graph.out_edges(v)) {
      const uint32_t from = spec.stages[v], to = spec.stages[e.target];
      if (to < from) {
        return bad_input({"stages[", e.target, "] is ", to, " and reads from node ", v,
                          " of stage ", from,
                          ", expected that every dependency leads to the same or a higher "
                          "stage"});
      }
      if (position[to] >= position[from]) continue;
      return bad_input({"order[", position[to], "] is ", to, ", which reads from stage ", from,
                        ", expected that one before it"});
    }
  }
  return division;
}

PlacementSpec describe_placement(const Graph& graph, const Topology& topology,
                                 std::span<const uint32_t> assignment, const Timeline& timeline,
                                 std::string method) {
  PlacementSpec spec;
  spec.graph = graph.name();
  spec.topology = topology.name();
  for (const DeviceSpec& device : topology.spec().devices) spec.devices.push_back(device.name);
  spec.assignment.assign(assignment.begin(), assignment.end());
  spec.stages = timeline.stage_of;
  spec.order = timeline.stage_order;
  spec.makespan_us = timeline.makespan_us;
  spec.peak_memory_bytes = timeline.peak_memory_bytes;
  spec.method = std::move(method);
  return spec;
}

}  // namespace placeto
