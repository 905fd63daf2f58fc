#include "runtime/search/frugal_order.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <span>
#include <vector>

#include "runtime/base/no_index.h"

namespace placeto {
namespace {

class Scheduler {
 public:
  Scheduler(const Problem& problem, std::span<const uint32_t> assignment, Stop* stop)
      : graph_(problem.graph()),
        stop_(stop),
        missing_(graph_.node_count()),
        growth_(graph_.node_count(), 0),
        reads_begin_(graph_.node_count()),
        reads_end_(graph_.node_count()),
        position_(graph_.node_count()) {
    const auto order = graph_.topological_order();
    uint32_t edges = 0;
    for (uint32_t i = 0; i < order.size(); ++i) {
      const uint32_t v = order[i];
      position_[v] = i;
      missing_[v] = static_cast<uint32_t>(graph_.in_edges(v).size());
      reads_begin_[v] = reads_end_[v] = edges;
      edges += missing_[v];
    }
    reads_.resize(edges);
    if (spend(stop_, 2 * order.size() + edges)) return;
    list_what_is_held(assignment, problem.device_count());
  }

  // The nodes in the order found; not all once stopped.
  std::vector<uint32_t> run() {
    const auto order = graph_.topological_order();
    std::vector<uint32_t> found;
    for (const uint32_t v : watched(order, stop_)) {
      if (missing_[v] == 0) push(v);
    }
    while (!ready_.empty() && !stopped(stop_)) {
      const Ready next = ready_.front();
      std::ranges::pop_heap(ready_, std::greater{});
      ready_.pop_back();
      const uint32_t v = order[next.position];
      if (missing_[v] == kNoIndex || next.growth != growth_[v]) continue;  // listed again since
      missing_[v] = kNoIndex;
      found.push_back(v);
      finish(v);
    }
    return found;
  }

 private:
  // An output on a device where it is read. Its bytes are held there until all readers have run.
  struct Held {
    uint64_t bytes;
    uint32_t left = 0;     // readers that have not run
    uint32_t readers = 0;  // exclusive or of their numbers: the number of the last that is left
  };
  struct Ready {
    int64_t growth;
    uint32_t position;
    auto operator<=>(const Ready&) const = default;
  };

  void list_what_is_held(std::span<const uint32_t> assignment, uint32_t devices) {
    std::vector<uint32_t> on_device(devices, kNoIndex);
    for (uint32_t o = 0; o < graph_.output_count(); ++o) {
      const auto readers = graph_.consumers(o);
      for (const uint32_t w : watched(readers, stop_)) {
        uint32_t& held = on_device[assignment[w]];
        if (held == kNoIndex) {
          held = static_cast<uint32_t>(held_.size());
          held_.push_back({graph_.output_bytes(o)});
        }
        ++held_[held].left;
        held_[held].readers ^= w;
        reads_[reads_end_[w]++] = held;
      }
      const uint32_t producer = graph_.producer(o);
      if (on_device[assignment[producer]] != kNoIndex) {
        growth_[producer] += static_cast<int64_t>(graph_.output_bytes(o));
      }
      for (const uint32_t w : watched(readers, stop_)) on_device[assignment[w]] = kNoIndex;
      if (spend(stop_, 1 + 2 * readers.size())) return;
    }
    for (const Held& held : watched(held_, stop_)) note_last(held);
  }

  // With its last reader the output goes.
  void note_last(const Held& held) {
    if (held.left != 1) return;
    growth_[held.readers] -= static_cast<int64_t>(held.bytes);
    if (missing_[held.readers] == 0) push(held.readers);
  }

  void push(uint32_t node) {
    ready_.push_back({growth_[node], position_[node]});
    std::ranges::push_heap(ready_, std::greater{});
  }

  void finish(uint32_t node) {
    const std::span<const uint32_t> reads(reads_.data() + reads_begin_[node],
                                          reads_.data() + reads_end_[node]);
    for (const uint32_t read : watched(reads, stop_)) {
      Held& held = held_[read];
      --held.left;
      held.readers ^= node;
      note_last(held);
    }
    for (const OutEdge& out : watched(graph_.out_edges(node), stop_)) {
      if (--missing_[out.target] == 0) push(out.target);
    }
    spend(stop_, 1 + reads.size() + graph_.out_edges(node).size());
  }

  const Graph& graph_;
  Stop* stop_;
  std::vector<uint32_t> missing_;  // predecessors that have not run; kNoIndex: has run itself
  std::vector<int64_t> growth_;    // of what its device holds, once the node has run
  std::vector<uint32_t> reads_begin_, reads_end_, reads_;  // of each node, in held_
  std::vector<uint32_t> position_;                         // in topological order
  std::vector<Held> held_;
  std::vector<Ready> ready_;  // a heap, the least growth first
};

// Without those that do not begin: their nodes are in the stage before.
Division join_stages(const Division& apart, const std::vector<bool>& begins, Stop* stop) {
  Division joined;
  std::vector<uint32_t> number(begins.size());
  in_pieces(0, apart.stage_count(), stop, [&](uint32_t s) {
    if (begins[s]) {
      joined.order.push_back(joined.stage_count());
      joined.device.push_back(apart.device[s]);
    }
    number[s] = joined.stage_count() - 1;
  });
  for (const uint32_t s : watched(apart.stage_of, stop)) joined.stage_of.push_back(number[s]);
  spend(stop, 2 * begins.size());
  return joined;
}

}  // namespace

Division frugal_order(const Problem& problem, std::span<const uint32_t> assignment, Stop* stop) {
  const std::vector<uint32_t> nodes = Scheduler(problem, assignment, stop).run();
  if (stopped(stop)) return {};
  Division division;
  division.stage_of.resize(nodes.size());
  in_pieces(0, problem.node_count(), stop, [&](uint32_t s) {
    division.stage_of[nodes[s]] = s;
    division.device.push_back(assignment[nodes[s]]);
    division.order.push_back(s);
  });
  return division;
}

void gather_stages(uint64_t evaluations, Evaluator& evaluator, Candidate& candidate) {
  const Division apart = candidate.division;  // stages stand in the order in which they run
  const uint32_t count = apart.stage_count();
  const uint64_t last = evaluator.evaluations() + evaluations;
  std::vector<bool> begins(count, true);
  // Whether those stages join the one before them.
  const auto join = [&](uint32_t from, uint32_t to) {
    std::fill(begins.begin() + from, begins.begin() + to, false);
    Division joined = join_stages(apart, begins, evaluator.stop());
    if (stopped(evaluator.stop())) return false;
    const Score score = evaluator.evaluate(candidate.assignment, joined);
    if (stopped(evaluator.stop())) return false;
    if (candidate.score < score) {
      std::fill(begins.begin() + from, begins.begin() + to, true);
      return false;
    }
    candidate.score = score;
    candidate.division = std::move(joined);
    return true;
  };
  for (uint32_t first = 0, end = 1; first < count; first = end++) {
    if (spend(evaluator.stop(), 1)) return;
    uint32_t beyond = first + 1;  // what the stage cannot reach
    while (beyond < count && apart.device[beyond] == apart.device[first]) ++beyond;
    bool failed = false;
    for (++beyond; end + 1 < beyond;) {
      if (stopped(evaluator.stop()) || evaluator.evaluations() >= last) return;
      const uint32_t middle = end + (beyond - end) / 2, twice = end + (end - first);
      const uint32_t to = failed ? middle : std::min(twice, beyond - 1);
      if (join(end, to)) {
        end = to;
      } else {
        beyond = to;
        failed = true;
      }
    }
  }
}

}  // namespace placeto
