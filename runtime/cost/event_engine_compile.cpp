// The engine's tables, built once per problem. Apart from the loops over them, which are built for
// speed.
#include <algorithm>
#include <numeric>

#include "runtime/base/stoppable_sort.h"
#include "runtime/cost/event_engine.h"

namespace placeto {
namespace {

// Nodes by descending upward rank, ties to the lower index: position of each node.
std::vector<uint32_t> rank_positions(const Problem& problem, Stop* stop) {
  std::vector<uint32_t> order(problem.node_count()), position(problem.node_count());
  std::iota(order.begin(), order.end(), 0u);
  const auto rank = problem.upward_rank();
  stoppable_sort(
      order.begin(), order.end(),
      [rank](uint32_t a, uint32_t b) { return rank[a] != rank[b] ? rank[a] > rank[b] : a < b; },
      stop);
  for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  return position;
}

uint32_t delivery_count(const Problem& problem) {
  const bool unicast = problem.topology().spec().transfer == Transfer::kUnicast;
  return unicast ? problem.graph().edge_count() : problem.graph().output_count();
}

bool by_priority(const Problem& problem) {
  return problem.topology().spec().dispatch == Dispatch::kPriority;
}

}  // namespace

EventEngine::EventEngine(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      devices_(problem.device_count()),
      channels_(problem.topology().channel_count()),
      unicast_(problem.topology().spec().transfer == Transfer::kUnicast),
      contended_(problem.topology().spec().contention == Contention::kEgress),
      overtake_(unicast_ || !contended_),
      priority_(by_priority(problem)),
      uniform_links_(problem.topology().uniform_links()),
      op_gap_us_(problem.topology().spec().op_gap_us),
      tree_(devices_ + channels_ + (overtake_ ? 1 : 0)),
      servers_(devices_ + channels_),
      unmet_(problem.node_count()),
      ready_(devices_, problem.node_count()),
      ranked_(devices_, priority_ ? rank_positions(problem, stop) : std::vector<uint32_t>()),
      waiting_(channels_, delivery_count(problem)),
      start_us_(problem.node_count()),
      finish_us_(problem.node_count()),
      dispatch_index_(problem.node_count()) {
  compile_edges();
  if (!stopped(stop_)) find_tails();
}

void EventEngine::find_tails() {
  const auto order = problem_->graph().topological_order();
  tail_us_.assign(problem_->node_count(), 0);
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    for (const OutEdge& e : problem_->graph().out_edges(*v)) {
      const double* row = problem_->run_row(e.target);
      const double fastest = *std::min_element(row, row + problem_->class_count());
      tail_us_[*v] = std::max(tail_us_[*v], fastest + tail_us_[e.target]);
    }
    if (spend(stop_, 1 + problem_->graph().out_edges(*v).size())) return;
  }
  for (double& tail : tail_us_) tail *= 1 - 1e-9;  // its sum was rounded in another order
}

void EventEngine::compile_edges() {
  const Graph& graph = problem_->graph();
  size_t most_bookings = 0;
  consumer_begin_.push_back(0);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const auto out = graph.out_edges(v);
    const auto begin = static_cast<uint32_t>(edges_.size());
    edges_.insert(edges_.end(), out.begin(), out.end());
    stoppable_sort(edges_.begin() + begin, edges_.end(), [](const OutEdge& a, const OutEdge& b) {
      return a.target != b.target ? a.target < b.target : a.output < b.output;
    });
    const bool control = std::any_of(out.begin(), out.end(),
                                     [](const OutEdge& e) { return e.output == kControlEdge; });
    const uint32_t outputs = graph.output_end(v) - graph.output_begin(v);
    rows_.push_back({begin, static_cast<uint32_t>(edges_.size()), graph.output_begin(v),
                     graph.output_end(v), outputs == 1 && !control});
    most_bookings = std::max(most_bookings, unicast_ ? out.size() : size_t{outputs});
    dependencies_.push_back(static_cast<uint32_t>(graph.in_edges(v).size()));
    if (dependencies_.back() == 0) roots_.push_back(v);
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      for (uint32_t w : graph.consumers(o)) {
        consumers_.push_back(w);
        consumer_output_.push_back(o);
      }
      consumer_begin_.push_back(static_cast<uint32_t>(consumers_.size()));
    }
    file_position_.resize(consumers_.size());
    for (uint32_t i = 0; i < out.size(); ++i) {
      if (out[i].output == kControlEdge) continue;
      const auto first = consumers_.begin() + consumer_begin_[out[i].output];
      const auto last = consumers_.begin() + consumer_begin_[out[i].output + 1];
      file_position_[std::lower_bound(first, last, out[i].target) - consumers_.begin()] = i;
    }
    if (spend(stop_, 1 + 3 * out.size())) return;
  }
  bookings_.reserve(most_bookings);
  sorted_.grow_to(most_bookings);
  transfers_.reserve(delivery_count(*problem_));
  if (overtake_) {
    arrivals_.reserve(graph.edge_count());
    chain_.resize(consumers_.size());
    chain_tail_.resize(devices_);
    chain_stamp_.resize(devices_);
  }
  if (!uniform_links_) return;
  const double bandwidth = problem_->topology().spec().default_link.bandwidth_bytes_per_us;
  for (uint32_t o = 0; o < graph.output_count(); ++o) {
    uniform_transfer_us_.push_back(static_cast<double>(graph.output_bytes(o)) / bandwidth);
  }
}

}  // namespace placeto
