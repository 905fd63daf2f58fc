#include "runtime/cost/event_tables.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/stoppable_sort.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/rounding.h"

namespace placeto {
namespace {

// Nodes by descending upward rank, ties to the lower index: position of each node.
std::vector<uint32_t> rank_positions(const Problem& problem, Stop* stop) {
  std::vector<uint32_t> order(problem.node_count()), position(problem.node_count());
  std::iota(order.begin(), order.end(), 0u);
  const auto rank = problem.upward_rank();
  stoppable_sort(
      order.begin(), order.end(),
      [rank](uint32_t a, uint32_t b) { return rank[a] != rank[b] ? rank[a] > rank[b] : a < b; },
      stop);
  for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  return position;
}

EventTables::Rules rules_of(const Topology& topology) {
  const TopologySpec& spec = topology.spec();
  EventTables::Rules rules;
  rules.devices = topology.device_count();
  rules.channels = topology.channel_count();
  rules.unicast = spec.transfer == Transfer::kUnicast;
  rules.contended = spec.contention == Contention::kEgress;
  rules.priority = spec.dispatch == Dispatch::kPriority;
  rules.uniform_links = topology.uniform_links();
  rules.overtake = rules.unicast || !rules.contended;
  rules.op_gap_us = spec.op_gap_us;
  return rules;
}

}  // namespace

bool EventTables::compile(const Problem& problem, Stop* stop) {
  rules = rules_of(problem.topology());
  if (rules.priority) rank_position = rank_positions(problem, stop);
  if (!compile_edges(problem.graph(), stop) || !find_tails(problem, stop)) return false;
  if (!rules.uniform_links) return true;
  const LinkParameters& link = problem.topology().spec().default_link;
  const uint32_t outputs = problem.graph().output_count();
  uniform_transfer_us.reserve(outputs);
  in_pieces(0, outputs, stop,
            [&](uint32_t o) { uniform_transfer_us.push_back(problem.transfer_us(o, link)); });
  return !stopped(stop);
}

bool EventTables::find_tails(const Problem& problem, Stop* stop) {
  const auto order = problem.graph().topological_order();
  tail_us.assign(problem.node_count(), 0);
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    const double from_us = problem.fastest_us(*v) + tail_us[*v];
    for (const InEdge& e : watched(problem.graph().in_edges(*v), stop)) {
      tail_us[e.source] = std::max(tail_us[e.source], from_us);
    }
    if (spend(stop, 1 + problem.graph().in_edges(*v).size())) return false;
  }
  for (double& tail : tail_us) tail = rounded_down(tail);
  return !spend(stop, Stop::looked_up(tail_us.size()));
}

bool EventTables::compile_edges(const Graph& graph, Stop* stop) {
  constexpr uint32_t kPiece = 1024;  // edges of one node between two looks at the clock
  edges.reserve(graph.edge_count());
  rows.reserve(graph.node_count());
  dependencies.reserve(graph.node_count());
  consumers.begin.reserve(graph.output_count() + 1);
  consumers.begin.push_back(0);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const auto out = graph.out_edges(v);
    const auto begin = static_cast<uint32_t>(edges.size());
    edges.insert(edges.end(), out.begin(), out.end());
    stoppable_sort(
        edges.begin() + begin, edges.end(),
        [](const OutEdge& a, const OutEdge& b) {
          return a.target != b.target ? a.target < b.target : a.output < b.output;
        },
        stop);
    if (stopped(stop)) return false;
    bool control = false;
    for (const OutEdge& e : watched(out, stop)) control |= e.output == kControlEdge;
    const uint32_t outputs = graph.output_end(v) - graph.output_begin(v);
    rows.push_back({begin, static_cast<uint32_t>(edges.size()), graph.output_begin(v),
                    graph.output_end(v), outputs == 1 && !control});
    most_bookings = std::max(most_bookings, rules.unicast ? out.size() : size_t{outputs});
    dependencies.push_back(static_cast<uint32_t>(graph.in_edges(v).size()));
    if (dependencies.back() == 0) roots.push_back(v);
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      for (uint32_t w : watched(graph.consumers(o), stop)) {
        consumers.node.push_back(w);
        consumers.output.push_back(o);
      }
      consumers.begin.push_back(static_cast<uint32_t>(consumers.node.size()));
    }
    if (stopped(stop)) return false;  // else every edge is among the consumers
    consumers.file_position.resize(consumers.node.size());
    for (uint32_t i = 0; i < out.size(); ++i) {
      if (i % kPiece == kPiece - 1 && spend(stop, kPiece)) return false;
      if (out[i].output == kControlEdge) continue;
      const auto first = consumers.node.begin() + consumers.begin[out[i].output];
      const auto last = consumers.node.begin() + consumers.begin[out[i].output + 1];
      const auto entry = std::lower_bound(first, last, out[i].target) - consumers.node.begin();
      consumers.file_position[static_cast<size_t>(entry)] = i;
    }
    if (spend(stop, graph.out_work(v) + 2 * out.size())) return false;
  }
  return true;
}

}  // namespace placeto
