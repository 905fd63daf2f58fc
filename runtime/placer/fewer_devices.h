// The same problem with fewer of its devices: what is found there may be better than what is found
// among more, where there is more to look through.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// The sets of like devices, in the order of their first ones; a device like no other, or that a
// rule tells apart, is a set, too. None where links differ.
std::vector<std::vector<uint32_t>> like_devices(const Problem& problem);

// How many numbers of so many like devices are searched: one less of up to 8, and of more the next
// lower power of two, and so on.
uint32_t sizes_searched(uint32_t devices);

// The sets whose devices are searched with fewer of them: all from `first_set` on if their numbers
// have few combinations, each of which is come to once, else the largest, wherever it is.
std::vector<size_t> sets_to_lessen(const std::vector<std::vector<uint32_t>>& sets,
                                   size_t first_set);

// All devices, ascending, but the last of `set`, which are alike and more than one: down to the
// next size that is searched.
std::vector<uint32_t> without_last(const Problem& problem, const std::vector<uint32_t>& set);

class FewerDevices {
 public:
  // Of `devices` alone, ascending. nullptr where a limit cannot be written down, where they cannot
  // run a group, and once stopped. The graph of `problem` must outlive it.
  static std::unique_ptr<FewerDevices> of(const Problem& problem, std::vector<uint32_t> devices,
                                          Stop* stop);

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
