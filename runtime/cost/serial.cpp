#include "runtime/cost/serial.h"

#include <algorithm>

namespace placeto {
namespace {

// Sends what out-edge `index` of `node` needs, unless an earlier out-edge has sent it already.
struct Sender {
  const Problem& problem;
  std::span<const uint32_t> assignment;
  bool record;
  Timeline& timeline;

  bool is_first(uint32_t node, size_t index) const {
    const auto edges = problem.graph().out_edges(node);
    const bool unicast = problem.topology().spec().transfer == Transfer::kUnicast;
    const uint32_t source = assignment[node], destination = assignment[edges[index].target];
    return std::none_of(
        edges.begin(), edges.begin() + static_cast<ptrdiff_t>(index), [&](const OutEdge& e) {
          const uint32_t to = assignment[e.target];
          return e.output == edges[index].output && to != source && (!unicast || to == destination);
        });
  }

  LinkParameters link(uint32_t output, uint32_t source, uint32_t destination) const {
    const Topology& topology = problem.topology();
    if (topology.spec().transfer == Transfer::kUnicast) return topology.link(source, destination);
    LinkParameters slowest = topology.link(source, destination);  // as in parallel execution
    for (uint32_t consumer : problem.graph().consumers(output)) {
      if (assignment[consumer] == source) continue;
      const LinkParameters& other = topology.link(source, assignment[consumer]);
      if (other.bandwidth_bytes_per_us < slowest.bandwidth_bytes_per_us ||
          (other.bandwidth_bytes_per_us == slowest.bandwidth_bytes_per_us &&
           other.gap_us > slowest.gap_us)) {
        slowest = other;
      }
    }
    slowest.latency_us = 0;
    return slowest;
  }

  // Returns when the system may go on.
  double send(uint32_t node, const OutEdge& edge, double now) const {
    const bool unicast = problem.topology().spec().transfer == Transfer::kUnicast;
    const uint32_t source = assignment[node], destination = assignment[edge.target];
    const LinkParameters parameters = link(edge.output, source, destination);
    const double bytes = static_cast<double>(problem.graph().output_bytes(edge.output));
    const double end = now + bytes / parameters.bandwidth_bytes_per_us;
    const double arrival = end + parameters.latency_us;
    if (record) {
      timeline.transfers.push_back(
          {edge.output, unicast ? problem.topology().channel(source, destination) : source,
           unicast ? destination : TransferSlice::kBroadcast, now, end, arrival});
    }
    return std::max(arrival, end + parameters.gap_us);
  }
};

}  // namespace

void run_serially(const Problem& problem, std::span<const uint32_t> assignment, bool record,
                  Timeline& timeline) {
  const Graph& graph = problem.graph();
  const Sender sender{problem, assignment, record, timeline};
  const double op_gap_us = problem.topology().spec().op_gap_us;
  timeline.transfers.clear();
  double clock = 0;
  timeline.makespan_us = 0;
  for (uint32_t v : graph.topological_order()) {
    const double run = problem.run_us(v, assignment[v]);
    const double finish = clock + run;
    timeline.start_us[v] = clock;
    timeline.finish_us[v] = finish;
    timeline.makespan_us = finish;
    double sent = finish;
    const auto edges = graph.out_edges(v);
    for (size_t i = 0; i < edges.size(); ++i) {
      const bool remote = assignment[edges[i].target] != assignment[v];
      if (edges[i].output == kControlEdge || !remote || !sender.is_first(v, i)) continue;
      sent = sender.send(v, edges[i], sent);
    }
    clock = std::max(sent, run == 0 ? finish : finish + op_gap_us);
  }
  timeline.drain_us = clock;
}

}  // namespace placeto
