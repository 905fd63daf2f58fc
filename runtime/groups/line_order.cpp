// Groups by their distance from one at the rim, as Cuthill and McKee, "Reducing the bandwidth of
// sparse symmetric matrices", ACM 1969, and then towards the Fiedler vector, by which Barnard,
// Pothen and Simon order, "A spectral algorithm for envelope reduction of sparse matrices",
// Numerical Linear Algebra with Applications 1995: time and again each goes to the mean place of
// those that it exchanges with, as much as it does with each.
#include "runtime/groups/line_order.h"

#include "runtime/base/stoppable_sort.h"
#include "runtime/groups/group_graph.h"

namespace placeto {
namespace {

// Networks gain up to 200 of them, and nothing by 1,000 (tests/bench/results/search.md, "Chains").
constexpr int kSmoothings = 200;

class Line {
 public:
  Line(const Problem& problem, Stop* stop)
      : graph_(group_graph(problem, stop)), stop_(stop), reached_in_(graph_.size(), 0) {
    if (stopped(stop_)) return;
    std::vector<bool> is_ordered(graph_.size(), false);
    for (const uint32_t v : problem.graph().topological_order()) {
      if (spend(stop_, 1)) return;
      const uint32_t group = problem.group_of(v);
      if (is_ordered[group]) continue;
      const uint32_t rim = reach_from(group).back();  // what is farthest from a group is there
      for (const uint32_t g : reach_from(rim)) {
        is_ordered[g] = true;
        order_.push_back(g);
      }
    }
  }

  std::vector<uint32_t> smoothed() {
    std::vector<double> place(graph_.size()), next(graph_.size());
    for (uint32_t i = 0; i < order_.size(); ++i) place[order_[i]] = i;
    for (int i = 0; i < kSmoothings && !stopped(stop_); ++i) {
      smooth(place, next);
      place.swap(next);
    }
    stoppable_sort(
        order_.begin(), order_.end(),
        [&place](uint32_t a, uint32_t b) {
          return place[a] != place[b] ? place[a] < place[b] : a < b;
        },
        stop_);
    return std::move(order_);
  }

 private:
  // Breadth first.
  std::vector<uint32_t> reach_from(uint32_t group) {
    std::vector<uint32_t> reached = {group};
    reached_in_[group] = ++searches_;
    for (size_t i = 0; i < reached.size() && !stopped(stop_); ++i) {
      const uint32_t begin = graph_.offset[reached[i]], end = graph_.offset[reached[i] + 1];
      in_pieces(begin, end, stop_, [&](uint32_t e) {
        uint32_t& search = reached_in_[graph_.neighbour[e]];
        if (search != searches_) reached.push_back(graph_.neighbour[e]);
        search = searches_;
      });
      spend(stop_, 1 + end - begin);
    }
    return reached;
  }

  // Half of each place stays, so that no two swap theirs for ever.
  void smooth(const std::vector<double>& place, std::vector<double>& next) const {
    for (uint32_t g = 0; g < graph_.size(); ++g) {
      double sum = 0, weight = 0;
      in_pieces(graph_.offset[g], graph_.offset[g + 1], stop_, [&](uint32_t e) {
        sum += graph_.weight[e] * place[graph_.neighbour[e]];
        weight += graph_.weight[e];
      });
      next[g] = weight > 0 ? (place[g] + sum / weight) / 2 : place[g];
      if (spend(stop_, Stop::looked_up(4 + graph_.offset[g + 1] - graph_.offset[g]))) return;
    }
  }

  GroupGraph graph_;
  Stop* stop_;
  std::vector<uint32_t> reached_in_;  // the last search, by group
  uint32_t searches_ = 0;
  std::vector<uint32_t> order_;
};

}  // namespace

std::vector<uint32_t> line_order(const Problem& problem, Stop* stop) {
  return Line(problem, stop).smoothed();
}

}  // namespace placeto
