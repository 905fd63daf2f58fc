// Stages: a placement divided into parts that an engine runs one after another, each on one device.
//
// This is the one place where stages are formed: the simulator predicts them, the placement file
// records them, and export writes one model for each.
//
// All rules number stages so that every dependency leads from a stage to itself or to one with a
// higher number. So stages never wait for each other in a circle, whatever the placement, and
// running them in the order of their numbers is always right.
//
// kFewest peels the graph: the stage takes every node of its device that needs nothing outside of
// what has been taken, until there is none; then another device has its turn. A node enters after
// its predecessors, so in the same stage or a later one. Taking more never hurts what follows, so
// with two devices no division has fewer stages that starts with the same device, and each start is
// tried, of more than 16 the first. With more devices the next is the one with the most nodes
// ready, which is a heuristic.
//
// kOverlap is for devices that run at the same time. The nodes of each device, in topological
// order, are cut before a node that reads another device's output and after a node whose output
// another device reads, so that no tensor waits for work that it does not depend on. What enters a
// stage from another device enters at its first node and what leaves it leaves at its last; a
// dependency between stages thus leads from a last node to a first node that comes later in the
// order, and so does one along a device. Ordered by their first nodes, stages depend on earlier
// ones alone.
//
// kCrossings has stages that wait for little, but fewer: those nodes of a device are together that
// have as many changes of the device on the longest way to them, and on the longest way from them.
// A dependency leads to a node with as many before it or more and as many behind it or fewer, and
// to another stage only if one of them changes; so stages are numbered by the difference, equal
// ones by their first nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/base/stop.h"

namespace placeto {

enum class StageRule : uint8_t { kFewest, kOverlap, kCrossings };
inline constexpr StageRule kStageRules[] = {StageRule::kFewest, StageRule::kOverlap,
                                            StageRule::kCrossings};

// Where the work of each device is divided, and in which order devices take the parts.
struct Division {
  std::vector<uint32_t> stage_of;  // per node; kNoIndex for nodes that are not to run
  std::vector<uint32_t> device;    // per stage
  std::vector<uint32_t> order;     // every stage once, each device taking its stages in the order
                                   // in which they stand here; empty: the first that is ready
  bool empty() const { return stage_of.empty(); }
  uint32_t stage_count() const { return static_cast<uint32_t>(device.size()); }
  // A stage without nodes: its number. If an order is recorded, it comes there directly behind the
  // stage `beside`, or before it.
  uint32_t add_stage(uint32_t on_device, uint32_t beside, bool before = false);
};

// What is divided. Not owned: lives as long as what it was made from.
struct StageGraph {
  std::span<const uint32_t> order;   // the nodes that run, each after its predecessors
  std::span<const uint32_t> begin;   // per node, and one more: where its successors begin
  std::span<const uint32_t> target;  // successors, all of them nodes that run
  uint32_t node_count() const { return static_cast<uint32_t>(begin.size()) - 1; }
};

// Forms stages again and again. No call after the first of a kind allocates.
class StageFormer {
 public:
  StageFormer(const StageGraph& graph, uint32_t device_count, Stop* stop = nullptr);

  // Overwrites all of `division`; its order is left empty. device_of[v] < device_count. False if
  // stopped. Time: nodes + edges; for kFewest also stages times devices, and all of that for each
  // device that it tries to start with, at most: about half of it, as those that come to where the
  // best one was are given up.
  bool form(std::span<const uint32_t> device_of, StageRule rule, Division& division,
            Stop* stop = nullptr);

 private:
  // Nodes that can be taken next.
  struct Peeling {
    std::vector<uint32_t> ready, ready_count;  // per device: the first of a chain, how many
    std::vector<uint32_t> missing;             // per node: predecessors that have not been taken
    Peeling(uint32_t nodes, uint32_t devices)
        : ready(devices), ready_count(devices), missing(nodes) {}
  };

  bool fewest(std::span<const uint32_t> device_of, Division& division, Stop* stop);
  bool overlap(std::span<const uint32_t> device_of, Division& division, Stop* stop);
  bool count_crossings(std::span<const uint32_t> device_of, Stop* stop);
  bool crossings(std::span<const uint32_t> device_of, Division& division, Stop* stop);
  bool prepare(std::span<const uint32_t> device_of, Stop* stop);
  bool peel_from(uint32_t device, uint32_t most, std::span<const uint32_t> device_of,
                 Division& division, Stop* stop);
  void peel(uint32_t device, uint32_t stage, std::span<const uint32_t> device_of,
            std::span<uint32_t> stage_of, Stop* stop);
  void make_ready(uint32_t node, uint32_t device, Peeling& peeling) {
    next_[node] = peeling.ready[device];
    peeling.ready[device] = node;
    ++peeling.ready_count[device];
  }

  StageGraph graph_;
  std::vector<uint32_t> roots_;                     // nodes without predecessors
  std::vector<uint32_t> predecessors_;              // per node: how many
  Peeling begun_, at_;                              // before every start, and by now
  std::vector<uint32_t> next_;                      // nodes to take, chained per device
  Division other_;                                  // another start's
  uint64_t taken_ = 0;                              // a sum that tells apart what has been taken
  std::vector<uint64_t> taken_by_, best_taken_by_;  // the same by each stage
  std::vector<uint32_t> open_;                      // per device: stage that takes nodes
  std::vector<uint32_t> before_, behind_;           // crossings, per node
  std::vector<uint8_t> reads_elsewhere_, sends_elsewhere_;  // per node
  std::vector<uint32_t> found_;                             // stages, by a hash of their keys
  std::vector<uint64_t> keys_;                              // of stages, as they were found
};

// Numbers stages anew, again and again, in memory that it keeps.
class StageNumbering {
 public:
  explicit StageNumbering(const StageGraph& graph) : graph_(graph) {}

  // So that every dependency leads to the same or a higher number, and without stages that have no
  // nodes. Where an order is recorded, which then names every stage, the numbers follow it as far
  // as dependencies allow, and are the order. False, and nothing is changed, if stages wait for
  // each other in a circle, and once stopped.
  bool renew(Division& division, Stop* stop = nullptr);

 private:
  bool connect(const Division& division, Stop* stop);
  bool number(const Division& division, Stop* stop);

  StageGraph graph_;
  std::vector<uint32_t> begin_, after_;            // per stage, what reads from it
  std::vector<uint32_t> missing_, nodes_;          // per stage: how many it waits for, has
  std::vector<uint32_t> place_, number_, device_;  // in the order so far, anew, anew its device
  std::vector<uint32_t> ready_;
};

// The same, once.
inline bool renumber_stages(const StageGraph& graph, Division& division, Stop* stop = nullptr) {
  return StageNumbering(graph).renew(division, stop);
}

}  // namespace placeto
