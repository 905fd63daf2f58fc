// Problem: one graph on one topology under the caller's rules, compiled to flat arrays. Whatever
// depends on nothing else is compiled here, once, and shared by all who simulate or place it.
//
// Everything that must hold of a placement (allowed kinds, pins, forbidden devices, colocation,
// memory) is decided here, before any heuristic or policy is asked: they choose among the devices
// that `allowed` leaves, for whole groups, and cannot break a rule.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/base/stop.h"
#include "runtime/cost/event_tables.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"

namespace placeto {

// A placement: one device index per node.
using Assignment = std::vector<uint32_t>;

enum class Objective : uint8_t { kLatency, kThroughput };

struct Rules {
  struct NodeDevice {
    uint32_t node;
    uint32_t device;
  };
  std::vector<NodeDevice> pins;                 // the node runs there
  std::vector<NodeDevice> forbids;              // the node does not run there
  std::vector<std::vector<uint32_t>> colocate;  // nodes of one list share a device
  double memory_headroom = 0;  // share of each device's memory to leave free, in [0, 1)
  Objective objective = Objective::kLatency;
};

// Immutable and shareable between threads. Keeps references: graph and topology must outlive it.
class Problem {
 public:
  // Fails with kBadInput when no device can run a node (the message says why), when no device
  // satisfies a colocated group, when nodes x classes of device exceed the limits, or when all
  // times together exceed kMostNumber (number_range.h); with kInvalidArgument when a rule names a
  // node or device that does not exist; with kStopped if `stop` says so.
  static Result<Problem> build(const Graph& graph, const Topology& topology,
                               const Rules& rules = {}, const Limits& limits = {},
                               Stop* stop = nullptr);

  const Graph& graph() const { return *graph_; }
  const Topology& topology() const { return *topology_; }
  uint32_t node_count() const { return graph_->node_count(); }
  uint32_t device_count() const { return topology_->device_count(); }
  Objective objective() const { return objective_; }
  bool is_for_latency() const { return objective_ == Objective::kLatency; }
  Execution execution() const { return topology_->spec().execution; }
  bool is_staged() const { return execution() == Execution::kStaged; }
  // Whether times tell what a move is worth: not where nodes run one at a time, and not for
  // throughput.
  bool times_can_tell() const { return is_for_latency() && execution() == Execution::kParallel; }
  // The same in all else.
  Problem for_latency() const;
  Problem without_memory_limits() const;

  // Devices of one class (kind, slowdown, peak rates) run every node equally fast.
  uint32_t class_count() const { return classes_.count; }
  uint32_t class_of(uint32_t device) const { return classes_.of_device[device]; }

  // Run time of a node on a device in microseconds; kNever where its kind cannot run it.
  [[gnu::always_inline]] double run_us(uint32_t node, uint32_t device) const {
    return run_us_[size_t{node} * classes_.count + classes_.of_device[device]];
  }
  bool can_run(uint32_t node, uint32_t device) const { return run_us(node, device) < kNever; }
  // Row of node x class run times, for inner loops: row[class_of(device)].
  const double* run_row(uint32_t node) const { return &run_us_[size_t{node} * classes_.count]; }
  // Run time of a node where it is fastest.
  double fastest_us(uint32_t node) const {
    return *std::min_element(run_row(node), run_row(node) + classes_.count);
  }
  // A run longer than this moves the clock of every simulation, whenever it starts: what the node
  // holds is held. No time is longer than all runs, transfers and gaps one after the other.
  double shortest_passing_us() const { return shortest_passing_us_; }
  // Idle time of a device after a run that takes time; under staged execution starting is paid for
  // by the stage.
  double op_gap_us() const { return is_staged() ? 0 : topology_->spec().op_gap_us; }
  double gap_after_us(double run_us) const { return run_us == 0 ? 0 : op_gap_us(); }
  // For how long a node keeps its device from running another.
  double occupied_us(uint32_t node, uint32_t device) const {
    const double run = run_us(node, device);
    return run + gap_after_us(run);
  }
  // Mean over the devices that can run the node.
  double mean_run_us(uint32_t node) const { return mean_run_us_[node]; }

  // Time the output occupies its channel from one device to another; 0 on the same device.
  double transfer_us(uint32_t output, uint32_t from, uint32_t to) const {
    // Whether two nodes share a device is a coin toss to a branch predictor: no jump where links
    // are alike.
    if (topology_->uniform_links()) {
      const double us = event_tables_.uniform_transfer_us[output];
      return std::bit_cast<double>(std::bit_cast<uint64_t>(us) & -uint64_t{from != to});
    }
    return from == to ? 0 : transfer_us(output, topology_->link(from, to));
  }
  double transfer_us(uint32_t output, const LinkParameters& link) const {
    return static_cast<double>(graph_->output_bytes(output)) / link.bandwidth_bytes_per_us;
  }
  // Mean over ordered pairs of different devices, latency included under unicast; 0 for a control
  // edge (output == kControlEdge).
  [[gnu::always_inline]] double mean_transfer_us(uint32_t output) const {
    if (output == kControlEdge) return 0;
    return static_cast<double>(graph_->output_bytes(output)) * mean_transfer_.us_per_byte +
           mean_transfer_.latency_us;
  }

  // Upward rank: mean run time plus the largest (mean transfer time + upward rank) over the
  // out-edges. Topcuoglu, Hariri and Wu, IEEE TPDS 2002, eq. 8.
  std::span<const double> upward_rank() const { return upward_rank_; }

  // Groups: the nodes that must share a device (colocation keys and rules, transitively); every
  // node is in exactly one, most alone. Numbered by their lowest node.
  uint32_t group_count() const { return static_cast<uint32_t>(groups_.begin.size()) - 1; }
  uint32_t group_of(uint32_t node) const { return groups_.of[node]; }
  // Ascending.
  [[gnu::always_inline]] std::span<const uint32_t> members(uint32_t group) const {
    return {groups_.members.data() + groups_.begin[group],
            groups_.members.data() + groups_.begin[group + 1]};
  }
  // Whether kinds, pins and forbids let the whole group run on the device. At least one does.
  [[gnu::always_inline]] bool allowed(uint32_t group, uint32_t device) const {
    if (!groups_.class_allowed[size_t{group} * classes_.count + classes_.of_device[device]])
      return false;
    return restrictions_.row.empty() || rules_allow(group, device);
  }
  // The first device from this one on that the group may run on; device_count(): none.
  uint32_t next_allowed(uint32_t group, uint32_t device) const {
    while (device < device_count() && !allowed(group, device)) ++device;
    return device;
  }
  // Whether pins or forbids say anything.
  bool is_restricted() const { return !restrictions_.row.empty(); }
  uint64_t resident_bytes(uint32_t group) const { return groups_.resident_bytes[group]; }

  // Memory a placement may use on the device, headroom taken off; kUnlimited if it has no limit.
  static constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();
  uint64_t memory_limit(uint32_t device) const { return memory_limit_[device]; }
  bool memory_limited() const { return memory_limited_; }
  // Whether the whole graph, all of it held at once, would exceed the limit of some device: if not,
  // no placement can.
  bool may_overflow() const { return may_overflow_; }

  // What the event engine simulates from.
  const EventTables& event_tables() const { return event_tables_; }

 private:
  Problem() = default;
  bool rules_allow(uint32_t group, uint32_t device) const;
  uint64_t* devices_left(uint32_t group);
  void classify_devices();
  Status fill_run_times(const Limits& limits, Stop* stop);
  Status check_times(Stop* stop);
  Status form_groups(const Rules& rules, Stop* stop);
  Status restrict_groups(const Rules& rules, Stop* stop);
  Status check_groups(Stop* stop) const;
  Status fill_ranks(Stop* stop);
  bool find_overflow(Stop* stop) const;

  // Devices that run every node equally fast are one class.
  struct Classes {
    uint32_t count = 0;
    std::vector<uint32_t> of_device, first_device;
  };
  struct Groups {
    std::vector<uint32_t> of;              // node -> group
    std::vector<uint32_t> members, begin;  // group -> first of its members
    std::vector<uint8_t> class_allowed;    // group x class
    std::vector<uint64_t> resident_bytes;
  };
  // The devices that pins and forbids leave: a row of bits for each group that they name.
  struct Restrictions {
    size_t words = 0;           // of a row
    std::vector<uint32_t> row;  // of each group; kNoIndex: all devices. Empty: there are no rules.
    std::vector<uint64_t> left;
  };
  struct MeanTransfer {  // over ordered pairs of different devices
    double us_per_byte = 0, latency_us = 0;
  };

  const Graph* graph_ = nullptr;
  const Topology* topology_ = nullptr;
  Objective objective_ = Objective::kLatency;
  Classes classes_;
  std::vector<double> run_us_, mean_run_us_, upward_rank_;
  Groups groups_;
  Restrictions restrictions_;
  std::vector<uint64_t> memory_limit_;  // per device
  bool memory_limited_ = false, may_overflow_ = false;
  double shortest_passing_us_ = 0;
  MeanTransfer mean_transfer_;
  EventTables event_tables_;
};

}  // namespace placeto
