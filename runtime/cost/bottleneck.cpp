// Circles are strongly connected components: Sharir, "A strong-connectivity algorithm and its
// applications in data flow analysis", Computers and Mathematics with Applications 1981.
#include "runtime/cost/bottleneck.h"

#include <algorithm>
#include <utility>

#include "runtime/base/no_index.h"
#include "runtime/base/stoppable_sort.h"
#include "runtime/cost/broadcast_link.h"

namespace placeto {

Bottleneck::Bottleneck(const Problem& problem)
    : problem_(&problem), row_(problem.device_count()), seen_(problem.device_count()) {
  const size_t rows = std::min(problem.device_count(), problem.node_count());
  used_.reserve(rows);
  feeds_.reserve(rows * rows);
  left_.reserve(rows);
  circle_.reserve(rows);
  path_.reserve(rows);
  intake_us_.reserve(problem.device_count());
  circle_us_.reserve(rows);
  destinations_.reserve(rows);
  busiest_.reserve(rows);
}

double Bottleneck::find(std::span<const uint32_t> assignment, std::span<const double> device_us,
                        std::span<double> channel_us, Stop* stop) {
  if (!knows_returns_) find_returns(stop);
  list_devices(assignment, stop);
  const auto rows = static_cast<uint32_t>(used_.size());
  if (spend(stop, uint64_t{rows} * rows)) return 0;
  left_.clear();
  circle_.assign(rows, 0);
  for (uint32_t row = 0; row < rows; ++row) leave(row);
  circle_.assign(rows, kNoIndex);
  circle_us_.clear();
  for (auto row = left_.rbegin(); row != left_.rend(); ++row) {
    if (circle_[*row] != kNoIndex) continue;
    circle_us_.push_back(0);
    gather(*row, static_cast<uint32_t>(circle_us_.size() - 1));
  }
  for (uint32_t row = 0; row < rows; ++row) circle_us_[circle_[row]] += device_us[used_[row]];
  std::fill(channel_us.begin(), channel_us.end(), 0);
  intake_us_.assign(problem_->device_count(), 0);
  std::fill(seen_.begin(), seen_.end(), kNoIndex);
  for (uint32_t o = 0; o < problem_->graph().output_count() && rows > 1; ++o) {
    add_transfers(assignment, o, channel_us, stop);
    if (spend(stop, 1 + problem_->graph().consumers(o).size())) return 0;
  }
  double most = 0;
  for (const double us : channel_us) most = std::max(most, us);
  busiest_.clear();
  for (const uint32_t d : used_) {
    const double us = std::max(intake_us_[d], circle_us_[circle_[row_[d]]]);
    if (us > most) busiest_.clear();
    if (us >= most) busiest_.push_back(d);
    most = std::max(most, us);
  }
  return most;
}

// To every other device that reads the output: one transfer to each, or one to all.
void Bottleneck::add_transfers(std::span<const uint32_t> assignment, uint32_t output,
                               std::span<double> channel_us, Stop* stop) {
  const Topology& topology = problem_->topology();
  const uint32_t source = assignment[problem_->graph().producer(output)];
  seen_[source] = output;
  destinations_.clear();
  for (const uint32_t w : watched(problem_->graph().consumers(output), stop)) {
    if (std::exchange(seen_[assignment[w]], output) != output) {
      destinations_.push_back(assignment[w]);
    }
  }
  if (destinations_.empty()) return;
  const uint32_t circle = circle_[row_[source]];
  const auto send = [&](std::span<const uint32_t> to, const LinkParameters& link,
                        uint32_t channel) {
    const double us = problem_->transfer_us(output, link) + link.gap_us;
    channel_us[channel] += us;
    bool inside = false;
    for (const uint32_t d : to) {
      intake_us_[d] += us;
      inside = inside || circle_[row_[d]] == circle;
    }
    if (inside) circle_us_[circle] += us;
  };
  if (topology.spec().transfer == Transfer::kBroadcast) {
    return send(destinations_, broadcast_link(*problem_, assignment, output, source), source);
  }
  for (const uint32_t& d : destinations_) {
    send({&d, 1}, topology.link(source, d), topology.channel(source, d));
  }
}

// Sets of nodes that share a device are carried along the edges, 64 at a time. With very many on a
// very large graph that would take too long: all circles count there.
void Bottleneck::find_returns(Stop* stop) {
  constexpr uint64_t kMostWork = 200'000'000;
  const Graph& graph = problem_->graph();
  const auto set_of = [&graph](uint32_t node) -> const std::string& {
    return graph.node(node).colocate;
  };
  std::vector<uint32_t> nodes;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    if (!set_of(v).empty()) nodes.push_back(v);
    if (spend(stop, 1)) return;
  }
  stoppable_sort(
      nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) { return set_of(a) < set_of(b); },
      stop);
  uint32_t sets = 0;
  if (!nodes.empty()) set_.assign(graph.node_count(), kNoIndex);
  const uint32_t classes = problem_->class_count();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i == 0 || set_of(nodes[i]) != set_of(nodes[i - 1])) {
      cannot_run_.resize(size_t{++sets} * classes, 0);
    }
    set_[nodes[i]] = sets - 1;
    const double* const run_us = problem_->run_row(nodes[i]);
    for (uint32_t c = 0; c < classes; ++c) {
      if (run_us[c] == kNever) cannot_run_[size_t{sets - 1} * classes + c] = 1;
    }
    if (spend(stop, 1 + classes)) return;
  }
  const uint64_t work = (sets + 63) / 64 * graph.size();
  if (sets > 0 && work <= kMostWork) returns_.assign(graph.edge_count(), false);
  std::vector<uint64_t> before(returns_.empty() ? 0 : graph.node_count());
  for (uint32_t first = 0; !returns_.empty() && first < sets; first += 64) {
    const auto bit = [&](uint32_t node) {
      const uint32_t i = set_[node] - first;
      return i < 64 ? uint64_t{1} << i : 0;
    };
    before.assign(before.size(), 0);
    for (const uint32_t v : graph.topological_order()) {
      const uint64_t met = before[v] | bit(v);
      for (const OutEdge& out : watched(graph.out_edges(v), stop)) {
        before[out.target] |= met;
        if ((met & bit(out.target)) != 0) returns_[&out - graph.out_edges(0).data()] = true;
      }
      if (spend(stop, 1 + graph.out_edges(v).size())) return;
    }
  }
  knows_returns_ = true;
}

// Whether the graph makes it, from that device.
bool Bottleneck::comes_back(const OutEdge& out, uint32_t device) const {
  if (!returns_.empty() && returns_[&out - problem_->graph().out_edges(0).data()]) return true;
  if (set_.empty() || set_[out.target] == kNoIndex) {
    return !problem_->can_run(out.target, device);
  }
  const size_t row = size_t{set_[out.target]} * problem_->class_count();
  return cannot_run_[row + problem_->class_of(device)] != 0;
}

// And who feeds whom.
void Bottleneck::list_devices(std::span<const uint32_t> assignment, Stop* stop) {
  std::fill(row_.begin(), row_.end(), kNoIndex);
  used_.clear();
  for (const uint32_t d : watched(assignment, stop)) {
    if (row_[d] != kNoIndex) continue;
    row_[d] = static_cast<uint32_t>(used_.size());
    used_.push_back(d);
  }
  if (stopped(stop)) return;
  feeds_.assign(used_.size() * used_.size(), 0);
  if (used_.size() == 1) return;
  for (uint32_t v = 0; v < assignment.size(); ++v) {
    const size_t from = row_[assignment[v]] * used_.size();
    for (const OutEdge& out : watched(problem_->graph().out_edges(v), stop)) {
      const uint32_t to = assignment[out.target];
      if (to != assignment[v] && !comes_back(out, assignment[v])) feeds_[from + row_[to]] = 1;
    }
    if (spend(stop, 1 + problem_->graph().out_edges(v).size())) return;
  }
}

// Depth first; circle_ is one more than how many of the others were looked at from there.
void Bottleneck::leave(uint32_t row) {
  if (circle_[row] != 0) return;
  const auto rows = static_cast<uint32_t>(used_.size());
  circle_[row] = 1;
  path_.assign(1, row);
  while (!path_.empty()) {
    const uint32_t at = path_.back();
    uint32_t to = circle_[at] - 1;
    while (to < rows && (feeds_[at * rows + to] == 0 || circle_[to] != 0)) ++to;
    circle_[at] = to + 1;
    if (to < rows) {
      circle_[to] = 1;
      path_.push_back(to);
    } else {
      left_.push_back(at);
      path_.pop_back();
    }
  }
}

// Against the edges.
void Bottleneck::gather(uint32_t row, uint32_t circle) {
  const auto rows = static_cast<uint32_t>(used_.size());
  circle_[row] = circle;
  path_.assign(1, row);
  while (!path_.empty()) {
    const uint32_t at = path_.back();
    path_.pop_back();
    for (uint32_t from = 0; from < rows; ++from) {
      if (feeds_[from * rows + at] == 0 || circle_[from] != kNoIndex) continue;
      circle_[from] = circle;
      path_.push_back(from);
    }
  }
}

}  // namespace placeto
