// WindowSchedule: a list schedule that starts in the middle of a simulated timeline, and tells how
// much later what follows the window would then start.
//
// Of the timeline it keeps the devices and times of the nodes, and rebuilds when channels carried
// what: a channel serves producers in the order they run (nearly, where devices share it or a node
// has several outputs). From that come the latest starts of nodes and transfers, every device and
// channel keeping its order: the heads and tails by which local searches for job shops judge a
// neighbour without scheduling it (Taillard, "Parallel taboo search techniques for the job shop
// scheduling problem", ORSA Journal on Computing 1994). On large graphs a window behind which
// everything could start earlier shortens the run in four cases of ten, another in one of
// twenty-five (tests/bench/results).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "runtime/heuristics/list_schedule.h"

namespace placeto {

// Positions [begin, end) of an order.
struct Window {
  uint32_t begin, end;
};

class WindowSchedule : public ListSchedule {
 public:
  using ListSchedule::ListSchedule;

  // Takes over a timeline, which started the nodes in `order`. Incomplete once stopped.
  void load(std::span<const uint32_t> order, std::span<const uint32_t> assignment,
            std::span<const double> start_us, std::span<const double> finish_us);

  // Takes the nodes of a window out, to be placed in order; close() puts them back where they were.
  // Once stopped, neither is done in full, and the schedule is of no more use.
  void open(Window window);
  void close();

  // A free node that goes with what was placed, until the window is closed.
  void carry(uint32_t node, uint32_t device) {
    place_free(node, device);
    carried_.push_back(node);
  }

  // With the window placed up to position `end`: by how much the latest of what follows starts
  // later than it can without a longer run; negative if the run may become shorter. Members that
  // follow their group out of the window count as if they ran where they did. `group_device`: where
  // groups are now, kNoIndex for those that stay. The rest of the window may be placed after it.
  // Nothing else is looked at once that is `enough_us`.
  double lateness_behind_us(uint32_t end, std::span<const uint32_t> group_device,
                            double enough_us = std::numeric_limits<double>::infinity());

  // Whether the node that was placed last makes what is next on its device behind the window, or
  // the end of the run, late by that much. Then lateness_behind_us is as much from here on, at any
  // end, wherever the rest of the window goes. Readers are not asked: that takes as long as it
  // saves.
  bool is_late(uint32_t node, double late_us) const;

  uint32_t node_at(uint32_t position) const { return base_.order[position]; }
  // In the timeline, without a longer run, every device and channel keeping its order.
  double latest_start_us(uint32_t node) const { return base_.latest_start_us[node]; }
  double makespan_us() const { return base_.makespan_us; }

 private:
  struct Send {
    uint32_t output, destination;  // where it goes first
    double free_us;                // when the channel may send again
    double latest_start_us;
  };

  // Indices 0, 1, ... by whom they belong to, ascending for each.
  struct Rows {
    std::vector<uint32_t> begin, items;

    void assign(std::span<const uint32_t> owner, uint32_t owners);
    uint32_t size() const { return static_cast<uint32_t>(begin.size() - 1); }
    // Where in `items` the owner's indices from `index` on begin; begin[owner + 1] if none are
    // left.
    uint32_t first_from(uint32_t owner, uint32_t index) const;
  };

  double lateness_of_devices_us(uint32_t end) const;
  double lateness_of_transfers_us(uint32_t end, std::span<const uint32_t> group_device,
                                  double enough_us);
  double lateness_of_us(uint32_t node, uint32_t end, std::span<const uint32_t> group_device);
  bool book_sends(uint32_t position);
  bool find_latest_in_order(std::span<const double> start_us);
  double latest_send_us(uint32_t first_send, uint32_t last_send);
  bool keep_arrivals();
  void restore(std::span<double> slots);

  struct Base {                             // the timeline
    std::vector<uint32_t> order, position;  // nodes; their places
    std::vector<uint32_t> device;
    std::vector<double> finish_us, arrived_us, latest_start_us;
    double makespan_us = 0;
  };
  struct Scratch {
    std::vector<double> next_node_us, next_send_us;  // latest start of what is next
    std::vector<double> due_us;                      // per destination
    std::vector<double> kept_channel_free;           // what sends behind the window change
    std::vector<uint32_t> sent;                      // slots filled by them
  };

  Base base_;
  Window window_{0, 0};
  std::vector<uint32_t> carried_;
  std::vector<double> due_behind_us_;          // per device: latest start of its next node behind
  std::vector<Send> sends_;                    // by producer
  std::vector<uint32_t> send_begin_;           // position -> its first send
  std::vector<uint32_t> device_at_, channel_;  // of positions, of sends
  Rows on_device_, on_channel_;                // positions, sends
  Scratch scratch_;
};

}  // namespace placeto
