#include "runtime/graph/graph.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "runtime/base/message.h"
#include "runtime/base/stoppable_sort.h"
#include "runtime/graph/text.h"

namespace placeto {
namespace {

// Every sum of bytes on one device is at most the sum of all bytes in the graph.
constexpr uint64_t kMaxTotalBytes = (uint64_t{1} << 63) - 1;

Status check_sizes(const GraphSpec& spec, const Limits& limits) {
  if (spec.nodes.empty()) return Status::bad_input("nodes: empty, expected at least one node");
  if (spec.nodes.size() > limits.max_nodes) {
    return too_many("nodes", spec.nodes.size(), limits.max_nodes);
  }
  if (spec.edges.size() > limits.max_edges) {
    return too_many("edges", spec.edges.size(), limits.max_edges);
  }
  if (spec.kinds.size() > limits.max_kinds) {
    return too_many("kinds", spec.kinds.size(), limits.max_kinds);
  }
  size_t outputs = 0;
  for (const NodeSpec& node : spec.nodes) outputs += node.outputs.size();
  if (outputs > limits.max_outputs) return too_many("outputs", outputs, limits.max_outputs);
  return {};
}

Status check_kinds(const GraphSpec& spec, const Limits& limits) {
  for (size_t k = 0; k < spec.kinds.size(); ++k) {
    const std::string place = entry("kinds", k);
    if (Status s = check_name(spec.kinds[k], limits); !s.ok()) return s.at(place);
    for (size_t j = 0; j < k; ++j) {
      if (spec.kinds[j] == spec.kinds[k]) {
        return bad_input({place, ": ", in_quotes(spec.kinds[k]), " stands at kinds[", j,
                          "] already, expected distinct kinds"});
      }
    }
  }
  return {};
}

using TextCheck = Status (*)(std::string_view text, const Limits& limits);

Status check_list(const GraphSpec& spec, size_t v, const char* field,
                  const std::vector<std::string>& list, size_t most, TextCheck check,
                  const Limits& limits) {
  if (list.size() > most) return too_many(field, list.size(), most).at(node_place(spec, v));
  for (size_t i = 0; i < list.size(); ++i) {
    if (Status s = check(list[i], limits); !s.ok()) {
      return s.at(entry(field, i)).at(node_place(spec, v));
    }
  }
  return {};
}

// Places are put into words only when something is wrong: a message per node would cost more than
// the checks.
Status check_node_texts(const GraphSpec& spec, size_t v, const Limits& limits) {
  const NodeSpec& node = spec.nodes[v];
  for (auto [field, text] :
       {std::pair{"name", &node.name}, std::pair{"op", &node.op}, std::pair{"domain", &node.domain},
        std::pair{"colocate", &node.colocate}}) {
    if (Status s = check_text(*text, limits); !s.ok()) {
      return s.at(field).at(node_place(spec, v));
    }
  }
  const Status kinds = check_list(spec, v, "allowed_kinds", node.allowed_kinds, limits.max_kinds,
                                  check_name, limits);
  if (!kinds.ok()) return kinds;
  return check_list(spec, v, "input_types", node.input_types, kMostInputTypes, check_text, limits);
}

Status check_costs(const GraphSpec& spec, size_t v) {
  const std::vector<double>& cost = spec.nodes[v].cost_us;
  const size_t expected = spec.kinds.empty() ? 1 : spec.kinds.size();
  if (!cost.empty() && cost.size() != expected) {
    return bad_input(
        {node_place(spec, v), ": cost_us has ", cost.size(), " entries, expected ",
         (spec.kinds.empty() ? "1 because the graph lists no kinds"
                             : std::to_string(expected) + ", one for each of the graph's kinds")});
  }
  for (size_t k = 0; k < cost.size(); ++k) {
    if (!std::isfinite(cost[k])) {
      return bad_input({node_place(spec, v), ": cost_us[", k, "] is ", number_text(cost[k]),
                        ", expected a finite number of microseconds (negative: the kind "
                        "cannot run the node)"});
    }
  }
  return {};
}

Status check_nodes(const GraphSpec& spec, const Limits& limits) {
  uint64_t total = 0;
  const auto add = [&total](uint64_t bytes) {
    if (bytes > kMaxTotalBytes - total) return false;
    total += bytes;
    return true;
  };
  for (size_t v = 0; v < spec.nodes.size(); ++v) {
    const NodeSpec& node = spec.nodes[v];
    if (Status s = check_node_texts(spec, v, limits); !s.ok()) return s;
    if (Status s = check_costs(spec, v); !s.ok()) return s;
    bool fits = add(node.resident_bytes) && add(node.workspace_bytes);
    for (uint64_t bytes : node.outputs) fits = fits && add(bytes);
    if (!fits) {
      return bad_input({node_place(spec, v),
                        ": resident, workspace and output bytes of the nodes up to here sum "
                        "to more than 2^63 - 1, expected a smaller sum"});
    }
  }
  return {};
}

Status check_edge_ranges(const GraphSpec& spec) {
  const auto n = static_cast<uint32_t>(spec.nodes.size());
  const auto place = [](size_t e) { return join({"edges[", e, "]"}); };
  for (size_t e = 0; e < spec.edges.size(); ++e) {
    const EdgeSpec& edge = spec.edges[e];
    for (auto [field, id] : {std::pair{"source", edge.source}, std::pair{"target", edge.target}}) {
      if (id < n) continue;
      return bad_input({place(e), ": ", field, " is ", id, ", expected a node index below ", n});
    }
    const size_t outputs = spec.nodes[edge.source].outputs.size();
    if (edge.output != kControlEdge && edge.output >= outputs) {
      return bad_input({place(e), ": output is ", edge.output, ", but ",
                        node_place(spec, edge.source), " has ", outputs,
                        outputs == 1 ? " output" : " outputs",
                        ", expected an index below that or 4294967295 (control)"});
    }
  }
  return {};
}

// The message names the first two edges that are equal to the given one.
Status duplicate_edge(const GraphSpec& spec, const EdgeSpec& edge) {
  const auto first = std::find(spec.edges.begin(), spec.edges.end(), edge);
  const auto second = std::find(first + 1, spec.edges.end(), edge);
  return bad_input({"edges[", second - spec.edges.begin(), "]: source ", edge.source, ", output ",
                    edge.output, ", target ", edge.target, " stands at edges[",
                    first - spec.edges.begin(), "] already, expected distinct edges"});
}

// Sorts the out-edges of one node at a time: O(E log D), D the largest out-degree.
Status check_duplicate_edges(const Graph& graph) {
  std::vector<OutEdge> edges;
  const auto before = [](const OutEdge& a, const OutEdge& b) {
    return a.output != b.output ? a.output < b.output : a.target < b.target;
  };
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    edges.assign(graph.out_edges(v).begin(), graph.out_edges(v).end());
    stoppable_sort(edges.begin(), edges.end(), before);
    const auto equal = [](const OutEdge& a, const OutEdge& b) {
      return a.output == b.output && a.target == b.target;
    };
    const auto twice = std::adjacent_find(edges.begin(), edges.end(), equal);
    if (twice == edges.end()) continue;
    const bool control = twice->output == kControlEdge;
    const uint32_t output = control ? kControlEdge : twice->output - graph.output_begin(v);
    return duplicate_edge(graph.spec(), {v, output, twice->target});
  }
  return {};
}

// Turns counts at [i + 1] into offsets.
void prefix_sum(std::vector<uint32_t>& counts) {
  for (size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
}

// A cycle among the nodes that no topological order reaches: walk predecessors until one repeats.
std::string describe_cycle(const Graph& graph, const std::vector<uint32_t>& unmet) {
  uint32_t v = 0;
  while (unmet[v] == 0) ++v;
  std::vector<uint32_t> seen_at(graph.node_count(), graph.node_count()), path;
  while (seen_at[v] == graph.node_count()) {
    seen_at[v] = static_cast<uint32_t>(path.size());
    path.push_back(v);
    for (const InEdge& in : graph.in_edges(v)) {
      if (unmet[in.source] == 0) continue;
      v = in.source;
      break;
    }
  }
  std::vector<uint32_t> cycle(path.begin() + seen_at[v], path.end());
  std::reverse(cycle.begin(), cycle.end());  // the walk went against the edges
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  constexpr size_t kShown = 12;
  std::string text;
  for (size_t i = 0; i < cycle.size() && i < kShown; ++i) {
    text += node_place(graph.spec(), cycle[i]) + " -> ";
  }
  if (cycle.size() > kShown) text += "... (" + std::to_string(cycle.size()) + " nodes) -> ";
  return text + node_place(graph.spec(), cycle[0]);
}

}  // namespace

std::string node_place(const GraphSpec& spec, size_t v) {
  return join({"nodes[", v, "] ", in_quotes(spec.nodes[v].name)});
}

Result<Graph> Graph::build(GraphSpec spec, const Limits& limits) {
  if (Status s = check_sizes(spec, limits); !s.ok()) return s;
  if (Status s = check_text(spec.name, limits); !s.ok()) return s.at("name");
  if (Status s = check_kinds(spec, limits); !s.ok()) return s;
  if (Status s = check_nodes(spec, limits); !s.ok()) return s;
  if (Status s = check_edge_ranges(spec); !s.ok()) return s;
  Graph graph;
  graph.spec_ = std::move(spec);
  graph.index_outputs();
  graph.index_edges();
  if (Status s = check_duplicate_edges(graph); !s.ok()) return s;
  if (Status s = graph.sort_topologically(); !s.ok()) return s;
  return graph;
}

void Graph::index_outputs() {
  output_offset_.assign(1, 0);
  output_offset_.reserve(node_count() + 1);
  for (uint32_t v = 0; v < node_count(); ++v) {
    for (uint64_t bytes : spec_.nodes[v].outputs) {
      output_bytes_.push_back(bytes);
      output_producer_.push_back(v);
    }
    output_offset_.push_back(static_cast<uint32_t>(output_bytes_.size()));
  }
}

void Graph::index_edges() {
  out_offset_.assign(node_count() + 1, 0);
  in_offset_.assign(node_count() + 1, 0);
  consumer_offset_.assign(output_count() + 1, 0);
  const auto output_id = [this](const EdgeSpec& e) {
    return e.output == kControlEdge ? kControlEdge : output_begin(e.source) + e.output;
  };
  for (const EdgeSpec& e : spec_.edges) {
    ++out_offset_[e.source + 1];
    ++in_offset_[e.target + 1];
    if (e.output != kControlEdge) ++consumer_offset_[output_id(e) + 1];
  }
  prefix_sum(out_offset_);
  prefix_sum(in_offset_);
  prefix_sum(consumer_offset_);
  for (uint32_t v = 0; v < node_count(); ++v) {
    const uint32_t outputs = output_end(v) - output_begin(v);
    const uint32_t edges = out_offset_[v + 1] - out_offset_[v];
    if (outputs > std::max(edges, 1u)) spare_outputs_ += outputs - std::max(edges, 1u);
  }

  out_edges_.resize(spec_.edges.size());
  in_edges_.resize(spec_.edges.size());
  consumers_.resize(consumer_offset_.back());
  std::vector<uint32_t> out_end = out_offset_, in_end = in_offset_, consumer_end = consumer_offset_;
  for (const EdgeSpec& e : spec_.edges) {
    out_edges_[out_end[e.source]++] = {e.target, output_id(e)};
    in_edges_[in_end[e.target]++] = {e.source, output_id(e)};
    if (e.output != kControlEdge) consumers_[consumer_end[output_id(e)]++] = e.target;
  }
  for (uint32_t o = 0; o < output_count(); ++o) {
    stoppable_sort(consumers_.begin() + consumer_offset_[o],
                   consumers_.begin() + consumer_offset_[o + 1], std::less<>());
  }
}

Status Graph::sort_topologically() {
  std::vector<uint32_t> unmet(node_count());
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t v = 0; v < node_count(); ++v) {
    unmet[v] = static_cast<uint32_t>(in_edges(v).size());
    if (unmet[v] == 0) ready.push(v);
  }
  topological_order_.reserve(node_count());
  while (!ready.empty()) {
    const uint32_t v = ready.top();
    ready.pop();
    topological_order_.push_back(v);
    for (const OutEdge& e : out_edges(v)) {
      if (--unmet[e.target] == 0) ready.push(e.target);
    }
  }
  if (topological_order_.size() == node_count()) return {};
  return bad_input({"edges: the graph has a cycle: ", describe_cycle(*this, unmet),
                    "; expected an acyclic graph"});
}

}  // namespace placeto
