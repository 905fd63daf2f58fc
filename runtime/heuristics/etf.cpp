// `etf`: Hwang, Chow, Anger and Lee, "Scheduling precedence graphs in systems with interprocessor
// communication times", SIAM J. Comput. 1989. Of all ready nodes and devices, the pair that can
// start first; ties by upward rank. A colocated group is bound by its first node; until then its
// heaviest member says when it could start, and all members' run times count.
#include <algorithm>

#include "runtime/base/no_index.h"
#include "runtime/cost/rounding.h"
#include "runtime/heuristics/group_devices.h"
#include "runtime/heuristics/heuristics.h"

namespace placeto {
namespace {

// Ready nodes looked at per step, those of highest rank first: bounds the work on graphs that are
// a thousand nodes wide. On systems of many devices fewer, so that a step looks at a bounded number
// of pairs.
constexpr uint32_t kMostAhead = 64, kLeastAhead = 4, kMostPairs = 1024;

// A node of more inputs is not looked at in every step, but so seldom that it costs as much as one
// of that many: it may wait in the window while very many others are placed.
constexpr size_t kMostInputs = 1024;

uint32_t window_size(uint32_t devices) {
  return std::clamp(kMostPairs / devices, kLeastAhead, kMostAhead);
}

class EarliestTaskFirst {
 public:
  EarliestTaskFirst(const Problem& problem, Stop* stop)
      : problem_(problem),
        stop_(stop),
        schedule_(problem, stop),
        devices_(problem, stop),
        window_size_(window_size(problem.device_count())),
        ready_us_(problem.device_count()),
        least_us_(problem.node_count()),
        lost_(problem.class_count()) {
    sum_groups();
  }

  Assignment place_all(MemoryPlan& plan) {
    start();
    while (!window_.empty()) {
      if (stopped(stop_)) return {};
      ++step_;
      Choice choice = earliest(plan, false);
      if (choice.device == kNoIndex) choice = earliest(plan, true);
      const uint32_t node = window_[choice.position];
      const uint32_t group = problem_.group_of(node);
      if (devices_[group] == kNoIndex) {
        devices_.give(group, choice.device, schedule_, plan);
      }
      schedule_.place(node, choice.device);
      remove(choice.position);
      for (const OutEdge& e : watched(problem_.graph().out_edges(node), stop_, 4)) {
        if (--unmet_[e.target] == 0) insert(e.target);
      }
      spend(stop_, 4 + 2 * problem_.graph().out_edges(node).size());  // in and out of the window
    }
    return Assignment(schedule_.assignment().begin(), schedule_.assignment().end());
  }

 private:
  struct Choice {
    size_t position = 0;
    uint32_t device = kNoIndex;
    double start_us = 0;
  };

  void start() {
    step_ = 0;
    schedule_.clear();
    window_.clear();
    rest_.clear();
    unmet_.resize(problem_.node_count());
    devices_.clear();
    for (uint32_t v = 0; v < problem_.node_count(); ++v) {
      if (devices_.free_nodes().contains(v)) continue;
      unmet_[v] = 0;
      for (const InEdge& in : watched(problem_.graph().in_edges(v), stop_)) {
        unmet_[v] += devices_.free_nodes().contains(in.source) ? 0 : 1;
      }
      if (unmet_[v] == 0) insert(v);
      if (spend(stop_, 1 + problem_.graph().in_edges(v).size())) return;
    }
  }

  bool ranks(uint32_t a, uint32_t b) const {
    const auto rank = problem_.upward_rank();
    return rank[a] != rank[b] ? rank[a] > rank[b] : a < b;
  }

  // Into the window if its rank is high enough; what falls out of it waits in the heap.
  void insert(uint32_t node) {
    least_us_[node] = 0;
    const auto before = [this](uint32_t a, uint32_t b) { return ranks(a, b); };
    const auto place = std::lower_bound(window_.begin(), window_.end(), node, before);
    window_.insert(place, node);
    if (window_.size() <= window_size_) return;
    rest_.push_back(window_.back());
    window_.pop_back();
    std::push_heap(rest_.begin(), rest_.end(),
                   [this](uint32_t a, uint32_t b) { return ranks(b, a); });
  }

  void remove(size_t position) {
    window_.erase(window_.begin() + static_cast<ptrdiff_t>(position));
    if (rest_.empty()) return;
    std::pop_heap(rest_.begin(), rest_.end(),
                  [this](uint32_t a, uint32_t b) { return ranks(b, a); });
    window_.push_back(rest_.back());  // ranks below everything in the window
    rest_.pop_back();
  }

  // `all`: also nodes of many inputs whose turn it is not; without them there may be none.
  Choice earliest(const MemoryPlan& plan, bool all) {
    Choice best;
    // Nothing starts before a device is free, and ties go to the node that was looked at first:
    // mostly one of the first few.
    const double first_free = schedule_.first_free_us();
    for (size_t i = 0; i < window_.size(); ++i) {
      if (best.device != kNoIndex && best.start_us <= first_free) break;
      if (best.device != kNoIndex && least_us_[window_[i]] >= best.start_us) continue;
      const uint32_t group = problem_.group_of(window_[i]);
      const bool bound = devices_[group] != kNoIndex;
      const uint32_t node = bound ? window_[i] : devices_.heaviest_beside(window_[i]);
      if (!all && step_ % (1 + problem_.graph().in_edges(node).size() / kMostInputs) != 0) continue;
      schedule_.ready_times(node, ready_us_);
      // The caller looks whether that is to be the last step: a step is never left half done.
      spend(stop_, 1 + problem_.graph().in_edges(node).size() + Stop::compared(ready_us_.size()));
      const double* lost = lost_us(window_[i]);
      uint32_t roomiest = kNoIndex;
      const double bytes = devices_.footprint(group, plan);
      bool fits_somewhere = false;
      double least_us = kNever;
      for (uint32_t d = 0; d < problem_.device_count(); ++d) {
        if (!may_go(group, d)) continue;
        if (roomiest == kNoIndex || plan.room(d) > plan.room(roomiest)) roomiest = d;
        const double start = start_us(d, lost);
        least_us = std::min(least_us, start);
        if (devices_[group] != d && !plan.has_room(bytes, d)) continue;
        fits_somewhere = true;
        consider({i, d, start}, best);
      }
      if (!fits_somewhere) consider({i, roomiest, start_us(roomiest, lost)}, best);
      if (bound || group_row_[group] == kNoIndex) least_us_[node] = rounded_down(least_us);
    }
    return best;
  }

  bool may_go(uint32_t group, uint32_t device) const {
    return devices_[group] == kNoIndex ? problem_.allowed(group, device)
                                       : devices_[group] == device;
  }
  // On unlike devices the earliest start alone would favour idle slow ones: what a device is slower
  // than the fastest counts as waiting.
  double start_us(uint32_t device, const double* lost) const {
    return std::max(ready_us_[device], schedule_.device_free_us(device)) +
           lost[problem_.class_of(device)];
  }

  // Per class of device, how much longer than on the fastest one the node takes there; with it all
  // its group, while that is free to go anywhere.
  const double* lost_us(uint32_t node) {
    const uint32_t classes = problem_.class_count(), group = problem_.group_of(node);
    const bool bound = devices_[group] != kNoIndex;
    if (bound || group_row_[group] == kNoIndex) {
      std::fill(lost_.begin(), lost_.end(), 0);
      add_lost(node, lost_.data());
      return lost_.data();
    }
    return &group_lost_us_[size_t{group_row_[group]} * classes];
  }
  void add_lost(uint32_t node, double* lost) const {
    const double* row = problem_.run_row(node);
    const double fastest = problem_.fastest_us(node);
    for (uint32_t c = 0; c < problem_.class_count(); ++c) lost[c] += row[c] - fastest;
  }
  void sum_groups() {
    const uint32_t classes = problem_.class_count();
    group_row_.assign(problem_.group_count(), kNoIndex);
    uint32_t rows = 0;
    for (uint32_t g = 0; g < problem_.group_count(); ++g) {
      if (spend(stop_, problem_.members(g).size())) return;
      if (problem_.members(g).size() == 1) continue;
      group_row_[g] = rows++;
      group_lost_us_.resize(size_t{rows} * classes, 0);
      for (uint32_t v : problem_.members(g)) {
        add_lost(v, group_lost_us_.data() + group_lost_us_.size() - classes);
      }
    }
  }

  static void consider(const Choice& choice, Choice& best) {
    if (best.device == kNoIndex || choice.start_us < best.start_us) best = choice;
  }

  const Problem& problem_;
  Stop* stop_;
  ListSchedule schedule_;
  GroupDevices devices_;
  size_t window_size_;
  std::vector<double> ready_us_;
  // When ready nodes could start at the earliest as they were last looked at. It only becomes
  // later. 0 where the group's other members count.
  std::vector<double> least_us_;
  std::vector<uint32_t> window_;  // the ready nodes of highest rank, descending
  std::vector<uint32_t> rest_;    // the other ready nodes: a heap, the highest rank first
  std::vector<uint32_t> unmet_;
  uint64_t step_ = 0;
  std::vector<uint32_t> group_row_;    // row of group_lost_us_; kNoIndex: one node
  std::vector<double> group_lost_us_;  // of groups of several nodes, by class of device
  std::vector<double> lost_;           // scratch of lost_us
};

class Etf final : public Method {
 public:
  std::string_view name() const override { return "etf"; }
  std::string_view summary() const override {
    return "of all ready nodes and devices, the pair that starts first (ETF)";
  }
  bool in_auto() const override { return true; }
  Result<Candidate> place(Workbench& bench) const override {
    EarliestTaskFirst rule(bench.problem(), bench.stop());
    return unless_stopped(
        place_within_memory(bench.problem(), bench.evaluator(), "etf",
                            [&](MemoryPlan& plan) { return rule.place_all(plan); }));
  }
};

}  // namespace

const Method& etf_method() {
  static constexpr Etf method;
  return method;
}

}  // namespace placeto
