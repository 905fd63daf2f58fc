#include "trainer/data/contract.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/no_index.h"
#include "runtime/groups/hierarchy.h"

namespace placeto::train {
namespace {

class Contraction {
 public:
  Contraction(const Problem& problem, std::vector<uint32_t> cluster_of)
      : graph_(problem.graph()),
        cluster_of_(std::move(cluster_of)),
        joined_(graph_.node_count()),
        successors_(graph_.node_count()),
        predecessors_(graph_.node_count()),
        rank_(graph_.node_count()),
        seen_(graph_.node_count()) {
    std::iota(joined_.begin(), joined_.end(), 0u);
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      for (const OutEdge& e : graph_.out_edges(v)) {
        insert(successors_[v], e.target);
        insert(predecessors_[e.target], v);
      }
    }
    order_.assign(graph_.topological_order().begin(), graph_.topological_order().end());
    for (uint32_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = i;
  }

  std::vector<uint32_t> run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const uint32_t u : std::vector<uint32_t>(order_)) {
        if (rank_[u] != kNoIndex) changed = absorb_successors(u) || changed;
      }
      if (changed) sort_again();
    }
    std::vector<uint32_t> group_of(graph_.node_count());
    for (uint32_t v = 0; v < group_of.size(); ++v) group_of[v] = rank_[group(v)];
    return group_of;
  }

 private:
  static void insert(std::vector<uint32_t>& list, uint32_t value) {
    const auto at = std::lower_bound(list.begin(), list.end(), value);
    if (at == list.end() || *at != value) list.insert(at, value);
  }
  static void erase(std::vector<uint32_t>& list, uint32_t value) {
    const auto at = std::lower_bound(list.begin(), list.end(), value);
    if (at != list.end() && *at == value) list.erase(at);
  }

  bool absorb_successors(uint32_t u) {
    bool any = false;
    for (bool again = true; again;) {
      again = false;
      for (const uint32_t v : successors_[u]) {
        if (cluster_of_[v] != cluster_of_[u] || other_path(u, v)) continue;
        join(u, v);
        again = any = true;
        break;
      }
    }
    return any;
  }

  // From u to v through a third group. Ranks grow along every path.
  bool other_path(uint32_t u, uint32_t v) {
    ++mark_;
    stack_.clear();
    const auto visit = [&](uint32_t x) {
      if (seen_[x] == mark_ || rank_[x] >= rank_[v]) return;
      seen_[x] = mark_;
      stack_.push_back(x);
    };
    for (const uint32_t x : successors_[u]) {
      if (x != v) visit(x);
    }
    while (!stack_.empty()) {
      const uint32_t x = stack_.back();
      stack_.pop_back();
      if (std::binary_search(successors_[x].begin(), successors_[x].end(), v)) return true;
      for (const uint32_t y : successors_[x]) visit(y);
    }
    return false;
  }

  // What stands for v's group.
  uint32_t group(uint32_t v) {
    while (joined_[v] != v) v = joined_[v] = joined_[joined_[v]];
    return v;
  }

  // v becomes part of u.
  void join(uint32_t u, uint32_t v) {
    bring_together(u, v);
    for (const uint32_t x : successors_[v]) {
      erase(predecessors_[x], v);
      insert(predecessors_[x], u);
      insert(successors_[u], x);
    }
    for (const uint32_t x : predecessors_[v]) {
      erase(successors_[x], v);
      if (x == u) continue;
      insert(successors_[x], u);
      insert(predecessors_[u], x);
    }
    successors_[v].clear();
    predecessors_[v].clear();
    rank_[v] = kNoIndex;
    joined_[v] = u;
  }

  // Of what stands between them in the order, what v waits for comes before u, the rest behind it:
  // no other path leads from u to v.
  void bring_together(uint32_t u, uint32_t v) {
    ++mark_;
    stack_.assign(1, v);
    while (!stack_.empty()) {
      const uint32_t x = stack_.back();
      stack_.pop_back();
      for (const uint32_t y : predecessors_[x]) {
        if (seen_[y] == mark_ || rank_[y] <= rank_[u]) continue;
        seen_[y] = mark_;
        stack_.push_back(y);
      }
    }
    behind_.assign(1, u);
    uint32_t at = rank_[u];
    const uint32_t end = rank_[v];
    for (uint32_t i = at + 1; i < end; ++i) {
      const uint32_t x = order_[i];
      if (x == kNoIndex) continue;
      if (seen_[x] == mark_) {
        put(x, at++);
      } else {
        behind_.push_back(x);
      }
    }
    for (const uint32_t x : behind_) put(x, at++);
    std::fill(order_.begin() + at, order_.begin() + end + 1, kNoIndex);
  }

  void put(uint32_t x, uint32_t at) {
    order_[at] = x;
    rank_[x] = at;
  }

  void sort_again() {
    std::vector<uint32_t> missing(rank_.size()), order;
    order.reserve(order_.size());
    for (const uint32_t x : graph_.topological_order()) {
      missing[x] = static_cast<uint32_t>(predecessors_[x].size());
      if (rank_[x] != kNoIndex && missing[x] == 0) order.push_back(x);
    }
    for (size_t i = 0; i < order.size(); ++i) {
      for (const uint32_t y : successors_[order[i]]) {
        if (--missing[y] == 0) order.push_back(y);
      }
    }
    order_ = std::move(order);
    for (uint32_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = i;
  }

  const Graph& graph_;
  std::vector<uint32_t> cluster_of_;  // per operator, and so per group
  std::vector<uint32_t> joined_;      // per operator: one of its group, at last what stands for it
  std::vector<std::vector<uint32_t>> successors_, predecessors_;  // of groups, ascending
  std::vector<uint32_t> order_;  // of groups, topological, with gaps (kNoIndex) where some joined
  std::vector<uint32_t> rank_;   // in order_; kNoIndex: absorbed
  std::vector<uint32_t> seen_, stack_, behind_;
  uint32_t mark_ = 0;
};

}  // namespace

std::vector<uint32_t> contract(const Problem& problem, uint32_t groups) {
  const Hierarchy hierarchy(problem);
  for (uint32_t level = 0; level < hierarchy.level_count(); ++level) {
    if (hierarchy.group_count(level) > groups) continue;
    std::vector<uint32_t> cluster_of(problem.node_count());
    for (uint32_t v = 0; v < cluster_of.size(); ++v) cluster_of[v] = hierarchy.group_of(level, v);
    std::vector<uint32_t> group_of = Contraction(problem, std::move(cluster_of)).run();
    if (*std::max_element(group_of.begin(), group_of.end()) < groups) return group_of;
  }
  return {};
}

}  // namespace placeto::train
