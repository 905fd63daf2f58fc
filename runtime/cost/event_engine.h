// The event-driven core of the cost model: DESIGN 5.1 to 5.3, all rules but serial execution.
//
// Three kinds of event, in this order at equal times: arrival, egress free, device free. A device
// starts one node at a time, and all it causes is known when it starts, so a device needs at most
// one pending event (the arrivals at its node's finish, then its next device free), and so does a
// channel (the arrivals at its transfer's end, then its next egress free). A free event that nobody
// waits for would do nothing and is left out; where the head of a queue is sure to be next, it
// starts without one. The event queue is therefore a small tournament over devices and channels
// instead of a heap over edges. Only rules under which arrivals overtake one another (unicast
// latency, contention none) put arrivals from elsewhere on a heap, whose top takes part in the
// tournament as one more slot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/uncleared.h"
#include "runtime/cost/event_tables.h"
#include "runtime/cost/outlook.h"
#include "runtime/cost/problem.h"
#include "runtime/cost/ready_queue.h"
#include "runtime/cost/simulator.h"
#include "runtime/cost/winner_tree.h"

namespace placeto {

class EventEngine {
 public:
  // Once stopped, nothing that it says of a run holds.
  explicit EventEngine(const Problem& problem, Stop* stop = nullptr);

  // Simulates from time 0 to the last event. Every node is on a device that can run it. False if
  // it was stopped.
  bool run(std::span<const uint32_t> assignment) {
    if (stopped(stop_)) return false;
    begin(assignment);
    return advance(problem_->node_count());
  }

  // What the last run took, and its times.
  double makespan_us() const { return run_.makespan_us; }
  double drain_us() const;
  std::span<const double> start_us() const { return times_.start_us; }
  std::span<const double> finish_us() const { return times_.finish_us; }
  // In the order they started; empty unless recording.
  // To be taken by swapping: what comes back is cleared before the next run.
  std::vector<TransferSlice>& transfers() { return transfers_; }
  void record_transfers(bool on) { recording_ = on; }

  // --- Stepping, for incremental evaluation ---

  void begin(std::span<const uint32_t> assignment);
  // Processes events until `nodes` nodes have started; with every node started, until no event is
  // left. Gives up and returns false as soon as the makespan is sure to reach `cutoff_us`, by what
  // comes after a node and by the outlook, if there is one, and when stopped.
  bool advance(uint32_t nodes, double cutoff_us = kNever, Outlook* outlook = nullptr);
  // How many nodes had started when this one did.
  uint32_t dispatch_index(uint32_t node) const { return times_.dispatch_index[node]; }

  struct Times {  // per node
    explicit Times(uint32_t nodes) : start_us(nodes), finish_us(nodes), dispatch_index(nodes) {}

    std::vector<double> start_us, finish_us;
    std::vector<uint32_t> dispatch_index;  // how many nodes had started when this one did
  };
  struct Arrival {
    double time;
    uint32_t producer, consumer;
    friend bool operator==(const Arrival&, const Arrival&) = default;
  };
  // A device (running a node) or a channel (sending a delivery).
  struct Server {
    enum State : uint8_t { kIdle, kArriving, kFreeing } state = kIdle;
    uint32_t item = 0;
    double next_free_us = 0;
    friend bool operator==(const Server&, const Server&) = default;
  };
  // What changes during a run and its future depends on, with the contents of the queues. Servers
  // and tree slots: devices first, then channels. Where arrivals overtake, the tree's last slot is
  // the earliest of them.
  struct RunState {
    RunState() = default;
    explicit RunState(const EventTables& tables);
    void begin(const std::vector<uint32_t>& dependencies);

    uint32_t dispatched = 0;
    double makespan_us = 0, last_event_us = 0;
    std::vector<uint32_t> unmet;  // dependencies of each node still to arrive
    WinnerTree tree;
    std::vector<Server> servers;
    std::vector<Arrival> arrivals;  // binary heap
  };
  struct Queued {  // of every queue, devices first, then channels
    std::vector<uint32_t> items, ends;
    friend bool operator==(const Queued&, const Queued&) = default;
  };
  struct Checkpoint {
    RunState run;
    Queued queued;
  };
  void save(Checkpoint& checkpoint) const;
  // True if the present state leads to the same future as the checkpoint, saved under another
  // assignment that agrees on every node that has not started. `finish_us`: as for restore.
  bool same_future(const Checkpoint& checkpoint, std::span<const uint32_t> assignment,
                   std::span<const double> finish_us) const;
  // Continues from the checkpoint under an assignment that agrees with the one it was saved under
  // on every node that had started and on every consumer of one, or that led to the same future.
  // `finish_us` holds the finish of every node that had started, `makespan_us` the latest of them.
  void restore(const Checkpoint& checkpoint, std::span<const uint32_t> assignment,
               std::span<const double> finish_us, double makespan_us);

 private:
  // The queues are linked through arrays with one entry per item, so a checkpoint stores only the
  // items that are queued.
  struct Queues {
    explicit Queues(const EventTables& tables);
    void clear();

    FifoQueues ready;       // nodes, by device
    PriorityQueues ranked;  // the same under dispatch priority
    FifoQueues waiting;     // deliveries, by channel
  };
  // Under unicast a delivery is the entry of the consumers that is the first of those it serves;
  // `next` leads to the others.
  struct Chains {
    std::vector<uint32_t> next, tail, stamp;  // the last two by destination
    std::vector<uint32_t> booking;            // of the destination's chain
    uint32_t current = 0;
    std::vector<uint32_t> rebuilt;  // by output: the last restore() that chained its consumers
    uint32_t restores = 0;
  };
  struct Booking {
    uint32_t file_position;  // of the first out-edge it serves
    uint32_t delivery;
  };

  // Rules are template parameters so that the default ones pay nothing for the others.
  template <bool kOvertake, bool kPriority>
  bool advance_as(uint32_t nodes, double cutoff_us, Outlook* outlook);
  template <bool kOvertake, bool kPriority>
  void start_node(uint32_t device, double now);
  double least_makespan_us(uint32_t device, Outlook* outlook) const;
  template <bool kPriority>
  void arrive(uint32_t node, double now);
  template <bool kPriority>
  void arrive_if(bool arrives, uint32_t node, double now);
  template <bool kPriority>
  void join(uint32_t node, double now);
  template <bool kPriority>
  void deliver_on_device(uint32_t node, uint32_t device, double now);
  template <bool kPriority>
  void deliver_broadcast(uint32_t output, uint32_t source, double now);
  template <bool kPriority>
  void release_device(uint32_t device);
  template <bool kOvertake, bool kPriority>
  bool may_start_early(uint32_t device) const;
  template <bool kOvertake>
  void release_channel(uint32_t channel);
  template <bool kOvertake>
  bool occupy(uint32_t channel, uint32_t delivery);
  template <bool kOvertake>
  void send(uint32_t delivery, uint32_t channel, double now);

  template <bool kOvertake>
  void book(uint32_t node, uint32_t device, double finish);
  void book_broadcast(uint32_t output, uint32_t device);
  void book_unicast(uint32_t output, uint32_t device);
  void list_queues(Queued& queued) const;
  void rebuild_chains(uint32_t output);
  template <bool kOvertake>
  void start_delivery(uint32_t delivery, uint32_t device, double finish);
  void push_arrivals_on_device(uint32_t producer);
  void push_remote_arrivals(uint32_t delivery, double time);
  void push_arrival(Arrival arrival);
  Arrival pop_arrival();
  void refresh_arrival_slot();
  uint32_t output_of(uint32_t delivery) const {
    return rules_.unicast ? tables_->consumers.output[delivery] : delivery;
  }
  double transfer_us(uint32_t delivery, uint32_t source) const;
  const LinkParameters& link_of(uint32_t delivery, uint32_t source) const;
  uint32_t channel_of(uint32_t delivery, uint32_t source) const;

  // Arrivals rank by producer, below.
  static constexpr uint32_t kChannelRank = 0xfffffffeu, kDeviceRank = 0xffffffffu;

  const Problem* problem_;
  const EventTables* tables_;
  Stop* stop_;
  EventTables::Rules rules_;
  const uint32_t* device_of_ = nullptr;
  RunState run_;
  Queues queues_;
  Chains chains_;
  Times times_;
  std::vector<Booking> bookings_;  // of the node being started
  Uncleared<Booking> sorted_;      // room to sort them
  mutable Queued listed_;          // scratch of same_future
  std::vector<TransferSlice> transfers_;
  bool recording_ = false;
};

}  // namespace placeto
