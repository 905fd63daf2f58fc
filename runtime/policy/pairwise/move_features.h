// MoveFeatures: the rows that the `pairwise` head scores, one per (group, device).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/groups/hierarchy.h"
#include "runtime/policy/pairwise/features.h"
#include "runtime/policy/pairwise/placement_state.h"

namespace placeto {

// One per placer; no allocation after construction, except to grow for a larger border.
class MoveFeatures {
 public:
  MoveFeatures(const Problem& problem, const Hierarchy& hierarchy);

  // Devices worth scoring for one group, at most: those of its neighbours that exchange most with
  // it, then the least loaded. Bounds the cost of a step on systems with many devices.
  static constexpr uint32_t kMostCandidates = 8;

  // Gathers what every device's row needs. O(nodes and edges of the group). Once the state's `stop`
  // says so there are no candidates.
  void begin(const PlacementState& state, uint32_t level, uint32_t group);
  // Devices the group may move to, ascending; those it is entirely on already are left out.
  std::span<const uint32_t> candidates() const { return candidates_; }
  // Writes kPairFeatures floats for moving the group to `device`.
  void row(uint32_t device, float* out) const;
  // Nodes of the group.
  std::span<const uint32_t> nodes() const { return group_.nodes; }

 private:
  struct Border {  // an edge between the group and the rest
    uint32_t output;
    uint32_t elsewhere;  // device of the end outside
    bool incoming, critical;
    double ready_us;   // finish of the producer
    double needed_us;  // start of the consumer
  };

  void add_border(const PlacementState& state, uint32_t node);
  void choose_candidates();
  void fill_common();
  double busy_share(uint32_t device) const;
  double transfer_us(const Border& edge, uint32_t device) const;

  struct Group {
    uint32_t level = 0, index = 0, source = 0;
    std::span<const uint32_t> nodes;
  };
  struct Sums {  // over the group's nodes and the edges at them
    double work_us = 0, resident_bytes = 0, critical_work_us = 0;
    double first_start_us = 0, last_finish_us = 0, least_slack_us = 0;
    double transfer_us = 0, critical_transfer_us = 0, border_bytes = 0;
  };
  struct Stamps {  // which nodes are in the group
    std::vector<uint32_t> of_node;
    uint32_t current = 0;
  };

  const Problem* problem_;
  const Hierarchy* hierarchy_;
  const PlacementState* state_ = nullptr;
  Group group_;
  Sums now_;
  Stamps stamps_;
  std::vector<Border> border_;
  std::vector<double> work_on_, border_bytes_;  // per device
  std::vector<double> run_of_class_;
  std::vector<uint32_t> candidates_;
  std::array<float, kPairFeatures> common_;  // of every device's row, as far as they agree
};

}  // namespace placeto
