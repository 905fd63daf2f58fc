#include "runtime/groups/hierarchy.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/base/no_index.h"
#include "runtime/base/stoppable_sort.h"
#include "runtime/groups/free_nodes.h"

namespace placeto {
namespace {

constexpr uint32_t kCoarsest = 2;  // groups of the coarsest level, whatever the number of devices

// One round of matching, incomplete if stopped.
class Matching {
 public:
  // `parts`: if not empty, only groups of one part are matched.
  Matching(const GroupGraph& graph, const DeviceRows& rows, const std::vector<uint32_t>& parts,
           double most_work, Stop* stop)
      : graph_(graph), rows_(rows), parts_(parts), most_work_(most_work), stop_(stop) {
    mate_.assign(graph.size(), kNoIndex);
  }

  void match() {
    std::vector<uint32_t> order(graph_.size());
    std::iota(order.begin(), order.end(), 0u);
    stoppable_sort(
        order.begin(), order.end(),
        [this](uint32_t a, uint32_t b) {
          return graph_.work[a] < graph_.work[b];  // small groups first: sizes stay even
        },
        stop_);
    for (uint32_t g : order) {
      if (spend(stop_, 1 + graph_.offset[g + 1] - graph_.offset[g])) return;
      if (mate_[g] == kNoIndex) match_with_neighbour(g);
    }
    match_siblings(order);
    match_isolated(order);
  }

  // Numbers the merged groups by their lowest member; returns how many there are.
  uint32_t number(std::vector<uint32_t>& coarse_of) const {
    uint32_t count = 0;
    coarse_of.assign(graph_.size(), kNoIndex);
    for (uint32_t g = 0; g < graph_.size(); ++g) {
      if (coarse_of[g] != kNoIndex) continue;
      coarse_of[g] = count;
      if (mate_[g] != kNoIndex) coarse_of[mate_[g]] = count;
      ++count;
    }
    return count;
  }

 private:
  double work_us(uint32_t g) const { return graph_.work[g] + graph_.little_us; }
  bool may_match(uint32_t a, uint32_t b) const {
    return graph_.work[a] + graph_.work[b] <= most_work_ &&
           (parts_.empty() || parts_[a] == parts_[b]);
  }

  // Rating: weight^2 / (work x work), so that what exchanges much for its work goes together.
  void match_with_neighbour(uint32_t g) {
    uint32_t best = kNoIndex;
    double best_rating = -1;
    in_pieces(graph_.offset[g], graph_.offset[g + 1], stop_, [&](uint32_t i) {
      const uint32_t other = graph_.neighbour[i];
      if (mate_[other] != kNoIndex || !may_match(g, other)) return;
      const double weight = graph_.weight[i];
      const double rating = weight * weight / (work_us(g) * work_us(other));
      if (rating > best_rating && share_device(rows_, g, other)) {
        best = other;
        best_rating = rating;
      }
    });
    if (best == kNoIndex) return;
    mate_[g] = best;
    mate_[best] = g;
  }

  // Leaves of a star have no unmatched neighbour: pair those with the same heaviest one.
  void match_siblings(const std::vector<uint32_t>& order) {
    std::vector<uint32_t> waiting(graph_.size(), kNoIndex);
    for (uint32_t g : order) {
      if (mate_[g] != kNoIndex || graph_.offset[g] == graph_.offset[g + 1]) continue;
      if (spend(stop_, graph_.offset[g + 1] - graph_.offset[g])) return;
      uint32_t heaviest = graph_.offset[g];
      in_pieces(heaviest, graph_.offset[g + 1], stop_, [&](uint32_t i) {
        if (graph_.weight[i] > graph_.weight[heaviest]) heaviest = i;
      });
      uint32_t& sibling = waiting[graph_.neighbour[heaviest]];
      if (sibling != kNoIndex && may_match(g, sibling) && share_device(rows_, g, sibling)) {
        mate_[g] = sibling;
        mate_[sibling] = g;
        sibling = kNoIndex;
      } else {
        sibling = g;
      }
    }
  }

  // What has no neighbour at all, e.g. a whole component by now, goes with its like.
  void match_isolated(const std::vector<uint32_t>& order) {
    uint32_t waiting = kNoIndex;
    for (uint32_t g : order) {
      if (spend(stop_, 1)) return;
      if (mate_[g] != kNoIndex || graph_.offset[g] != graph_.offset[g + 1]) continue;
      if (waiting != kNoIndex && may_match(g, waiting) && share_device(rows_, g, waiting)) {
        mate_[g] = waiting;
        mate_[waiting] = g;
        waiting = kNoIndex;
      } else {
        waiting = g;
      }
    }
  }

  const GroupGraph& graph_;
  const DeviceRows& rows_;
  const std::vector<uint32_t>& parts_;
  double most_work_;
  Stop* stop_;
  std::vector<uint32_t> mate_;
};

// Groups of free nodes alone join the group that decides about them, if some device remains to all,
// which its row then says. Returns how many groups are left, numbered by their lowest member.
// Incomplete if stopped.
uint32_t join_free_nodes(const Problem& problem, DeviceRows& rows, std::vector<uint32_t>& merged,
                         Stop* stop) {
  const FreeNodes free(problem, stop);
  std::vector<uint32_t> host(problem.group_count());
  std::iota(host.begin(), host.end(), 0u);
  for (uint32_t g = 0; g < host.size(); ++g) {
    if (spend(stop, 1)) return 0;
    const uint32_t decider = free.decider(g);
    if (decider == g || !share_device(rows, g, decider)) continue;
    host[g] = decider;
    for (size_t d = 0; !rows.empty() && d < rows[g].size(); ++d) {
      rows[decider][d] = rows[decider][d] && rows[g][d];
    }
  }
  uint32_t count = 0;
  merged.assign(host.size(), kNoIndex);
  for (uint32_t g = 0; g < host.size(); ++g) {
    if (spend(stop, 1)) return 0;
    if (merged[host[g]] == kNoIndex) merged[host[g]] = count++;
    merged[g] = merged[host[g]];
  }
  return count;
}

}  // namespace

Hierarchy::Hierarchy(const Problem& problem, Stop* stop, std::vector<uint32_t> parts)
    : problem_(&problem), stop_(stop) {
  DeviceRows rows = device_rows(problem, stop);
  GroupGraph graph = group_graph(problem, stop);
  const double total = std::accumulate(graph.work.begin(), graph.work.end(), 0.0);
  if (stopped(stop)) return;
  std::vector<uint32_t> group_of(problem.group_count()), coarse_of;
  std::iota(group_of.begin(), group_of.end(), 0u);
  const auto merge = [&](uint32_t coarse_count) {
    for (uint32_t& g : group_of) g = coarse_of[g];
    if (!parts.empty()) {
      for (uint32_t g = 0; g < parts.size(); ++g) parts[coarse_of[g]] = parts[g];  // no later group
      parts.resize(coarse_count);
    }
    rows = contract(rows, coarse_of, coarse_count, stop);
    GroupGraph coarse = contract(graph, coarse_of, coarse_count, stop);
    give_back(graph.neighbour, stop);
    give_back(graph.weight, stop);
    graph = std::move(coarse);
  };
  const uint32_t count = join_free_nodes(problem, rows, coarse_of, stop);
  if (stopped(stop)) return;
  if (count < graph.size()) merge(count);
  if (stopped(stop)) return;
  add_level(group_of, graph.size(), rows);
  while (graph.size() > kCoarsest) {
    if (stopped(stop)) return;
    Matching matching(graph, rows, parts, total / 2, stop);
    matching.match();
    if (stopped(stop)) return;
    const uint32_t coarse_count = matching.number(coarse_of);
    // Under 20 groups a twentieth is none, and a matching may be empty: that must end it, too.
    if (coarse_count > graph.size() - std::max(1u, graph.size() / 20)) {
      if (parts.empty()) break;
      parts.clear();
      continue;
    }
    merge(coarse_count);
    if (stopped(stop)) return;
    add_level(group_of, coarse_count, rows);
  }
}

void Hierarchy::add_level(std::vector<uint32_t> group_of, uint32_t groups, DeviceRows rows) {
  Level level;
  level.offset.assign(groups + 1, 0);
  for (uint32_t g = 0; g < group_of.size(); ++g) {
    level.offset[group_of[g] + 1] += static_cast<uint32_t>(problem_->members(g).size());
  }
  std::partial_sum(level.offset.begin(), level.offset.end(), level.offset.begin());
  std::vector<uint32_t> end(level.offset.begin(), level.offset.end() - 1);
  level.nodes.resize(problem_->node_count());
  if (spend(stop_, group_of.size())) return;  // the level is left out
  for (uint32_t g = 0; g < group_of.size(); ++g) {
    for (uint32_t v : watched(problem_->members(g), stop_)) level.nodes[end[group_of[g]]++] = v;
    if (spend(stop_, problem_->members(g).size())) return;
  }
  level.group_of = std::move(group_of);
  level.rows = std::move(rows);
  levels_.push_back(std::move(level));
}

}  // namespace placeto
