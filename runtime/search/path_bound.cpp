#include "runtime/search/path_bound.h"

#include <algorithm>

#include "runtime/base/no_index.h"
#include "runtime/cost/rounding.h"

namespace placeto {
namespace {

// On larger graphs it takes as long to keep what single moves ask for as to simulate those that it
// tells to be hopeless, of moves that are chosen by estimate.
constexpr uint32_t kMostKept = 500;

double transfer_us(const Problem& problem, uint32_t output, uint32_t from, uint32_t to) {
  return output == kControlEdge ? 0 : problem.transfer_us(output, from, to);
}

}  // namespace

PathBound::PathBound(const Problem& problem, Stop* stop)
    : problem_(&problem), stop_(stop), applies_(problem.times_can_tell()) {
  if (!applies_) return;
  const Graph& graph = problem.graph();
  const auto order = graph.topological_order();
  for (auto* times : {&head_us_, &tail_us_, &free_head_us_}) {
    times->resize(graph.node_count());
  }
  moved_to_.assign(graph.node_count(), kNoIndex);
  if (spend(stop_, graph.node_count())) return;  // memory touched for the first time is slow
  for (const uint32_t v : order) {
    const double behind = free_head_us_[v] + problem.fastest_us(v);
    for (const OutEdge& out : watched(graph.out_edges(v), stop_)) {
      free_head_us_[out.target] = std::max(free_head_us_[out.target], behind);
    }
    if (spend(stop_, 1 + graph.out_edges(v).size())) return;
  }
}

void PathBound::update(std::span<const uint32_t> assignment) {
  old_ = false;
  const Graph& graph = problem_->graph();
  const auto order = graph.topological_order();
  for (const uint32_t v : order) {
    head_us_[v] = head_us(assignment, v, assignment[v]);
    if (spend(stop_, 1 + graph.in_edges(v).size())) return;
  }
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    tail_us_[*v] = tail_us(assignment, *v, assignment[*v]);
    if (spend(stop_, 1 + graph.out_edges(*v).size())) return;
  }
}

// Where only this node moves, no path before or after it changes.
double PathBound::head_us(std::span<const uint32_t> assignment, uint32_t node,
                          uint32_t device) const {
  double head = 0;
  for (const InEdge& in : watched(problem_->graph().in_edges(node), stop_)) {
    const uint32_t from = assignment[in.source];
    head = std::max(head, head_us_[in.source] + problem_->run_us(in.source, from) +
                              transfer_us(*problem_, in.output, from, device));
  }
  return head;
}

double PathBound::tail_us(std::span<const uint32_t> assignment, uint32_t node,
                          uint32_t device) const {
  double tail = 0;
  for (const OutEdge& out : watched(problem_->graph().out_edges(node), stop_)) {
    const uint32_t to = assignment[out.target];
    tail = std::max(tail, transfer_us(*problem_, out.output, device, to) +
                              problem_->run_us(out.target, to) + tail_us_[out.target]);
  }
  return tail;
}

// Where others move, too, transfers of paths before and after the node may vanish: none counts but
// those of the node itself.
double PathBound::free_path_us(std::span<const uint32_t> assignment, uint32_t node,
                               uint32_t device) const {
  const auto device_of = [&](uint32_t v) {
    return moved_to_[v] == kNoIndex ? assignment[v] : moved_to_[v];
  };
  const std::vector<double>& free_tail_us = problem_->event_tables().tail_us;
  double head = 0, tail = 0;
  for (const InEdge& in : watched(problem_->graph().in_edges(node), stop_)) {
    const uint32_t from = device_of(in.source);
    head = std::max(head, free_head_us_[in.source] + problem_->run_us(in.source, from) +
                              transfer_us(*problem_, in.output, from, device));
  }
  for (const OutEdge& out : watched(problem_->graph().out_edges(node), stop_)) {
    const uint32_t to = device_of(out.target);
    tail = std::max(tail, transfer_us(*problem_, out.output, device, to) +
                              problem_->run_us(out.target, to) + free_tail_us[out.target]);
  }
  return head + problem_->run_us(node, device) + tail;
}

double PathBound::least_us(std::span<const uint32_t> assignment, std::span<const Change> changes) {
  if (!applies_) return 0;
  if (changes.size() == 1 && problem_->node_count() <= kMostKept) {
    if (old_) update(assignment);
    const auto [node, device] = changes[0];
    return rounded_down(head_us(assignment, node, device) + problem_->run_us(node, device) +
                        tail_us(assignment, node, device));
  }
  double least = 0;
  for (const Change& change : changes) moved_to_[change.node] = change.device;
  for (const Change& change : changes) {
    least = std::max(least, free_path_us(assignment, change.node, change.device));
    const Graph& graph = problem_->graph();
    const size_t edges = graph.in_edges(change.node).size() + graph.out_edges(change.node).size();
    if (spend(stop_, 1 + edges)) break;
  }
  for (const Change& change : changes) moved_to_[change.node] = kNoIndex;
  return rounded_down(least);
}

}  // namespace placeto
