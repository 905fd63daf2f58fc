// Records of decisions: what a policy saw of every candidate, and what each would have given.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/policy/pairwise/features.h"

namespace placeto::train {

// What a graph network sees when it embeds a graph.
struct GraphState {
  std::vector<float> rows;               // nodes x kNodeFeatures, unnormalised
  std::vector<uint32_t> source, target;  // node at either end, per edge
  uint32_t node_count() const { return static_cast<uint32_t>(rows.size() / kNodeFeatures); }
  static std::shared_ptr<const GraphState> of(const Graph& graph, std::span<const float> rows);
};

// Decision i has the rows offset[i] .. offset[i + 1] - 1.
struct Samples {
  static constexpr uint32_t kNoExpert = UINT32_MAX;

  std::vector<uint32_t> offset = {0};
  std::vector<float> rows;   // rows x kPairFeatures, unnormalised
  std::vector<float> gains;  // exact decrease of log makespan, one per row
  // Per decision: what a search made of the group in the end, as the index of a candidate or their
  // number if it stays; kNoExpert if it cannot be said.
  std::vector<uint32_t> expert;
  // For a graph network; empty if none is trained. Decisions on one state follow each other.
  std::vector<std::shared_ptr<const GraphState>> graphs;
  std::vector<uint32_t> graph;                // per decision: what its embedding was made from
  std::vector<uint32_t> member_offset = {0};  // as offset, into members
  std::vector<uint32_t> members;              // nodes of its group

  uint32_t decisions() const { return static_cast<uint32_t>(offset.size()) - 1; }
  uint32_t row_count() const { return static_cast<uint32_t>(gains.size()); }
  std::span<const float> row(uint32_t r) const {
    return {&rows[size_t{r} * kPairFeatures], kPairFeatures};
  }
  std::span<const uint32_t> nodes(uint32_t decision) const {
    return {members.data() + member_offset[decision], members.data() + member_offset[decision + 1]};
  }
  // First and one past the last of the decisions on the same state of the graph as `decision`.
  std::pair<uint32_t, uint32_t> same_graph(uint32_t decision) const;

  // Another decision; its rows have been appended to rows and gains.
  void close_decision(uint32_t by_expert = kNoExpert) {
    offset.push_back(row_count());
    expert.push_back(by_expert);
  }
  // The decision closed last is about these nodes of graphs.back().
  void close_members(std::span<const uint32_t> nodes);
  void append(const Samples& other);
  // Adds a decision of another; the state of the graph is shared, not copied.
  void append_decision(const Samples& other, uint32_t decision);

  // What `wanted` makes of a group that is placed as `now` says and may move to the devices: as
  // `expert` has it; kNoExpert if the group is split, or moves to none of them.
  static uint32_t expert_choice(std::span<const uint32_t> nodes, std::span<const uint32_t> devices,
                                std::span<const uint32_t> now, std::span<const uint32_t> wanted);

  std::string to_bytes() const;
  // False if the bytes are none that to_bytes made.
  bool from_bytes(std::string_view bytes);

 private:
  bool graphs_from_bytes(std::string_view bytes);
};

}  // namespace placeto::train
