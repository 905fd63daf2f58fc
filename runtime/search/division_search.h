// All divisions of one placement of a small problem that staged execution runs for latency.
//
// A division and the order in which devices take its stages are a sequence of stages, each of nodes
// whose predecessors are in it or before it. Sequences are built from the front, depth first, and
// left when no end of theirs can be better than the best known: later, or more bytes over the
// limits. Copies are taken to arrive without waiting for one another, and to take no room until a
// stage reads them, until a sequence is whole; that is simulated.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/heuristics/method.h"

namespace placeto {

// A set of nodes is the bits of a number.
inline constexpr uint32_t kMostDividedNodes = 64;

// The problem, which has no more nodes than that, and the evaluator must outlive it.
class DivisionSearch {
 public:
  explicit DivisionSearch(Evaluator& evaluator);

  // Improves `best`, in place. True if no division of the placement, whatever their order, then has
  // a lower score, up to rounding; false if that took all of `branches`, which become less, or was
  // stopped. No division overflows memory by less than `least_overflow_bytes`.
  bool search(std::span<const uint32_t> assignment, uint64_t least_overflow_bytes,
              uint64_t& branches, Candidate& best);

 private:
  using Nodes = uint64_t;
  // Where a sequence of stages has got to.
  struct State {
    Nodes done = 0;
    std::vector<double> free_us;       // of each device: when its last stage ends, at least
    std::vector<double> ready_us;      // of each node: when what it reads has come, at least
    std::vector<uint64_t> peak_bytes;  // of each device, at least
  };

  static Nodes only(uint32_t node) { return Nodes{1} << node; }
  void find_rests();
  double price_us(uint32_t output, uint32_t device) const;
  // The way from one device to another, without prices.
  double way_us(uint32_t output, uint32_t from, uint32_t to) const;
  // False once out of branches or stopped, as the next two.
  bool extend(uint32_t depth);
  // Each stage of the device with those nodes and any that come later in topological order.
  bool choose(uint32_t depth, uint32_t device, size_t from, Nodes stage);
  bool append(uint32_t depth, uint32_t device, Nodes stage);
  void run(const State& before, uint32_t device, Nodes stage, State& after) const;
  // What the device holds while it runs the stage behind those that are done, at least.
  uint64_t held_bytes(Nodes done, uint32_t device, Nodes stage) const;
  double least_us(const State& state) const;
  bool is_hopeless(const State& state);
  bool try_sequence();

  Evaluator& evaluator_;
  const Problem& problem_;
  const Graph& graph_;
  std::span<const uint32_t> assignment_;
  Candidate* best_ = nullptr;
  uint64_t least_overflow_bytes_ = 0;
  uint64_t* branches_ = nullptr;
  Nodes all_;
  std::vector<Nodes> predecessors_;  // of each node
  std::vector<Nodes> readers_;       // of each output
  std::vector<Nodes> on_;            // each device
  std::vector<double> rest_us_;      // of each node: from its start to the end of all, at least
  std::vector<State> states_;        // by depth; at the first, devices hold resident bytes
  std::vector<Nodes> stages_;        // the sequence
  std::unordered_map<Nodes, uint64_t> tried_;  // those done, with the least overflow behind them
};

}  // namespace placeto
