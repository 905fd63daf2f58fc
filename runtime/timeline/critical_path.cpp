#include "runtime/timeline/critical_path.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "runtime/base/no_index.h"
#include "runtime/base/stoppable_sort.h"
#include "runtime/cost/rounding.h"

namespace placeto {
namespace {

// Walks from a node to whatever it started after.
class Walk {
 public:
  Walk(const Problem& problem, std::span<const uint32_t> assignment, const Timeline& timeline)
      : problem_(problem),
        assignment_(assignment),
        timeline_(timeline),
        slack_us_(kRounding * timeline.makespan_us),
        before_on_device_(assignment.size(), kNoIndex),
        before_on_channel_(timeline.transfers.size(), kNoIndex) {
    index_devices();
    index_transfers();
    stages_.resize(timeline.stages.size());
    for (uint32_t v = 0; v < timeline.stage_of.size(); ++v)
      stages_[timeline.stage_of[v]].push_back(v);
  }

  CriticalPath run() {
    CriticalPath path;
    const auto last = std::max_element(timeline_.finish_us.begin(), timeline_.finish_us.end());
    if (last == timeline_.finish_us.end()) return path;
    auto node = static_cast<uint32_t>(last - timeline_.finish_us.begin());
    // A chain visits a node once, so the count bounds the walk even if times are degenerate.
    for (size_t steps = assignment_.size(); node != kNoIndex && steps != 0; --steps) {
      path.nodes.push_back(node);
      node = stages_.empty() ? step(node, path.transfers) : step_staged(node, path.transfers);
    }
    std::reverse(path.nodes.begin(), path.nodes.end());
    std::reverse(path.transfers.begin(), path.transfers.end());
    return path;
  }

 private:
  void index_devices() {
    std::vector<uint32_t> order(assignment_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::vector<uint32_t> position(assignment_.size());
    const auto topological = problem_.graph().topological_order();
    for (uint32_t i = 0; i < topological.size(); ++i) position[topological[i]] = i;
    stoppable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(timeline_.start_us[a], timeline_.finish_us[a], position[a]) <
             std::tie(timeline_.start_us[b], timeline_.finish_us[b], position[b]);
    });
    const bool serial = problem_.execution() == Execution::kSerial;
    std::vector<uint32_t> last(problem_.device_count(), kNoIndex);
    for (const uint32_t v : order) {
      uint32_t& previous = last[serial ? 0 : assignment_[v]];
      before_on_device_[v] = previous;
      previous = v;
    }
  }

  void index_transfers() {
    std::vector<uint32_t> last(problem_.topology().channel_count(), kNoIndex);
    for (uint32_t i = 0; i < timeline_.transfers.size(); ++i) {
      const TransferSlice& t = timeline_.transfers[i];
      transfer_of_[{t.output, t.destination}] = i;
      before_on_channel_[i] = last[t.channel];
      last[t.channel] = i;
    }
  }

  uint32_t find_transfer(uint32_t output, uint32_t device) const {
    auto it = transfer_of_.find({output, device});
    if (it == transfer_of_.end()) it = transfer_of_.find({output, TransferSlice::kBroadcast});
    return it == transfer_of_.end() ? kNoIndex : it->second;
  }

  // The node whose end let `node` start; transfers on the way are added to `transfers`.
  uint32_t step(uint32_t node, std::vector<uint32_t>& transfers) const {
    double latest = -1;
    uint32_t source = kNoIndex, by = kNoIndex;
    for (const InEdge& e : problem_.graph().in_edges(node)) {
      const bool remote = assignment_[e.source] != assignment_[node];
      const uint32_t t = remote && e.output != kControlEdge
                             ? find_transfer(e.output, assignment_[node])
                             : kNoIndex;
      const double arrival =
          t == kNoIndex ? timeline_.finish_us[e.source] : timeline_.transfers[t].arrival_us;
      if (arrival > latest) std::tie(latest, source, by) = std::tie(arrival, e.source, t);
    }
    const uint32_t before = before_on_device_[node];
    const bool waited_for_device =
        before != kNoIndex && latest < timeline_.start_us[node] - slack_us_;
    if (waited_for_device) return before;
    return by == kNoIndex ? source : through(by, transfers);
  }

  // Within a stage nodes run back to back. Its first waits for the stage, and that for whatever
  // enters it, which left with the last node of another stage, or for the device.
  uint32_t step_staged(uint32_t node, std::vector<uint32_t>& transfers) const {
    const uint32_t stage = timeline_.stage_of[node], before = before_on_device_[node];
    if (before != kNoIndex && timeline_.stage_of[before] == stage) return before;
    double latest = -1;
    uint32_t source = kNoIndex, by = kNoIndex;
    for (const uint32_t v : stages_[stage]) {
      for (const InEdge& e : problem_.graph().in_edges(v)) {
        if (timeline_.stage_of[e.source] == stage) continue;
        const bool remote = assignment_[e.source] != assignment_[v];
        const uint32_t t =
            remote && e.output != kControlEdge ? find_transfer(e.output, assignment_[v]) : kNoIndex;
        const double arrival = t == kNoIndex ? end_us(e.source) : timeline_.transfers[t].arrival_us;
        if (arrival > latest) std::tie(latest, source, by) = std::tie(arrival, e.source, t);
      }
    }
    const double start_us = timeline_.stages[stage].start_us;
    if (before != kNoIndex && latest < start_us - slack_us_) return before;
    if (source == kNoIndex) return kNoIndex;
    return last_of_stage(by == kNoIndex ? source : through(by, transfers));
  }

  uint32_t last_of_stage(uint32_t node) const {
    uint32_t last = node;
    for (const uint32_t v : stages_[timeline_.stage_of[node]]) {
      const bool later = timeline_.finish_us[v] > timeline_.finish_us[last] ||
                         (timeline_.finish_us[v] == timeline_.finish_us[last] &&
                          timeline_.start_us[v] > timeline_.start_us[last]);
      if (later) last = v;
    }
    return last;
  }

  // When what the node makes can leave.
  double end_us(uint32_t node) const {
    if (stages_.empty()) return timeline_.finish_us[node];
    return timeline_.stages[timeline_.stage_of[node]].end_us;
  }

  // Back along the channel to the transfer that did not wait for another one; its producer.
  uint32_t through(uint32_t transfer, std::vector<uint32_t>& transfers) const {
    for (;;) {
      transfers.push_back(transfer);
      const TransferSlice& t = timeline_.transfers[transfer];
      const uint32_t producer = problem_.graph().producer(t.output);
      const uint32_t before = before_on_channel_[transfer];
      const bool waited = t.start_us > end_us(producer) + slack_us_;
      if (!waited || before == kNoIndex) return producer;
      transfer = before;
    }
  }

  const Problem& problem_;
  std::span<const uint32_t> assignment_;
  const Timeline& timeline_;
  double slack_us_;
  std::vector<uint32_t> before_on_device_, before_on_channel_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> transfer_of_;  // (output, destination)
  std::vector<std::vector<uint32_t>> stages_;  // nodes of each; empty unless staged
};

}  // namespace

CriticalPath critical_path(const Problem& problem, std::span<const uint32_t> assignment,
                           const Timeline& timeline) {
  return Walk(problem, assignment, timeline).run();
}

}  // namespace placeto
