// The cost model once more, as slowly and plainly as possible: an oracle for tests.
//
// Written from the rules alone (events, then rules 1 to 5, then the extensions), it shares nothing
// with runtime/cost but the accessors of Graph, Topology and Problem. Every single event, one
// arrival per edge included, is an entry of one ordered set; nothing is batched, skipped or reused.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "runtime/cost/problem.h"
#include "tests/support/slow_staged.h"

namespace placeto::test {

struct SlowTransfer {
  uint32_t output, channel;
  std::set<uint32_t> destinations;  // devices
  double start_us, end_us, arrival_us, gap_us;
};

struct SlowRun {
  double makespan_us = 0, drain_us = 0, bottleneck_us = 0;
  std::vector<double> start_us, finish_us;
  std::vector<SlowTransfer> transfers;
  std::vector<uint64_t> peak_memory_bytes;
};

class SlowEvaluator {
 public:
  SlowEvaluator(const Problem& problem, std::span<const uint32_t> assignment)
      : problem_(problem),
        graph_(problem.graph()),
        topology_(problem.topology()),
        rules_(topology_.spec()),
        device_of_(assignment.begin(), assignment.end()) {}

  SlowRun run() {
    run_.start_us.assign(graph_.node_count(), -1);
    run_.finish_us.assign(graph_.node_count(), -1);
    if (rules_.execution == Execution::kSerial) {
      run_serially();
    } else if (rules_.execution == Execution::kStaged) {
      run_staged();
    } else {
      run_events();
    }
    for (double finish : run_.finish_us) run_.makespan_us = std::max(run_.makespan_us, finish);
    measure_bottleneck();
    measure_memory();
    return std::move(run_);
  }

 private:
  // In the order of equal times.
  enum Kind { kArrival, kEgressFree, kDeviceFree };
  struct Event {
    double time;
    Kind kind;
    uint32_t a, b;    // arrival: producer, consumer; else: channel or device, 0
    uint64_t serial;  // two edges between the same nodes make two events
    bool operator<(const Event& o) const {
      return std::tie(time, kind, a, b, serial) < std::tie(o.time, o.kind, o.a, o.b, o.serial);
    }
  };
  // What one transfer carries, waiting or under way.
  struct Parcel {
    uint32_t output;
    std::set<uint32_t> destinations;
  };

  bool unicast() const { return rules_.transfer == Transfer::kUnicast; }
  uint32_t device(uint32_t node) const { return device_of_[node]; }
  uint32_t source_device(uint32_t output) const { return device(graph_.producer(output)); }

  // The parcels that the outputs of a node make, in the order of their first out-edge elsewhere.
  std::vector<Parcel> parcels_of(uint32_t node) const {
    std::vector<Parcel> parcels;
    for (const EdgeSpec& e : graph_.spec().edges) {
      if (e.source != node || e.output == kControlEdge) continue;
      const uint32_t to = device(e.target), output = graph_.output_begin(node) + e.output;
      if (to == device(node)) continue;
      auto same = std::find_if(parcels.begin(), parcels.end(), [&](const Parcel& p) {
        return p.output == output && (!unicast() || p.destinations.count(to) == 1);
      });
      if (same == parcels.end()) same = parcels.insert(parcels.end(), {output, {}});
      same->destinations.insert(to);
    }
    return parcels;
  }

  // Unicast: the link to the destination. Broadcast: the slowest link among the destinations, then
  // the one with the largest gap; latency is not charged.
  LinkParameters link_of(const Parcel& parcel) const {
    const uint32_t source = source_device(parcel.output);
    std::vector<LinkParameters> links;
    for (uint32_t to : parcel.destinations) links.push_back(topology_.link(source, to));
    std::sort(links.begin(), links.end(), [](const LinkParameters& x, const LinkParameters& y) {
      return std::make_pair(x.bandwidth_bytes_per_us, -x.gap_us) <
             std::make_pair(y.bandwidth_bytes_per_us, -y.gap_us);
    });
    if (!unicast()) links[0].latency_us = 0;
    return links[0];
  }
  uint32_t channel_of(const Parcel& parcel) const {
    const uint32_t source = source_device(parcel.output);
    return unicast() ? topology_.channel(source, *parcel.destinations.begin()) : source;
  }

  // Occupies the parcel's channel from `now`; returns the record of it.
  const SlowTransfer& transfer(const Parcel& parcel, double now) {
    const LinkParameters link = link_of(parcel);
    const double bytes = static_cast<double>(graph_.output_bytes(parcel.output));
    const double end = now + bytes / link.bandwidth_bytes_per_us;
    run_.transfers.push_back({parcel.output, channel_of(parcel), parcel.destinations, now, end,
                              end + link.latency_us, link.gap_us});
    return run_.transfers.back();
  }

  void add_event(double time, Kind kind, uint32_t a, uint32_t b = 0) {
    events_.insert({time, kind, a, b, events_made_++});
  }

  void add_remote_arrivals(const SlowTransfer& t) {
    const uint32_t producer = graph_.producer(t.output);
    for (uint32_t consumer : graph_.consumers(t.output)) {
      if (t.destinations.count(device(consumer)) == 1) {
        add_event(t.arrival_us, kArrival, producer, consumer);
      }
    }
  }

  // Rules 1 and 4.
  void join(uint32_t node, double now) {
    const uint32_t d = device(node);
    compute_[d].push_back(node);
    if (!device_idle_[d]) return;
    device_idle_[d] = false;
    add_event(now, kDeviceFree, d);
  }

  // Rule 2.
  void device_free(uint32_t d, double now) {
    std::deque<uint32_t>& queue = compute_[d];
    if (queue.empty()) {
      device_idle_[d] = true;
      return;
    }
    auto head = queue.begin();
    if (rules_.dispatch == Dispatch::kPriority) {
      const auto rank = problem_.upward_rank();
      head = std::min_element(queue.begin(), queue.end(), [&](uint32_t x, uint32_t y) {
        return rank[x] != rank[y] ? rank[x] > rank[y] : x < y;
      });
    }
    const uint32_t node = *head;
    queue.erase(head);
    const double cost = problem_.run_us(node, d), finish = now + cost;
    run_.start_us[node] = now;
    run_.finish_us[node] = finish;
    add_event(cost == 0 ? finish : finish + rules_.op_gap_us, kDeviceFree, d);
    for (const OutEdge& e : graph_.out_edges(node)) {
      if (e.output == kControlEdge || device(e.target) == d) {
        add_event(finish, kArrival, node, e.target);
      }
    }
    for (const Parcel& parcel : parcels_of(node)) {
      if (rules_.contention == Contention::kNone) {
        add_remote_arrivals(transfer(parcel, finish));
        continue;
      }
      const uint32_t channel = channel_of(parcel);
      egress_[channel].push_back(parcel);
      if (!egress_idle_[channel]) continue;
      egress_idle_[channel] = false;
      add_event(finish, kEgressFree, channel);
    }
  }

  // Rule 3.
  void egress_free(uint32_t channel, double now) {
    if (egress_[channel].empty()) {
      egress_idle_[channel] = true;
      return;
    }
    const Parcel head = egress_[channel].front();
    const double ready = run_.finish_us[graph_.producer(head.output)];
    if (ready > now) {
      add_event(ready, kEgressFree, channel);
      return;
    }
    egress_[channel].pop_front();
    const SlowTransfer& t = transfer(head, now);
    add_remote_arrivals(t);
    add_event(t.end_us + t.gap_us, kEgressFree, channel);
  }

  void run_events() {
    compute_.resize(topology_.device_count());
    egress_.resize(topology_.channel_count());
    device_idle_.assign(topology_.device_count(), true);
    egress_idle_.assign(topology_.channel_count(), true);
    std::vector<size_t> unmet(graph_.node_count(), 0);
    for (const EdgeSpec& e : graph_.spec().edges) ++unmet[e.target];
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      if (unmet[v] == 0) join(v, 0);
    }
    while (!events_.empty()) {
      const Event event = *events_.begin();
      events_.erase(events_.begin());
      run_.drain_us = event.time;
      if (event.kind == kDeviceFree) device_free(event.a, event.time);
      if (event.kind == kEgressFree) egress_free(event.a, event.time);
      if (event.kind == kArrival && --unmet[event.b] == 0) join(event.b, event.time);
    }
  }

  // One node or transfer at a time: see runtime/cost/serial.h.
  void run_serially() {
    std::vector<size_t> unmet(graph_.node_count(), 0);
    for (const EdgeSpec& e : graph_.spec().edges) ++unmet[e.target];
    std::set<uint32_t> ready;
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      if (unmet[v] == 0) ready.insert(v);
    }
    double clock = 0;
    while (!ready.empty()) {
      const uint32_t node = *ready.begin();
      ready.erase(ready.begin());
      const double cost = problem_.run_us(node, device(node));
      run_.start_us[node] = clock;
      run_.finish_us[node] = clock + cost;
      double free = run_.finish_us[node];
      for (const Parcel& parcel : parcels_of(node)) {
        const SlowTransfer& t = transfer(parcel, free);
        free = std::max(t.arrival_us, t.end_us + t.gap_us);
      }
      clock = run_.finish_us[node] + (cost == 0 ? 0 : rules_.op_gap_us);
      clock = std::max(clock, free);
      for (const EdgeSpec& e : graph_.spec().edges) {
        if (e.source == node && --unmet[e.target] == 0) ready.insert(e.target);
      }
    }
    run_.drain_us = clock;
  }

  // See runtime/cost/staged.h.
  void run_staged() {
    stages_ = run_stages_slowly(problem_, device_of_);
    run_.start_us = stages_.start_us;
    run_.finish_us = stages_.finish_us;
    run_.drain_us = stages_.drain_us;
    for (const SlowStages::Sent& t : stages_.sent) {
      run_.transfers.push_back(
          {t.output, t.channel, t.destinations, t.start_us, t.end_us, t.arrival_us, t.gap_us});
    }
  }

  void measure_bottleneck() {
    std::map<uint32_t, double> devices = stages_.device_busy_us;
    for (uint32_t v = 0; v < graph_.node_count() && stages_.stage_of.empty(); ++v) {
      const double cost = problem_.run_us(v, device(v));
      devices[device(v)] += cost == 0 ? 0 : cost + rules_.op_gap_us;
    }
    run_.bottleneck_us = bottleneck_slowly(problem_, device_of_, devices, run_.transfers);
  }

  // Held from `from` until just before `to`.
  struct Hold {
    uint32_t device;
    double from, to;
    uint64_t bytes;
  };

  double last_use(uint32_t output, uint32_t on_device, double otherwise) const {
    double last = otherwise;
    for (uint32_t w : graph_.consumers(output)) {
      if (device(w) == on_device) last = std::max(last, run_.finish_us[w]);
    }
    if (stages_.stage_of.empty()) return last;
    // A session holds what enters and leaves it until it ends.
    const uint32_t producer = graph_.producer(output), maker = stages_.stage_of[producer];
    for (uint32_t w : graph_.consumers(output)) {
      const uint32_t reader = stages_.stage_of[w];
      if (reader == maker) continue;
      if (device(w) == on_device) last = std::max(last, stages_.stage_end_us[reader]);
      if (device(producer) == on_device) last = std::max(last, stages_.stage_end_us[maker]);
    }
    return last;
  }

  void measure_memory() {
    std::vector<Hold> holds;
    run_.peak_memory_bytes.assign(topology_.device_count(), 0);
    std::vector<uint64_t> resident(topology_.device_count(), 0);
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      const NodeSpec& node = graph_.node(v);
      resident[device(v)] += node.resident_bytes;
      holds.push_back({device(v), run_.start_us[v], run_.finish_us[v], node.workspace_bytes});
      for (uint32_t o = graph_.output_begin(v); o < graph_.output_end(v); ++o) {
        const double last = last_use(o, device(v), run_.finish_us[v]);
        holds.push_back({device(v), run_.start_us[v], last, graph_.output_bytes(o)});
      }
    }
    for (const SlowTransfer& t : run_.transfers) {
      for (uint32_t to : t.destinations) {
        const double last = last_use(t.output, to, t.arrival_us);
        holds.push_back({to, t.arrival_us, last, graph_.output_bytes(t.output)});
      }
    }
    // The sum only grows where something begins: look there, and at nothing held at all.
    for (uint32_t d = 0; d < topology_.device_count(); ++d) {
      run_.peak_memory_bytes[d] = resident[d];
      for (const Hold& moment : holds) {
        if (moment.device != d) continue;
        uint64_t held = resident[d];
        for (const Hold& h : holds) {
          if (h.device == d && h.from <= moment.from && moment.from < h.to) held += h.bytes;
        }
        run_.peak_memory_bytes[d] = std::max(run_.peak_memory_bytes[d], held);
      }
    }
  }

  const Problem& problem_;
  const Graph& graph_;
  const Topology& topology_;
  const TopologySpec& rules_;
  std::vector<uint32_t> device_of_;
  SlowRun run_;
  SlowStages stages_;  // of staged execution
  std::set<Event> events_;
  uint64_t events_made_ = 0;
  std::vector<std::deque<uint32_t>> compute_;
  std::vector<std::deque<Parcel>> egress_;
  std::vector<bool> device_idle_, egress_idle_;
};

inline SlowRun evaluate_slowly(const Problem& problem, std::span<const uint32_t> assignment) {
  return SlowEvaluator(problem, assignment).run();
}

// Upward rank straight from its definition: mean run time over the devices that can run the node,
// plus the largest (mean transfer time + rank of the target) over the out-edges; means of transfer
// times over ordered pairs of distinct devices.
inline std::vector<double> rank_slowly(const Problem& problem) {
  const Graph& graph = problem.graph();
  const Topology& topology = problem.topology();
  const uint32_t devices = topology.device_count();
  const bool unicast = topology.spec().transfer == Transfer::kUnicast;
  const auto mean_transfer = [&](uint32_t output) {
    double sum = 0, pairs = 0;
    for (uint32_t a = 0; a < devices; ++a) {
      for (uint32_t b = 0; b < devices; ++b) {
        if (a == b) continue;
        const LinkParameters& link = topology.link(a, b);
        sum += static_cast<double>(graph.output_bytes(output)) / link.bandwidth_bytes_per_us;
        sum += unicast ? link.latency_us : 0;
        ++pairs;
      }
    }
    return pairs == 0 ? 0 : sum / pairs;
  };
  std::vector<double> rank(graph.node_count());
  const auto order = graph.topological_order();
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    double run = 0, able = 0, longest = 0;
    for (uint32_t d = 0; d < devices; ++d) {
      if (problem.run_us(*v, d) == std::numeric_limits<double>::infinity()) continue;
      run += problem.run_us(*v, d);
      ++able;
    }
    for (const OutEdge& e : graph.out_edges(*v)) {
      const double transfer = e.output == kControlEdge ? 0 : mean_transfer(e.output);
      longest = std::max(longest, transfer + rank[e.target]);
    }
    rank[*v] = run / able + longest;
  }
  return rank;
}

}  // namespace placeto::test
