// Depth-first branch and bound over the groups in topological order, those that only one device may
// run decided beforehand. A branch is a prefix of them with devices; it is left when no completion
// can be better than the best placement known.
//
// Event simulation is no help there: a run of part of the graph may take longer than one of the
// whole (Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 1969). So bounds
// use what holds of every run: a path takes its run times and, between devices that are known, its
// transfers; a device or channel serves one thing at a time, between the heads and tails of what it
// serves (Carlier, "The one-machine sequencing problem", EJOR 1982).
#include "runtime/search/exhaustive.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/base/no_index.h"
#include "runtime/base/saturating.h"
#include "runtime/base/stoppable_sort.h"
#include "runtime/cost/memory.h"
#include "runtime/cost/twins.h"

namespace placeto {
namespace {
// Bounds add in another order than the simulator. What could only be better by less is no better,
// so that a proof is one up to 1e-9 of the objective.
constexpr double kRoundedUp = 1 + 1e-9;

uint32_t first_allowed(const Problem& problem, uint32_t group, uint32_t from) {
  while (from < problem.device_count() && !problem.allowed(group, from)) ++from;
  return from;
}
bool has_choice(const Problem& problem, uint32_t group) {
  const uint32_t first = first_allowed(problem, group, 0);
  return first_allowed(problem, group, first + 1) < problem.device_count();
}

// What one device or channel has to serve, one after the other.
struct Job {
  double head_us, run_us, gap_us, tail_us;
};

// The bound of the jobs with the latest heads, however many: they cannot begin before the least of
// these heads, and the last of them has at least the least tail behind it.
double one_machine_us(std::vector<Job>& jobs, Uncleared<Job>& scratch) {
  stoppable_sort(
      jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.head_us > b.head_us; },
      nullptr, &scratch);
  double work = 0, gap = 0, tail = kNever, bound = 0;
  for (const Job& job : jobs) {
    work += job.run_us + job.gap_us;
    gap = std::max(gap, job.gap_us);
    tail = std::min(tail, job.tail_us);
    bound = std::max(bound, job.head_us + work - gap + tail);
  }
  return bound;
}

// Lower bounds of every completion of a branch.
class BranchBound {
 public:
  BranchBound(const Problem& problem, Stop* stop)
      : problem_(problem),
        stop_(stop),
        graph_(problem.graph()),
        spec_(problem.topology().spec()),
        devices_(problem.device_count()),
        twin_(first_twins(problem, stop)),
        finish_us_(size_t{problem.node_count()} * devices_),
        tail_us_(finish_us_.size()),
        jobs_(std::max(devices_, problem.topology().channel_count())),
        running_bytes_(bytes_while_running(problem, stop)) {}

  uint32_t first_twin(uint32_t device) const { return twin_[device]; }

  // `device_of`: of every group, kNoIndex if it is free. Times are looked at where bytes alone do
  // not say which is better, this or `best`. Nothing once stopped.
  Score bound(std::span<const uint32_t> device_of, const Score& best) {
    device_of_ = device_of;
    Score least;
    least.overflow_bytes = overflow_bytes();
    if (least.overflow_bytes != best.overflow_bytes) return least;
    choose_devices();
    double us = 0;
    if (problem_.objective() == Objective::kThroughput) {
      us = std::max(busiest_us(), work_us(0));
    } else if (spec_.execution == Execution::kSerial) {
      us = serial_us();
    } else {
      us = std::max({path_us(), devices_us(), channels_us(), work_us(problem_.op_gap_us())});
    }
    least.objective_us = kRoundedUp * us;
    return least;
  }

 private:
  // Where free groups may go: of twins without a group, one speaks for all.
  void choose_devices() {
    used_.assign(devices_, false);
    open_.clear();
    for (const uint32_t d : device_of_) {
      if (d != kNoIndex) used_[d] = true;
    }
    empty_.assign(devices_, true);
    for (uint32_t d = 0; d < devices_; ++d) {
      if (used_[d] || empty_[twin_[d]]) open_.push_back(d);
      if (!used_[d]) empty_[twin_[d]] = false;
    }
  }

  uint32_t device(uint32_t node) const { return device_of_[problem_.group_of(node)]; }

  template <class Visit>
  void each_device(uint32_t node, Visit visit) const {
    const uint32_t group = problem_.group_of(node);
    if (device_of_[group] != kNoIndex) return visit(device_of_[group]);
    for (const uint32_t d : open_) {
      if (problem_.allowed(group, d)) visit(d);
    }
  }
  // Transfer and latency: no copy arrives earlier, whatever the rules.
  double transfer_us(uint32_t output, uint32_t from, uint32_t to) const {
    if (output == kControlEdge || from == to) return 0;
    const double us = problem_.transfer_us(output, from, to);
    return us + problem_.topology().latency_us(from, to);
  }

  // Longest paths: each node, on each device it may have, after the predecessors at their best.
  double path_us() {
    const auto order = graph_.topological_order();
    for (const uint32_t v : order) {
      each_device(v, [&](uint32_t d) {
        double ready = 0;
        for (const InEdge& in : watched(graph_.in_edges(v), stop_, open_.size() + 1)) {
          double least = kNever;
          each_device(in.source, [&](uint32_t e) {
            if (together(v, in.source) && e != d) return;
            least = std::min(least, finish_us_[at(in.source, e)] + transfer_us(in.output, e, d));
          });
          ready = std::max(ready, least);
        }
        finish_us_[at(v, d)] = ready + problem_.run_us(v, d);
        spend(stop_, (1 + open_.size()) * graph_.in_edges(v).size());
      });
    }
    double longest = 0;
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
      double least = kNever;
      each_device(*v, [&](uint32_t d) {
        double tail = 0;
        for (const OutEdge& out : watched(graph_.out_edges(*v), stop_, open_.size() + 1)) {
          tail = std::max(tail, tail_behind_us(*v, d, out));
        }
        tail_us_[at(*v, d)] = tail;
        spend(stop_, (1 + open_.size()) * graph_.out_edges(*v).size());
        least = std::min(least, finish_us_[at(*v, d)] + tail);
      });
      longest = std::max(longest, least);
    }
    return longest;
  }
  double tail_behind_us(uint32_t node, uint32_t from, const OutEdge& out) const {
    double least = kNever;
    each_device(out.target, [&](uint32_t e) {
      if (together(node, out.target) && e != from) return;
      least = std::min(least, transfer_us(out.output, from, e) + problem_.run_us(out.target, e) +
                                  tail_us_[at(out.target, e)]);
    });
    return least;
  }
  bool together(uint32_t a, uint32_t b) const {
    return problem_.group_of(a) == problem_.group_of(b);
  }

  // After path_us().
  double devices_us() {
    for (auto& jobs : jobs_) jobs.clear();
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      const uint32_t d = device(v);
      if (d == kNoIndex) continue;
      const double run = problem_.run_us(v, d);
      jobs_[d].push_back(
          {finish_us_[at(v, d)] - run, run, problem_.gap_after_us(run), tail_us_[at(v, d)]});
    }
    return longest_of_jobs();
  }

  // Transfers between groups that both have a device. After path_us().
  double channels_us() {
    if (spec_.contention == Contention::kNone) return 0;
    for (auto& jobs : jobs_) jobs.clear();
    each_transfer(
        [&](uint32_t output, uint32_t from, uint32_t to, uint32_t channel, double us, double tail) {
          const double gap = problem_.topology().uniform_links() ? spec_.default_link.gap_us : 0;
          const double head = finish_us_[at(graph_.producer(output), from)];
          (void)to;
          jobs_[channel].push_back({head, us, gap, tail});
        });
    return longest_of_jobs();
  }

  // Under broadcast one for each output, which takes the longest of its links at least.
  template <class Visit>
  void each_transfer(Visit visit) {
    const bool unicast = spec_.transfer == Transfer::kUnicast;
    for (uint32_t o = 0; o < graph_.output_count(); ++o) {
      const uint32_t from = device(graph_.producer(o));
      if (from == kNoIndex) continue;
      double longest = -1, longest_tail = 0;
      for (const uint32_t to : open_) {
        if (to == from) continue;
        double tail = -1;
        for (const uint32_t w : watched(graph_.consumers(o), stop_)) {
          if (device(w) != to) continue;
          tail = std::max(tail, problem_.run_us(w, to) + tail_us_[at(w, to)]);
        }
        if (tail < 0) continue;
        const double us = problem_.transfer_us(o, from, to);
        if (unicast) {
          visit(o, from, to, problem_.topology().channel(from, to), us,
                tail + problem_.topology().latency_us(from, to));
        }
        longest = std::max(longest, us);
        longest_tail = std::max(longest_tail, tail);
      }
      if (!unicast && longest >= 0) visit(o, from, from, from, longest, longest_tail);
    }
  }

  double longest_of_jobs() {
    double longest = 0;
    for (auto& jobs : jobs_) longest = std::max(longest, one_machine_us(jobs, sorted_));
    return longest;
  }

  // All work over all devices; free groups at their cheapest. Where gaps are long beside the runs,
  // what is left of the sum is no more than what rounding did to it.
  double work_us(double last_gap_us) const {
    double sum = 0;
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      double least = kNever;
      each_device(v, [&](uint32_t d) { least = std::min(least, problem_.occupied_us(v, d)); });
      sum += least;
    }
    constexpr double kSurely = 1 - 1e-12;
    return kSurely * sum / devices_ - last_gap_us;
  }

  double serial_us() {
    double sum = 0;
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      double least = kNever;
      each_device(v, [&](uint32_t d) { least = std::min(least, problem_.run_us(v, d)); });
      sum += least;
    }
    each_transfer([&sum](uint32_t, uint32_t, uint32_t, uint32_t, double us, double) { sum += us; });
    return sum;
  }

  double busiest_us() {
    std::vector<Job>& busy = jobs_[0];
    busy.assign(jobs_.size(), Job{});
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      if (device(v) != kNoIndex) busy[device(v)].run_us += problem_.occupied_us(v, device(v));
    }
    const double gap = problem_.topology().uniform_links() ? spec_.default_link.gap_us : 0;
    each_transfer([&](uint32_t, uint32_t, uint32_t, uint32_t channel, double us, double) {
      busy[channel].tail_us += us + gap;
    });
    double most = 0;
    for (const Job& job : busy) most = std::max({most, job.run_us, job.tail_us});
    return most;
  }

  // What has been placed takes its resident bytes on each device, and beside them the most that one
  // node needs while it runs; what has not goes where there is room, as if it could be cut to
  // measure.
  uint64_t overflow_bytes() {
    if (!problem_.memory_limited()) return 0;
    resident_.assign(devices_, 0);
    running_.assign(devices_, 0);
    uint64_t unplaced = 0;
    for (uint32_t g = 0; g < problem_.group_count(); ++g) {
      const uint32_t d = device_of_[g];
      if (d == kNoIndex) {
        unplaced += problem_.resident_bytes(g);
      } else {
        resident_[d] += problem_.resident_bytes(g);
        running_[d] = std::max(running_[d], running_bytes_[g]);
      }
    }
    uint64_t sum = 0;
    for (uint32_t d = 0; d < devices_; ++d) {
      const uint64_t limit = problem_.memory_limit(d), held = resident_[d] + running_[d];
      if (held > limit) sum = saturating_add(sum, held - limit);
      if (held < limit) unplaced -= std::min(unplaced, limit - held);
    }
    return saturating_add(sum, unplaced);
  }

  size_t at(uint32_t node, uint32_t device) const { return size_t{node} * devices_ + device; }

  const Problem& problem_;
  Stop* stop_;
  const Graph& graph_;
  const TopologySpec& spec_;
  uint32_t devices_;
  std::span<const uint32_t> device_of_;
  std::vector<uint32_t> twin_, open_;
  std::vector<bool> used_, empty_;
  std::vector<double> finish_us_, tail_us_;   // least ones, by node and device
  std::vector<std::vector<Job>> jobs_;        // by device or channel
  Uncleared<Job> sorted_;                     // room to sort them
  std::vector<uint64_t> running_bytes_;       // of each group
  std::vector<uint64_t> resident_, running_;  // of each device
};

class Tree {
 public:
  Tree(const Problem& problem, uint64_t branches, Stop* stop, Candidate& best)
      : problem_(problem),
        stop_(stop),
        left_(branches),
        bound_(problem, stop),
        evaluator_(problem, stop),
        best_(best),
        device_of_(problem.group_count(), kNoIndex),
        assignment_(problem.node_count()) {
    std::vector<bool> seen(problem.group_count(), false);
    for (const uint32_t v : problem.graph().topological_order()) {
      const uint32_t g = problem.group_of(v);
      if (seen[g]) continue;
      seen[g] = true;
      if (has_choice(problem, g)) {
        order_.push_back(g);
      } else {
        device_of_[g] = first_allowed(problem, g, 0);
      }
    }
    children_.resize(order_.size());
  }

  // False if it ran out of branches, or was stopped.
  bool search() {
    const Score bound = bound_.bound(device_of_, best_.score);
    if (stopped(stop_)) return false;
    return bound < best_.score ? branch(0) : true;
  }

 private:
  struct Child {
    uint32_t device;
    Score bound;
  };

  bool branch(uint32_t depth) {
    if (depth == order_.size()) return complete();
    const uint32_t group = order_[depth];
    std::vector<Child>& children = children_[depth];
    children.clear();
    for (uint32_t d = 0; d < problem_.device_count(); ++d) {
      if (!problem_.allowed(group, d) || has_empty_twin_before(d)) continue;
      if (left_ == 0 || spend(stop_, problem_.node_count())) return false;
      --left_;
      device_of_[group] = d;
      const Score bound = bound_.bound(device_of_, best_.score);
      device_of_[group] = kNoIndex;
      if (bound < best_.score) children.push_back({d, bound});
    }
    if (stopped(stop_)) return false;
    insertion_sort(children.data(), children.data() + children.size(),
                   [](const Child& a, const Child& b) { return a.bound < b.bound; });
    for (const Child& child : children) {
      if (!(child.bound < best_.score)) break;
      device_of_[group] = child.device;
      if (!branch(depth + 1)) return false;
    }
    device_of_[group] = kNoIndex;
    return true;
  }

  // Then that one stands for this one.
  bool has_empty_twin_before(uint32_t device) const {
    const auto empty = [this](uint32_t d) {
      return std::find(device_of_.begin(), device_of_.end(), d) == device_of_.end();
    };
    for (uint32_t d = bound_.first_twin(device); d < device; ++d) {
      if (bound_.first_twin(d) == bound_.first_twin(device) && empty(d)) return empty(device);
    }
    return false;
  }

  bool complete() {
    for (uint32_t v = 0; v < assignment_.size(); ++v) {
      assignment_[v] = device_of_[problem_.group_of(v)];
    }
    const Score score = evaluator_.evaluate(assignment_);
    if (stopped(stop_)) return false;
    if (score < best_.score) {
      best_.score = score;
      best_.assignment = assignment_;
    }
    return true;
  }

  const Problem& problem_;
  Stop* stop_;
  uint64_t left_;
  BranchBound bound_;
  Evaluator evaluator_;
  Candidate& best_;
  std::vector<uint32_t> order_, device_of_;  // groups; of each group
  Assignment assignment_;
  std::vector<std::vector<Child>> children_;  // by depth
};

// Groups that several devices may run; counted up to one more than kMostExactGroups.
uint32_t open_groups(const Problem& problem) {
  uint32_t open = 0;
  for (uint32_t g = 0; g < problem.group_count() && open <= kMostExactGroups; ++g) {
    open += has_choice(problem, g);
  }
  return open;
}

}  // namespace

bool exact_applies(const Problem& problem) {
  const Execution execution = problem.topology().spec().execution;
  const bool known = execution == Execution::kParallel || execution == Execution::kSerial;
  constexpr uint64_t kMostTable = 10'000;  // nodes x devices
  if (!known || uint64_t{problem.node_count()} * problem.device_count() > kMostTable) return false;
  return open_groups(problem) <= kMostExactGroups;
}

uint64_t most_branches(const Problem& problem) {
  constexpr uint64_t kMost = 2'000'000, kWork = 400'000'000;  // edges x pairs of devices
  const Graph& graph = problem.graph();
  const uint64_t pairs = uint64_t{problem.device_count()} * problem.device_count();
  return std::min(kMost, kWork / ((uint64_t{graph.node_count()} + graph.edge_count()) * pairs));
}

uint64_t exact_branches(const Problem& problem) {
  constexpr uint32_t kSurely = 12;
  constexpr uint64_t kLittle = 2'000, kNodes = 100;  // fewer where most of many nodes are decided
  const uint64_t most = most_branches(problem);
  if (open_groups(problem) <= kSurely) return most;
  return std::min(most, kLittle * kNodes / std::max<uint64_t>(kNodes, problem.node_count()));
}

bool exhaustive_search(const Problem& problem, uint64_t branches, Stop* stop, Candidate& best) {
  return Tree(problem, branches, stop, best).search();
}

}  // namespace placeto
