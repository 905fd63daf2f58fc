// Queues: a simulated run as its devices and channels saw it, what each ran or carried one after
// the other, when, and how late that could have been without a longer run.
//
// A run tells the devices and times of its nodes; when channels carried what is built again from
// those: a channel serves producers in the order they run (nearly, where devices share it), each
// producer's transfers in the order of its out-edges. From that come the latest starts of nodes and
// transfers, every device and channel keeping its order: the heads and tails by which local
// searches for job shops judge a neighbour without scheduling it (Taillard, "Parallel taboo search
// techniques for the job shop scheduling problem", ORSA Journal on Computing 1994).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/base/uncleared.h"
#include "runtime/cost/problem.h"
#include "runtime/timeline/latest_starts.h"

namespace placeto {

// Whether arrivals of an output are kept for each device that it is sent to, as unicast needs.
// Beyond 2^24 pairs the first arrival of an output stands for all, as under broadcast: optimistic,
// but bounded.
bool arrives_apart(const Problem& problem);

class Queues {
 public:
  // What a device runs or a channel carries.
  struct Entry {
    uint32_t item;             // the node's position in the order, or the send's index; ascending
    double start_us, free_us;  // for what is next: behind the gap
    double latest_start_us;
    double idle_us;  // how long the device or channel had nothing to do, up to its start
  };
  struct Send {
    uint32_t output = 0, destination = 0;  // where it goes first
    double start_us = 0, arrival_us = 0;
    // Where transfers queue.
    double free_us = 0;
    uint32_t channel = kNoIndex, entry = kNoIndex;
  };

  explicit Queues(const Problem& problem);

  // Takes over a run. Incomplete once stopped, and of no more use.
  void load(const SimulatedRun& run, Stop* stop = nullptr);

  double makespan_us() const { return makespan_us_; }
  uint32_t node_at(uint32_t position) const { return order_[position]; }
  uint32_t position(uint32_t node) const { return nodes_[node].position; }
  uint32_t device_of(uint32_t node) const { return nodes_[node].device; }
  double finish_us(uint32_t node) const { return nodes_[node].finish_us; }
  // Every device and channel keeping its order.
  double latest_start_us(uint32_t node) const { return nodes_[node].latest_start_us; }
  double slack_us(uint32_t node) const { return latest_start_us(node) - nodes_[node].start_us; }

  std::span<const Entry> on_device(uint32_t device) const { return devices_.row(device); }
  std::span<const Entry> on_channel(uint32_t channel) const { return channels_.row(channel); }
  // Transfers, in the order of their producers; none where they take nothing from each other.
  std::span<const Send> sends() const { return sends_; }
  uint32_t first_send(uint32_t position) const { return first_send_[position]; }
  // Arrivals of an output have a slot for each device where they are kept apart, else one.
  size_t slot_count() const {
    return size_t{problem_->graph().output_count()} * (apart_ ? problem_->device_count() : 1);
  }
  size_t slot(uint32_t output, uint32_t device) const {
    return apart_ ? size_t{output} * problem_->device_count() + device : output;
  }
  // That brings the output to a device other than its producer's; nullptr: none does.
  const Send* send_to(uint32_t output, uint32_t device) const {
    const uint32_t index = send_at_[slot(output, device)];
    return index == kNoIndex ? nullptr : &sends_[index];
  }

  // How many entries of a queue come before something; `before` says of each whether it does. Short
  // queues without jumps, which are hard to predict; in long ones, a predicted jump fetches what is
  // looked at next while the memory is still waited for.
  template <class Before>
  static size_t count_before(std::span<const Entry> queue, const Before& before) {
    constexpr size_t kLong = 1024;
    if (queue.size() > kLong) {
      const auto next = std::partition_point(queue.begin(), queue.end(), before);
      return static_cast<size_t>(next - queue.begin());
    }
    size_t count = 0;
    for (size_t left = queue.size(); left > 0;) {
      const size_t half = (left + 1) / 2;
      const bool is_before = before(queue[count + half - 1]);
      count += __builtin_expect_with_probability(is_before, 1, 0.5) ? half : 0;
      left -= half;
    }
    return count;
  }

 private:
  struct Node {
    uint32_t position, device, entry;
    double start_us, finish_us, latest_start_us;
  };
  struct Rows {  // entries by the device or channel they are on
    std::vector<uint32_t> begin, end;
    Uncleared<Entry> entries;

    void open(size_t count);
    uint32_t add(uint32_t owner, uint32_t item, double start_us, double free_us);
    std::span<const Entry> row(uint32_t owner) const {
      return {entries.data() + begin[owner], entries.data() + begin[owner + 1]};
    }
    double latest_behind_us(uint32_t owner, uint32_t index) const {
      return index + 1 == begin[owner + 1] ? kNever : entries[index + 1].latest_start_us;
    }
  };
  Entry& entry_of(const Send& send) { return channels_.entries[send.entry]; }
  struct Transfer {
    double us, until_arrival_us;  // how long the channel is taken; with the latency
  };
  Transfer find_transfer(uint32_t output, uint32_t from, uint32_t to) const;
  void queue_nodes(const SimulatedRun& run, Stop* stop);
  void book_sends(uint32_t position, std::span<const uint32_t> assignment, Stop* stop);
  void queue_sends(Stop* stop);
  void find_latest_starts_in_order(Stop* stop);
  double find_latest_start_us(const Send& send, uint32_t source);

  const Problem* problem_;
  bool apart_, contended_;
  double makespan_us_ = 0;
  std::vector<uint32_t> order_;
  Uncleared<Node> nodes_;
  Rows devices_, channels_;
  std::vector<Send> sends_;
  std::vector<uint32_t> first_send_, send_at_;  // by position, by slot
  std::vector<double> channel_free_us_;
};

}  // namespace placeto
