#include "runtime/policy/placeto_reach.h"

#include <algorithm>

namespace placeto {

PlacetoReach::PlacetoReach(const Graph& graph) : graph_(&graph), relation_(graph.node_count()) {
  for (auto* list : {&stack_, &ancestors_, &descendants_, &unrelated_}) {
    list->reserve(graph.node_count());
  }
}

void PlacetoReach::visit(uint32_t node, Relation relation) {
  if (relation_[node] != Relation::kUnrelated) return;
  relation_[node] = relation;
  stack_.push_back(node);
}

void PlacetoReach::find(uint32_t node) {
  std::fill(relation_.begin(), relation_.end(), Relation::kUnrelated);
  relation_[node] = Relation::kSelf;
  for (uint32_t v = node;; v = stack_.back(), stack_.pop_back()) {
    for (const InEdge& in : graph_->in_edges(v)) visit(in.source, Relation::kAncestor);
    if (stack_.empty()) break;
  }
  for (uint32_t v = node;; v = stack_.back(), stack_.pop_back()) {
    for (const OutEdge& out : graph_->out_edges(v)) visit(out.target, Relation::kDescendant);
    if (stack_.empty()) break;
  }
  ancestors_.clear();
  descendants_.clear();
  unrelated_.clear();
  for (uint32_t v = 0; v < relation_.size(); ++v) {
    if (relation_[v] == Relation::kAncestor) ancestors_.push_back(v);
    if (relation_[v] == Relation::kDescendant) descendants_.push_back(v);
    if (relation_[v] == Relation::kUnrelated) unrelated_.push_back(v);
  }
}

}  // namespace placeto
