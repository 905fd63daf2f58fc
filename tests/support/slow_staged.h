// Staged execution once more, as slowly and plainly as possible: an oracle for tests.
//
// Written from the rules in runtime/cost/staged.h and stages.h alone. Everything is looked for by
// going through all of it, again at every step.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/cost/stages.h"

namespace placeto::test {

// Reads nothing, and everything that reads it is on its device.
inline bool waits_for_readers(const Graph& graph, std::span<const uint32_t> device_of, uint32_t v) {
  const auto out = graph.out_edges(v);
  return graph.in_edges(v).empty() && !out.empty() &&
         std::all_of(out.begin(), out.end(),
                     [&](const OutEdge& e) { return device_of[e.target] == device_of[v]; });
}

// Whether the node can be taken, with those taken that have a stage.
inline bool can_be_taken(const Graph& graph, std::span<const uint32_t> device_of,
                         const std::vector<uint32_t>& stage_of, uint32_t v) {
  if (stage_of[v] != kNoIndex || waits_for_readers(graph, device_of, v)) return false;
  const auto in = graph.in_edges(v);
  return std::all_of(in.begin(), in.end(), [&](const InEdge& e) {
    return stage_of[e.source] != kNoIndex || waits_for_readers(graph, device_of, e.source);
  });
}

// Stages by definition: sweeps over all nodes until nothing more can be taken.
inline std::vector<uint32_t> peel_slowly(const Graph& graph, std::span<const uint32_t> device_of,
                                         uint32_t devices, uint32_t device) {
  std::vector<uint32_t> stage_of(graph.node_count(), kNoIndex);
  for (uint32_t stage = 0;; ++stage) {
    for (bool more = true; more;) {
      more = false;
      for (uint32_t v = 0; v < graph.node_count(); ++v) {
        if (device_of[v] != device || !can_be_taken(graph, device_of, stage_of, v)) continue;
        stage_of[v] = stage;
        more = true;
      }
    }
    std::vector<uint32_t> waiting(devices, 0);
    for (uint32_t v = 0; v < graph.node_count(); ++v) {
      waiting[device_of[v]] += can_be_taken(graph, device_of, stage_of, v) ? 1 : 0;
    }
    device =
        static_cast<uint32_t>(std::max_element(waiting.begin(), waiting.end()) - waiting.begin());
    if (waiting[device] != 0) continue;
    for (uint32_t v = 0; v < graph.node_count(); ++v) {
      for (const OutEdge& e : graph.out_edges(v)) {
        if (!waits_for_readers(graph, device_of, v)) break;
        stage_of[v] = std::min(stage_of[v], stage_of[e.target]);
      }
    }
    return stage_of;
  }
}

inline uint32_t count_stages(const std::vector<uint32_t>& stage_of) {
  return static_cast<uint32_t>(std::set<uint32_t>(stage_of.begin(), stage_of.end()).size());
}

// Changes of the device on the longest way to the node, or from it.
inline uint32_t crossings_slowly(const Graph& graph, std::span<const uint32_t> device_of,
                                 uint32_t node, bool from) {
  uint32_t most = 0;
  const auto look = [&](uint32_t other) {
    const uint32_t crosses = device_of[other] != device_of[node] ? 1 : 0;
    most = std::max(most, crosses + crossings_slowly(graph, device_of, other, from));
  };
  if (from) {
    for (const OutEdge& e : graph.out_edges(node)) look(e.target);
  } else {
    for (const InEdge& e : graph.in_edges(node)) look(e.source);
  }
  return most;
}

inline std::vector<uint32_t> divide_slowly(const Problem& problem,
                                           std::span<const uint32_t> device_of, StageRule rule) {
  const Graph& graph = problem.graph();
  std::vector<uint32_t> best;
  if (rule == StageRule::kFewest) {
    const std::vector<uint32_t> none(graph.node_count(), kNoIndex);
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      bool starts = false;
      for (uint32_t v = 0; v < graph.node_count(); ++v) {
        starts |= device_of[v] == d && can_be_taken(graph, device_of, none, v);
      }
      if (!starts) continue;
      const auto stage_of = peel_slowly(graph, device_of, problem.device_count(), d);
      if (best.empty() || count_stages(stage_of) < count_stages(best)) best = stage_of;
    }
    return best;
  }
  best.assign(graph.node_count(), kNoIndex);
  if (rule == StageRule::kCrossings) {
    // Before, behind, device; what is equal is together. By difference, then in topological order.
    std::map<std::tuple<int64_t, int64_t, uint32_t>, std::vector<uint32_t>> together;
    std::vector<std::vector<uint32_t>*> found;
    for (const uint32_t v : graph.topological_order()) {
      const int64_t before = crossings_slowly(graph, device_of, v, false);
      const int64_t behind = crossings_slowly(graph, device_of, v, true);
      std::vector<uint32_t>& nodes = together[{before, behind, device_of[v]}];
      if (nodes.empty()) found.push_back(&nodes);
      nodes.push_back(v);
    }
    const auto difference = [&](const std::vector<uint32_t>* nodes) {
      return static_cast<int64_t>(crossings_slowly(graph, device_of, (*nodes)[0], false)) -
             static_cast<int64_t>(crossings_slowly(graph, device_of, (*nodes)[0], true));
    };
    std::stable_sort(found.begin(), found.end(),
                     [&](auto* a, auto* b) { return difference(a) < difference(b); });
    for (uint32_t s = 0; s < found.size(); ++s) {
      for (const uint32_t v : *found[s]) best[v] = s;
    }
    return best;
  }
  uint32_t stages = 0;
  std::map<uint32_t, uint32_t> last;  // device -> its last node so far
  for (uint32_t v : graph.topological_order()) {
    bool cut = last.count(device_of[v]) == 0;
    for (const InEdge& e : graph.in_edges(v)) cut |= device_of[e.source] != device_of[v];
    if (!cut) {
      for (const OutEdge& e : graph.out_edges(last[device_of[v]])) {
        cut |= device_of[e.target] != device_of[v];
      }
    }
    best[v] = cut ? stages++ : best[last[device_of[v]]];
    last[device_of[v]] = v;
  }
  return best;
}

struct SlowStages {
  struct Sent {
    uint32_t output, channel;
    std::set<uint32_t> destinations;
    double start_us, end_us, arrival_us, gap_us;
  };
  std::vector<uint32_t> stage_of;
  std::vector<double> stage_start_us, stage_end_us, start_us, finish_us;
  std::vector<Sent> sent;
  std::vector<uint32_t> started;  // stages
  std::map<uint32_t, double> device_busy_us;
  double makespan_us = 0, drain_us = 0;
};

class SlowStagedRun {
 public:
  // An empty order: the first stage that is ready.
  SlowStagedRun(const Problem& problem, std::span<const uint32_t> assignment,
                std::vector<uint32_t> stage_of, std::vector<uint32_t> order)
      : problem_(problem),
        graph_(problem.graph()),
        rules_(problem.topology().spec()),
        device_of_(assignment.begin(), assignment.end()),
        order_(std::move(order)) {
    run_.stage_of = std::move(stage_of);
    count_ = count_stages(run_.stage_of);
  }

  SlowStages run() {
    run_.stage_start_us.assign(count_, -1);
    run_.stage_end_us.assign(count_, -1);
    for (uint32_t s = 0; s < count_; ++s) {
      waits_.push_back(entering(s));
      for (const EdgeSpec& e : graph_.spec().edges) {
        if (e.output == kControlEdge && stage(e.target) == s && stage(e.source) != s) {
          controls_.push_back({stage(e.source), s});
        }
      }
    }
    double now = 0;
    for (;;) {
      for (bool more = true; more;) {  // until nothing happens any more at this time
        more = false;
        for (uint32_t d = 0; d < problem_.device_count(); ++d) {
          if (!running_.count(d) || run_.stage_end_us[running_[d]] != now) continue;
          const uint32_t s = running_[d];
          running_.erase(d);
          finish(s, now);
          more = true;
        }
        more |= start_stages(now);
      }
      std::optional<double> next;
      for (const auto& [d, s] : running_) {
        if (!next || run_.stage_end_us[s] < *next) next = run_.stage_end_us[s];
      }
      for (const auto& [key, time] : arrival_) {
        if (time > now && (!next || time < *next)) next = time;
      }
      if (!next) break;
      now = *next;
    }
    fill_nodes();
    return std::move(run_);
  }

 private:
  uint32_t stage(uint32_t node) const { return run_.stage_of[node]; }
  uint32_t device(uint32_t s) const {
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      if (stage(v) == s) return device_of_[v];
    }
    return 0;
  }
  std::set<uint32_t> readers(uint32_t output) const {  // other stages
    std::set<uint32_t> stages;
    for (uint32_t w : graph_.consumers(output)) stages.insert(stage(w));
    stages.erase(stage(graph_.producer(output)));
    return stages;
  }
  std::set<uint32_t> entering(uint32_t s) const {
    std::set<uint32_t> outputs;
    for (uint32_t o = 0; o < graph_.output_count(); ++o) {
      if (readers(o).count(s) == 1) outputs.insert(o);
    }
    return outputs;
  }
  std::set<uint32_t> leaving(uint32_t s) const {
    std::set<uint32_t> outputs;
    for (uint32_t o = 0; o < graph_.output_count(); ++o) {
      if (stage(graph_.producer(o)) == s && !readers(o).empty()) outputs.insert(o);
    }
    return outputs;
  }
  double price(uint32_t s, const std::set<uint32_t>& outputs) const {
    const DeviceSpec& spec = problem_.topology().device(device(s));
    double sum = 0;
    for (uint32_t o : outputs) {
      sum += spec.cut_us;
      if (spec.cut_bytes_per_us > 0) {
        sum += static_cast<double>(graph_.output_bytes(o)) / spec.cut_bytes_per_us;
      }
    }
    return sum;
  }
  double head(uint32_t s) const {
    return problem_.topology().device(device(s)).stage_us + price(s, entering(s));
  }
  double duration(uint32_t s) const {
    double work = 0;
    for (uint32_t v : graph_.topological_order()) {
      if (stage(v) == s) work += problem_.run_us(v, device_of_[v]);
    }
    return head(s) + work + price(s, leaving(s));
  }

  // When everything that the stage waits for is there; nothing while that is not known.
  std::optional<double> ready_us(uint32_t s) const {
    double ready = 0;
    for (uint32_t o : waits_[s]) {
      const auto found = arrival_.find({o, s});
      if (found == arrival_.end()) return std::nullopt;
      ready = std::max(ready, found->second);
    }
    for (const auto& [from, to] : controls_) {
      if (to != s) continue;
      if (done_.count(from) == 0) return std::nullopt;
      ready = std::max(ready, run_.stage_end_us[from]);
    }
    return ready;
  }
  double rank(uint32_t s) const {
    double most = 0;
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      if (stage(v) == s) most = std::max(most, problem_.upward_rank()[v]);
    }
    return most;
  }

  bool start_stages(double now) {
    bool any = false;
    for (uint32_t d = 0; d < problem_.device_count(); ++d) {
      if (running_.count(d) == 1) continue;
      std::optional<uint32_t> chosen;
      std::vector<uint32_t> list = order_;
      for (uint32_t s = 0; order_.empty() && s < count_; ++s) list.push_back(s);
      for (uint32_t s : list) {
        if (device(s) != d || run_.stage_start_us[s] >= 0) continue;
        const auto ready = ready_us(s);
        if (ready && *ready <= now && (!chosen || better(s, *chosen))) chosen = s;
        if (!order_.empty()) break;  // the first that has not run, or none
      }
      if (!chosen) continue;
      running_[d] = *chosen;
      run_.stage_start_us[*chosen] = now;
      run_.stage_end_us[*chosen] = now + duration(*chosen);
      run_.started.push_back(*chosen);
      run_.device_busy_us[d] += duration(*chosen);
      any = true;
    }
    return any;
  }
  bool better(uint32_t a, uint32_t b) const {
    if (rules_.dispatch == Dispatch::kPriority) {
      return rank(a) != rank(b) ? rank(a) > rank(b) : a < b;
    }
    return *ready_us(a) != *ready_us(b) ? *ready_us(a) < *ready_us(b) : a < b;
  }

  void finish(uint32_t s, double now) {
    done_.insert(s);
    run_.makespan_us = std::max(run_.makespan_us, now);
    run_.drain_us = std::max(run_.drain_us, now);
    for (uint32_t o : leaving(s)) {
      std::set<uint32_t> elsewhere;
      for (uint32_t reader : readers(o)) {
        if (device(reader) == device(s)) {
          arrival_[{o, reader}] = now;
        } else {
          elsewhere.insert(device(reader));
        }
      }
      if (rules_.transfer == Transfer::kBroadcast) {
        if (!elsewhere.empty()) send(o, s, elsewhere, now);
      } else {
        for (uint32_t d : elsewhere) send(o, s, {d}, now);
      }
    }
  }

  void send(uint32_t output, uint32_t s, const std::set<uint32_t>& destinations, double now) {
    const Topology& topology = problem_.topology();
    const bool unicast = rules_.transfer == Transfer::kUnicast;
    LinkParameters link{std::numeric_limits<double>::infinity(), 0, 0};
    for (uint32_t d : destinations) {
      const LinkParameters& other = topology.link(device(s), d);
      const bool slower = other.bandwidth_bytes_per_us < link.bandwidth_bytes_per_us ||
                          (other.bandwidth_bytes_per_us == link.bandwidth_bytes_per_us &&
                           other.gap_us > link.gap_us);
      if (slower) link = other;
    }
    const uint32_t channel =
        unicast ? topology.channel(device(s), *destinations.begin()) : device(s);
    const bool waits = rules_.contention == Contention::kEgress;
    const double start = waits ? std::max(now, channel_free_us_[channel]) : now;
    const double end =
        start + static_cast<double>(graph_.output_bytes(output)) / link.bandwidth_bytes_per_us;
    const double arrival = end + (unicast ? link.latency_us : 0);
    if (waits) channel_free_us_[channel] = end + link.gap_us;
    run_.drain_us = std::max({run_.drain_us, arrival, waits ? end + link.gap_us : end});
    run_.sent.push_back({output, channel, destinations, start, end, arrival, link.gap_us});
    for (uint32_t reader : readers(output)) {
      if (destinations.count(device(reader)) == 1) arrival_[{output, reader}] = arrival;
    }
  }

  void fill_nodes() {
    run_.start_us.assign(graph_.node_count(), -1);
    run_.finish_us.assign(graph_.node_count(), -1);
    for (uint32_t s = 0; s < count_; ++s) {
      double passed = head(s);
      for (uint32_t v : graph_.topological_order()) {
        if (stage(v) != s) continue;
        run_.start_us[v] = run_.stage_start_us[s] + passed;
        passed += problem_.run_us(v, device_of_[v]);
        run_.finish_us[v] = run_.stage_start_us[s] + passed;
      }
    }
  }

  const Problem& problem_;
  const Graph& graph_;
  const TopologySpec& rules_;
  std::vector<uint32_t> device_of_, order_;
  uint32_t count_ = 0;
  SlowStages run_;
  std::vector<std::set<uint32_t>> waits_;                    // per stage: outputs
  std::vector<std::pair<uint32_t, uint32_t>> controls_;      // stages: from, to
  std::map<std::pair<uint32_t, uint32_t>, double> arrival_;  // (output, stage)
  std::set<uint32_t> done_;
  std::map<uint32_t, uint32_t> running_;  // device -> stage
  std::map<uint32_t, double> channel_free_us_;
};

// The sets that a run has been at when it is through with a node, for each node.
inline std::vector<std::set<std::string>> sets_met(const Problem& problem) {
  std::vector<std::set<std::string>> met(problem.node_count());
  for (const uint32_t v : problem.graph().topological_order()) {
    const std::string& set = problem.graph().node(v).colocate;
    if (!set.empty()) met[v].insert(set);
    for (const OutEdge& e : problem.graph().out_edges(v)) {
      met[e.target].insert(met[v].begin(), met[v].end());
    }
  }
  return met;
}

// Whether the node, or one that shares its device by the graph, has no run time there.
inline bool cannot_be_on(const Problem& problem, uint32_t node, uint32_t device) {
  const Graph& graph = problem.graph();
  const std::string& set = graph.node(node).colocate;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const bool together = v == node || (!set.empty() && graph.node(v).colocate == set);
    if (together && std::isinf(problem.run_us(v, device))) return true;
  }
  return false;
}

// The busiest device, channel or intake of a device; devices in a circle are one, unless the graph
// makes a run come back.
template <class Transfers>
double bottleneck_slowly(const Problem& problem, std::span<const uint32_t> device_of,
                         std::map<uint32_t, double> devices, const Transfers& transfers) {
  const Graph& graph = problem.graph();
  const std::vector<std::set<std::string>> met = sets_met(problem);
  std::map<uint32_t, std::set<uint32_t>> reached;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t v = 0; v < graph.node_count(); ++v) {
      for (const OutEdge& e : graph.out_edges(v)) {
        const uint32_t from = device_of[v], to = device_of[e.target];
        const bool cannot = cannot_be_on(problem, e.target, from);
        if (from == to || met[v].contains(graph.node(e.target).colocate) || cannot) continue;
        more |= reached[from].insert(to).second;
        for (const uint32_t next : std::set<uint32_t>(reached[to])) {
          more |= reached[from].insert(next).second;
        }
      }
    }
  }
  const auto one = [&](uint32_t a, uint32_t b) {
    return a == b || (reached[a].contains(b) && reached[b].contains(a));
  };
  std::map<uint32_t, double> channels, intakes, circles;
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    for (const auto& [other, us] : devices) circles[d] += one(d, other) ? us : 0;
  }
  for (const auto& t : transfers) {
    const double us = t.end_us - t.start_us + t.gap_us;
    const uint32_t source = device_of[graph.producer(t.output)];
    bool inside = false;
    channels[t.channel] += us;
    for (const uint32_t to : t.destinations) {
      intakes[to] += us;
      inside |= one(source, to);
    }
    for (uint32_t d = 0; d < problem.device_count() && inside; ++d) {
      circles[d] += one(d, source) ? us : 0;
    }
  }
  double most = 0;
  for (const auto* busy : {&channels, &intakes, &circles}) {
    for (const auto& [_, us] : *busy) most = std::max(most, us);
  }
  return most;
}

// The best rule's run, by makespan or bottleneck.
inline SlowStages run_stages_slowly(const Problem& problem, std::span<const uint32_t> assignment) {
  std::optional<SlowStages> best;
  double least = 0;
  for (StageRule rule : kStageRules) {
    SlowStages run =
        SlowStagedRun(problem, assignment, divide_slowly(problem, assignment, rule), {}).run();
    double objective = run.makespan_us;
    if (problem.objective() == Objective::kThroughput) {
      objective = bottleneck_slowly(problem, assignment, run.device_busy_us, run.sent);
    }
    if (best && objective >= least) continue;
    least = objective;
    best = std::move(run);
  }
  return *best;
}

}  // namespace placeto::test
