// `etf`: Hwang, Chow, Anger and Lee, "Scheduling precedence graphs in systems with interprocessor
// communication times", SIAM J. Comput. 1989. Of all ready nodes and devices, the pair that can
// start first; ties by upward rank. A colocated group is bound by its first node.
#include <algorithm>
#include <numeric>

#include "runtime/heuristics/heuristics.h"
#include "runtime/heuristics/list_schedule.h"
#include "runtime/heuristics/memory_plan.h"

namespace placeto {
namespace {

// Ready nodes looked at per step, those of highest rank first: bounds the work on graphs that are
// a thousand nodes wide.
constexpr size_t kWindow = 64;

class EarliestTaskFirst {
 public:
  explicit EarliestTaskFirst(const Problem& problem)
      : problem_(problem), schedule_(problem), ready_us_(problem.device_count()) {}

  Assignment place_all(MemoryPlan& plan) {
    start();
    while (!ready_.empty()) {
      const Choice choice = earliest(plan);
      const uint32_t node = ready_[choice.position];
      const uint32_t group = problem_.group_of(node);
      if (group_device_[group] == ListSchedule::kNowhere) {
        group_device_[group] = choice.device;
        plan.take(group, choice.device);
      }
      schedule_.place(node, choice.device);
      ready_.erase(ready_.begin() + static_cast<ptrdiff_t>(choice.position));
      for (const OutEdge& e : problem_.graph().out_edges(node)) {
        if (--unmet_[e.target] == 0) insert(e.target);
      }
    }
    return Assignment(schedule_.assignment().begin(), schedule_.assignment().end());
  }

 private:
  struct Choice {
    size_t position = 0;
    uint32_t device = ListSchedule::kNowhere;
    double start_us = 0;
  };

  void start() {
    schedule_.clear();
    ready_.clear();
    unmet_.resize(problem_.node_count());
    group_device_.assign(problem_.group_count(), ListSchedule::kNowhere);
    for (uint32_t v = 0; v < problem_.node_count(); ++v) {
      unmet_[v] = static_cast<uint32_t>(problem_.graph().in_edges(v).size());
      if (unmet_[v] == 0) ready_.push_back(v);
    }
    std::sort(ready_.begin(), ready_.end(), [this](uint32_t a, uint32_t b) { return ranks(a, b); });
  }

  bool ranks(uint32_t a, uint32_t b) const {
    const auto rank = problem_.upward_rank();
    return rank[a] != rank[b] ? rank[a] > rank[b] : a < b;
  }

  void insert(uint32_t node) {
    const auto place = std::lower_bound(ready_.begin(), ready_.end(), node,
                                        [this](uint32_t a, uint32_t b) { return ranks(a, b); });
    ready_.insert(place, node);
  }

  Choice earliest(const MemoryPlan& plan) {
    Choice best;
    for (size_t i = 0; i < std::min(kWindow, ready_.size()); ++i) {
      const uint32_t group = problem_.group_of(ready_[i]);
      schedule_.ready_times(ready_[i], ready_us_);
      uint32_t roomiest = ListSchedule::kNowhere;
      bool fits_somewhere = false;
      for (uint32_t d = 0; d < problem_.device_count(); ++d) {
        if (!may_go(group, d)) continue;
        if (roomiest == ListSchedule::kNowhere || plan.room(d) > plan.room(roomiest)) roomiest = d;
        if (group_device_[group] != d && !plan.fits(group, d)) continue;
        fits_somewhere = true;
        consider({i, d, start_us(ready_[i], d)}, best);
      }
      if (!fits_somewhere) consider({i, roomiest, start_us(ready_[i], roomiest)}, best);
    }
    return best;
  }

  bool may_go(uint32_t group, uint32_t device) const {
    return group_device_[group] == ListSchedule::kNowhere ? problem_.allowed(group, device)
                                                          : group_device_[group] == device;
  }
  // On unlike devices the earliest start alone would favour idle slow ones: what a device is slower
  // than the node's fastest counts as waiting.
  double start_us(uint32_t node, uint32_t device) const {
    const double* row = problem_.run_row(node);
    const double fastest = *std::min_element(row, row + problem_.class_count());
    return std::max(ready_us_[device], schedule_.device_free_us(device)) +
           problem_.run_us(node, device) - fastest;
  }
  static void consider(const Choice& choice, Choice& best) {
    if (best.device == ListSchedule::kNowhere || choice.start_us < best.start_us) best = choice;
  }

  const Problem& problem_;
  ListSchedule schedule_;
  std::vector<double> ready_us_;
  std::vector<uint32_t> ready_;  // by descending rank
  std::vector<uint32_t> unmet_, group_device_;
};

class Etf final : public Method {
 public:
  std::string_view name() const override { return "etf"; }
  std::string_view summary() const override {
    return "of all ready nodes and devices, the pair that starts first (ETF)";
  }
  Result<Candidate> place(const Problem& problem, const MethodOptions&) const override {
    Evaluator evaluator(problem);
    EarliestTaskFirst rule(problem);
    return place_within_memory(problem, evaluator, "etf",
                               [&](MemoryPlan& plan) { return rule.place_all(plan); });
  }
};

}  // namespace

const Method& etf_method() {
  static constexpr Etf method;
  return method;
}

}  // namespace placeto
