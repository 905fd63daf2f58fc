// Descriptions for tests of the file formats: random ones, equality, and messages.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/format/placement.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"

namespace placeto::test {

bool same(const NodeSpec& a, const NodeSpec& b);
bool same(const LinkSpec& a, const LinkSpec& b);
bool same(const DeviceSpec& a, const DeviceSpec& b);

inline bool same(const NodeSpec& a, const NodeSpec& b) {
  const auto all = [](const NodeSpec& n) {
    return std::tie(n.name, n.op, n.cost_us, n.outputs, n.resident_bytes, n.workspace_bytes,
                    n.flops, n.bytes_accessed, n.colocate, n.allowed_kinds, n.launches, n.measured,
                    n.opset, n.input_types, n.domain, n.fused);
  };
  return all(a) == all(b);
}

template <class T>
bool same_entries(const std::vector<T>& a, const std::vector<T>& b) {
  bool equal = a.size() == b.size();
  for (size_t i = 0; equal && i < a.size(); ++i) equal = same(a[i], b[i]);
  return equal;
}

inline bool same(const GraphSpec& a, const GraphSpec& b) {
  return a.name == b.name && a.kinds == b.kinds && same_entries(a.nodes, b.nodes) &&
         a.edges == b.edges;
}

inline bool same(const LinkParameters& a, const LinkParameters& b) {
  return a.bandwidth_bytes_per_us == b.bandwidth_bytes_per_us && a.latency_us == b.latency_us &&
         a.gap_us == b.gap_us && a.source == b.source;
}

inline bool same(const LinkSpec& a, const LinkSpec& b) {
  return a.from == b.from && a.to == b.to && a.channel == b.channel &&
         same(a.parameters, b.parameters);
}

inline bool same(const DeviceSpec& a, const DeviceSpec& b) {
  const auto all = [](const DeviceSpec& d) {
    return std::tie(d.name, d.kind, d.memory_bytes, d.peak_flops, d.memory_bandwidth, d.slowdown,
                    d.stage_us, d.cut_us, d.cut_bytes_per_us, d.memory_source, d.flops_source,
                    d.bandwidth_source, d.prices_source);
  };
  return all(a) == all(b);
}

inline bool same(const TopologySpec& a, const TopologySpec& b) {
  const auto rules = [](const TopologySpec& t) {
    return std::tie(t.name, t.op_gap_us, t.contention, t.transfer, t.execution, t.dispatch);
  };
  return rules(a) == rules(b) && same_entries(a.devices, b.devices) &&
         same(a.default_link, b.default_link) && same_entries(a.links, b.links);
}

inline bool same(const PlacementSpec& a, const PlacementSpec& b) {
  const auto all = [](const PlacementSpec& p) {
    return std::tie(p.graph, p.topology, p.devices, p.assignment, p.makespan_us,
                    p.peak_memory_bytes, p.method, p.candidates, p.lower_bound_us, p.place_time_us,
                    p.bottleneck_us, p.note, p.reasons, p.stages, p.order, p.dims, p.engine,
                    p.replicas_us, p.sequential_us);
  };
  return all(a) == all(b);
}

// Text that needs every kind of care: empty, plain, quotes, control characters, all UTF-8 lengths.
inline std::string random_text(Random& random) {
  constexpr std::string_view kPieces[] = {"conv",
                                          "/",
                                          "\"",
                                          "\\",
                                          "\n",
                                          "\x01",
                                          "\x7f",
                                          "\xc3\xa9",
                                          "7",
                                          " ",
                                          "{",
                                          "\xe2\x82\xac",
                                          "\xf0\x9f\x98\x80"};
  std::string text;
  for (uint32_t i = random.below(6); i > 0; --i) text += kPieces[random.below(std::size(kPieces))];
  return text;
}

// Any finite double of not negative sign: all magnitudes, shortest forms of up to 17 digits.
inline double random_number(Random& random) {
  constexpr double kSpecial[] = {
      0, 5e-324, 0.1, 1, 1.0 / 3, 1e22, 9007199254740993.0, 1.7976931348623157e308};
  if (random.below(3) == 0) return kSpecial[random.below(std::size(kSpecial))];
  return random.uniform() * static_cast<double>(uint64_t{1} << random.below(64));
}

inline uint64_t random_size(Random& random) {
  return random.next() >> (6 + random.below(58));
}

inline NodeSpec random_node(Random& random, size_t kinds) {
  NodeSpec node;
  node.name = random_text(random);
  node.op = random_text(random);
  if (random.below(2) == 0) {
    for (size_t k = 0; k < std::max<size_t>(kinds, 1); ++k) {
      node.cost_us.push_back(random.below(8) == 0 ? -1 : random_number(random));
    }
  }
  for (uint32_t i = random.below(3); i > 0; --i) node.outputs.push_back(random_size(random) >> 12);
  node.resident_bytes = random_size(random) >> 12;
  node.workspace_bytes = random.below(2) == 0 ? 0 : random_size(random) >> 12;
  node.flops = random.next();
  node.bytes_accessed = random.next() >> random.below(64);
  node.measured = random.below(2) == 0 ? 0 : random.next();
  node.launches = random.below(2) == 0 ? 0 : random.next() >> random.below(64);
  if (random.below(3) == 0) node.colocate = "key" + std::to_string(random.below(4));
  for (uint32_t i = random.below(3); i > 0; --i) {
    node.allowed_kinds.push_back("kind" + std::to_string(i));
  }
  node.opset = random.below(2) == 0 ? 0 : random.below(30);
  node.domain = random.below(2) == 0 ? "" : "ai.onnx";
  node.fused = random.below(4) == 0;
  for (uint32_t i = random.below(4); i > 0; --i) {
    node.input_types.push_back(random.below(3) == 0 ? "" : "type" + std::to_string(i));
  }
  return node;
}

// A valid graph of up to 12 nodes, edges from lower to higher indices.
inline GraphSpec random_graph(Random& random) {
  GraphSpec spec;
  spec.name = random_text(random);
  for (uint32_t k = random.below(3); k > 0; --k) spec.kinds.push_back("kind" + std::to_string(k));
  const uint32_t n = 1 + random.below(12);
  for (uint32_t v = 0; v < n; ++v) spec.nodes.push_back(random_node(random, spec.kinds.size()));
  for (uint32_t v = 0; v < n; ++v) {
    for (uint32_t u = v + 1; u < n; ++u) {
      if (random.below(3) != 0) continue;
      const auto outputs = static_cast<uint32_t>(spec.nodes[v].outputs.size());
      const uint32_t output = random.below(outputs + 1);
      spec.edges.push_back({v, output == outputs ? kControlEdge : output, u});
    }
  }
  return spec;
}

inline Source random_source(Random& random) {
  return static_cast<Source>(random.below(4));
}

inline LinkParameters random_link(Random& random) {
  return {1e-3 + random.uniform() * 1e5, random_number(random),
          random.below(2) == 0 ? 0 : random_number(random), random_source(random)};
}

inline TopologySpec random_topology(Random& random) {
  TopologySpec spec;
  spec.name = random_text(random);
  spec.op_gap_us = random_number(random);
  spec.contention = static_cast<Contention>(random.below(2));
  spec.transfer = static_cast<Transfer>(random.below(2));
  spec.execution = static_cast<Execution>(random.below(3));
  spec.dispatch = static_cast<Dispatch>(random.below(2));
  const uint32_t n = 1 + random.below(5);
  for (uint32_t d = 0; d < n; ++d) {
    spec.devices.push_back({"d" + std::to_string(d) + random_text(random), "kind",
                            random_size(random), random_number(random), random_number(random),
                            random.below(2) == 0 ? 1 : 0.5 + random.uniform(),
                            random_number(random), random_number(random), random_number(random),
                            random_source(random), random_source(random), random_source(random),
                            random_source(random)});
  }
  spec.default_link = random_link(random);
  for (uint32_t d = 0; d < n; ++d) {
    for (uint32_t e = 0; e < n; ++e) {
      if (d == e || random.below(2) == 0) continue;
      spec.links.push_back({spec.devices[d].name, spec.devices[e].name, random_link(random),
                            random.below(2) == 0 ? "" : "bus" + std::to_string(random.below(2))});
    }
  }
  return spec;
}

inline PlacementSpec random_placement(Random& random) {
  PlacementSpec spec;
  spec.graph = random_text(random);
  spec.topology = random_text(random);
  const uint32_t n = 1 + random.below(5);
  for (uint32_t d = 0; d < n; ++d) {
    spec.devices.push_back(std::to_string(d) + random_text(random));
    spec.peak_memory_bytes.push_back(random.next() >> random.below(64));
  }
  for (uint32_t v = random.below(20); v > 0; --v) spec.assignment.push_back(random.below(n));
  spec.makespan_us = random_number(random);
  spec.method = random_text(random);
  for (uint32_t c = random.below(4); c > 0; --c) {
    spec.candidates.push_back({random_text(random), random_number(random), random.below(2) == 0,
                               random_number(random), spec.peak_memory_bytes});
    spec.lower_bound_us = random_number(random);
    spec.note = random_text(random);
    spec.engine = random_text(random);
    spec.replicas_us = random_number(random);
    spec.sequential_us = random_number(random);
  }
  for (uint32_t v = 0; v < spec.assignment.size(); v += 1 + random.below(4)) {
    const uint32_t second = random.below(n + 1);
    spec.reasons.push_back({v, spec.assignment[v], random_number(random),
                            second == n ? kNoIndex : second, random_number(random),
                            random.below(2) == 0});
  }
  for (uint32_t d = random.below(3); d > 0; --d)
    spec.dims.push_back("x" + random_text(random) + "=1");
  if (random.below(2) == 0) {  // a stage for each node, taken backwards
    for (uint32_t v = 0; v < spec.assignment.size(); ++v) {
      spec.stages.push_back(v);
      spec.order.insert(spec.order.begin(), v);
    }
  }
  return spec;
}

// The message, or "ok": what a test compares in one line.
template <class Outcome>
std::string message_of(const Outcome& outcome) {
  const Status* status = nullptr;
  if constexpr (std::is_same_v<Outcome, Status>) {
    status = &outcome;
  } else {
    status = &outcome.status();
  }
  return status->ok() ? "ok" : status->message();
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace placeto::test
