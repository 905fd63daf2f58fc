// The same problem with fewer of its like devices: what a search finds there may be better than
// what it finds among more, where there is more to look through.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/heuristics/method.h"

namespace placeto {

class FewerDevices {
 public:
  // Leaves out the last of the largest set of like devices: one of 2 to 4, and of more all beyond
  // the next lower power of two. nullptr where no devices are alike, where rules or links tell them
  // apart, and once stopped. The graph of `problem` must outlive it.
  static std::unique_ptr<FewerDevices> of(const Problem& problem, Stop* stop);

  const Problem& problem() const { return *problem_; }
  // The same placement among all devices; its score is to be looked at again.
  Candidate among_all(Candidate candidate) const;

 private:
  FewerDevices() = default;

  std::optional<Topology> topology_;
  std::optional<Problem> problem_;
  std::vector<uint32_t> device_;  // among all, of each that is left
};

}  // namespace placeto
