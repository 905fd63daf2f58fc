// What a move can lead to at best, from the paths through the moved nodes: far cheaper than a
// simulation, and enough to see that most moves are hopeless.
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/change.h"
#include "runtime/cost/problem.h"

namespace placeto {

// Takes one placement after the other. Not shareable between threads; the problem must outlive it.
class PathBound {
 public:
  explicit PathBound(const Problem& problem, Stop* stop = nullptr);

  // The placement that moves start from; used until the next one. Once stopped, of no use.
  void base_changed() { old_ = true; }

  // No placement that differs from `assignment` by these changes has a lower makespan. 0 where
  // paths bound nothing: for throughput, and where nodes run as parts of stages.
  double least_us(std::span<const uint32_t> assignment, std::span<const Change> changes);

 private:
  void update(std::span<const uint32_t> assignment);
  double head_us(std::span<const uint32_t> assignment, uint32_t node, uint32_t device) const;
  double tail_us(std::span<const uint32_t> assignment, uint32_t node, uint32_t device) const;
  double free_path_us(std::span<const uint32_t> assignment, uint32_t node, uint32_t device) const;

  const Problem* problem_;
  Stop* stop_;
  bool applies_, old_ = true;
  std::vector<double> head_us_, tail_us_;  // before and after a node's run, nobody waiting
  std::vector<double> free_head_us_;       // fastest runs, no transfers
  std::vector<uint32_t> moved_to_;         // by node, within one call; kNoIndex: it stays
};

}  // namespace placeto
