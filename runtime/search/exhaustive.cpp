// Depth-first branch and bound over the groups in topological order, those that only one device may
// run decided beforehand. A branch is a prefix of them with devices; it is left when no completion
// can be better than the best placement known (branch_bound.h).
#include "runtime/search/exhaustive.h"

#include <algorithm>
#include <optional>

#include "runtime/base/no_index.h"
#include "runtime/base/stoppable_sort.h"
#include "runtime/cost/bottleneck.h"
#include "runtime/cost/rounding.h"
#include "runtime/search/branch_bound.h"
#include "runtime/search/division_search.h"
#include "runtime/timeline/order.h"

namespace placeto {
namespace {

bool has_choice(const Problem& problem, uint32_t group) {
  const uint32_t first = problem.next_allowed(group, 0);
  return problem.next_allowed(group, first + 1) < problem.device_count();
}

class Tree {
 public:
  Tree(const Problem& problem, uint64_t branches, Stop* stop, Candidate& best)
      : problem_(problem),
        stop_(stop),
        left_(branches),
        bound_(problem, stop),
        evaluator_(problem, stop),
        bottleneck_(problem),
        best_(best),
        device_of_(problem.group_count(), kNoIndex),
        assignment_(problem.node_count()),
        stands_for_(problem.device_count()),
        taken_(problem.device_count(), false) {
    for (const uint32_t g : groups_in_topological_order(problem, stop)) {
      if (has_choice(problem, g)) {
        order_.push_back(g);
      } else {
        device_of_[g] = problem.next_allowed(g, 0);
      }
    }
    children_.resize(order_.size());
    if (problem.is_staged() && problem.is_for_latency()) divisions_.emplace(evaluator_);
  }

  // False if it ran out of branches, or was stopped.
  bool search() {
    const Score bound = bound_.bound(device_of_, best_.score);
    if (stopped(stop_)) return false;
    if (!(bound < best_.score)) return true;
    return branch(0, bound);
  }

 private:
  struct Child {
    uint32_t device;
    Score bound;
  };

  bool branch(uint32_t depth, const Score& least) {
    if (depth == order_.size()) return complete(least);
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
      if (!branch(depth + 1, child.bound)) return false;
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

  bool complete(const Score& bound) {
    for (uint32_t v = 0; v < assignment_.size(); ++v) {
      assignment_[v] = device_of_[problem_.group_of(v)];
    }
    return sends_in_order() ? exchange(0, bound) : look_at(bound);
  }

  // Whether it matters which of like devices is which (twins.h): an output goes to two others.
  bool sends_in_order() const {
    const TopologySpec& spec = problem_.topology().spec();
    const bool ordered = problem_.is_staged() && problem_.is_for_latency() &&
                         spec.transfer == Transfer::kUnicast &&
                         spec.contention == Contention::kEgress;
    const Graph& graph = problem_.graph();
    for (uint32_t o = 0; o < graph.output_count() && ordered; ++o) {
      uint32_t first = kNoIndex;
      for (const uint32_t reader : graph.consumers(o)) {
        const uint32_t device = assignment_[reader];
        if (device == assignment_[graph.producer(o)]) continue;
        if (first != kNoIndex && device != first) return true;
        first = device;
      }
    }
    return false;
  }

  // Each way to put another of its like in the place of that device and those behind it.
  bool exchange(uint32_t device, const Score& bound) {
    const auto runs = [this](uint32_t d) { return std::ranges::find(device_of_, d); };
    while (device < taken_.size() && runs(device) == device_of_.end()) ++device;
    if (device == taken_.size()) {
      if (left_ == 0 || spend(stop_, problem_.node_count())) return false;
      --left_;
      for (uint32_t v = 0; v < assignment_.size(); ++v) {
        assignment_[v] = stands_for_[device_of_[problem_.group_of(v)]];
      }
      return look_at(bound);
    }
    for (uint32_t d = bound_.first_twin(device); d < taken_.size(); ++d) {
      if (taken_[d] || bound_.first_twin(d) != bound_.first_twin(device)) continue;
      stands_for_[device] = d;
      taken_[d] = true;
      const bool complete = exchange(device + 1, bound);
      taken_[d] = false;
      if (!complete) return false;
    }
    return true;
  }

  // False, too, where a division into stages that nobody has looked at could be better: for
  // throughput, none is tried.
  bool look_at(const Score& bound) {
    const Score score = evaluator_.evaluate(assignment_);
    if (stopped(stop_)) return false;
    if (score < best_.score) best_.take(assignment_, score);
    if (!problem_.is_staged()) return true;
    if (!problem_.is_for_latency()) return !(least_divided(bound) < best_.score);
    return divisions_->search(assignment_, bound.overflow_bytes, left_, best_);
  }

  // Of the placement just evaluated, however it is divided.
  Score least_divided(const Score& bound) {
    bound_.bound(device_of_, bound);
    channel_us_.resize(problem_.topology().channel_count());
    const double us = bottleneck_.find(assignment_, bound_.busy_us(), channel_us_, stop_);
    return {bound.overflow_bytes, rounded_up(us)};
  }

  const Problem& problem_;
  Stop* stop_;
  uint64_t left_;
  BranchBound bound_;
  Evaluator evaluator_;
  Bottleneck bottleneck_;
  std::vector<double> channel_us_;
  std::optional<DivisionSearch> divisions_;
  Candidate& best_;
  std::vector<uint32_t> order_, device_of_;  // groups; of each group
  Assignment assignment_;
  std::vector<uint32_t> stands_for_;          // of each device, the one in its place
  std::vector<bool> taken_;                   // devices that stand for one
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
  const bool divides = problem.is_staged() && problem.is_for_latency();
  if (divides && problem.node_count() > kMostDividedNodes) return false;
  constexpr uint64_t kMostTable = 10'000;  // nodes x devices
  if (uint64_t{problem.node_count()} * problem.device_count() > kMostTable) return false;
  return open_groups(problem) <= kMostExactGroups;
}

uint64_t most_branches(const Problem& problem) {
  constexpr uint64_t kMost = 2'000'000, kWork = 400'000'000;  // edges x pairs of devices
  const Graph& graph = problem.graph();
  const uint64_t pairs = uint64_t{problem.device_count()} * problem.device_count();
  return std::min(kMost, kWork / (graph.size() * pairs));
}

uint64_t exact_branches(const Problem& problem) {
  constexpr uint64_t kLittle = 2'000, kNodes = 100;  // fewer where most of many nodes are decided
  const uint64_t most = most_branches(problem);
  if (open_groups(problem) <= kMostSolvedGroups) return most;
  return std::min(most, kLittle * kNodes / std::max<uint64_t>(kNodes, problem.node_count()));
}

bool exhaustive_search(const Problem& problem, uint64_t branches, Stop* stop, Candidate& best) {
  return Tree(problem, branches, stop, best).search();
}

}  // namespace placeto
