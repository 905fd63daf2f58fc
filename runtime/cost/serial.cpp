#include "runtime/cost/serial.h"

#include <algorithm>

#include "runtime/base/stoppable_sort.h"
#include "runtime/cost/broadcast_link.h"

namespace placeto {
namespace {

// The transfers that a node's outputs need: output and destination (kBroadcast under broadcast),
// in the order of the first out-edge that needs them. Reuses `sends`.
void list_sends(const Problem& problem, std::span<const uint32_t> assignment, uint32_t node,
                std::vector<SerialSend>& sends, Stop* stop) {
  const bool unicast = problem.topology().spec().transfer == Transfer::kUnicast;
  sends.clear();
  uint32_t position = 0;
  for (const OutEdge& e : watched(problem.graph().out_edges(node), stop)) {
    const uint32_t to = assignment[e.target];
    if (e.output != kControlEdge && to != assignment[node]) {
      sends.push_back({e.output, unicast ? to : TransferSlice::kBroadcast, position});
    }
    ++position;
  }
  const auto same = [](const SerialSend& a, const SerialSend& b) {
    return a.output == b.output && a.destination == b.destination;
  };
  stoppable_sort(
      sends.begin(), sends.end(),
      [](const SerialSend& a, const SerialSend& b) {
        if (a.output != b.output) return a.output < b.output;
        return a.destination != b.destination ? a.destination < b.destination
                                              : a.position < b.position;
      },
      stop);
  sends.erase(std::unique(sends.begin(), sends.end(), same), sends.end());
  stoppable_sort(
      sends.begin(), sends.end(),
      [](const SerialSend& a, const SerialSend& b) { return a.position < b.position; }, stop);
}

// Fills the slice of a transfer that starts now. Returns when the system may go on.
double send(const Problem& problem, std::span<const uint32_t> assignment, const SerialSend& what,
            double now, TransferSlice& slice) {
  const Topology& topology = problem.topology();
  const bool unicast = what.destination != TransferSlice::kBroadcast;
  const uint32_t source = assignment[problem.graph().producer(what.output)];
  const LinkParameters& link = unicast ? topology.link(source, what.destination)
                                       : broadcast_link(problem, assignment, what.output, source);
  const double end = now + problem.transfer_us(what.output, link);
  const double arrival = end + (unicast ? link.latency_us : 0);
  slice = {what.output,
           unicast ? topology.channel(source, what.destination) : source,
           what.destination,
           now,
           end,
           arrival};
  return std::max(arrival, end + link.gap_us);
}

}  // namespace

bool run_serially(const Problem& problem, std::span<const uint32_t> assignment, bool record,
                  std::vector<SerialSend>& scratch, Timeline& timeline, Stop* stop) {
  timeline.transfers.clear();
  double clock = 0;
  timeline.makespan_us = 0;
  uint32_t position = 0;
  for (uint32_t v : problem.graph().topological_order()) {
    timeline.order[position++] = v;
    const double run = problem.run_us(v, assignment[v]);
    const double finish = clock + run;
    timeline.start_us[v] = clock;
    timeline.finish_us[v] = finish;
    timeline.makespan_us = finish;
    double sent = finish;
    list_sends(problem, assignment, v, scratch, stop);
    if (stopped(stop)) return false;
    for (const SerialSend& what : watched(scratch, stop)) {
      TransferSlice slice;
      sent = send(problem, assignment, what, sent, slice);
      if (record) timeline.transfers.push_back(slice);
    }
    clock = std::max(sent, finish + problem.gap_after_us(run));
    if (spend(stop, 1 + problem.graph().out_edges(v).size())) return false;
  }
  timeline.drain_us = clock;
  return true;
}

}  // namespace placeto
