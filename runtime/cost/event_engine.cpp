#include "runtime/cost/event_engine.h"

#include <algorithm>
#include <utility>

#include "runtime/base/no_index.h"
#include "runtime/base/stoppable_sort.h"
#include "runtime/cost/broadcast_link.h"

namespace placeto {
namespace {

bool later(const EventEngine::Arrival& a, const EventEngine::Arrival& b) {
  if (a.time != b.time) return a.time > b.time;
  return a.producer != b.producer ? a.producer > b.producer : a.consumer > b.consumer;
}

}  // namespace

void EventEngine::begin(std::span<const uint32_t> assignment) {
  device_of_ = assignment.data();
  run_.begin(tables_->dependencies);
  queues_.clear();
  transfers_.clear();
  for (uint32_t v : watched(tables_->roots, stop_)) {
    if (rules_.priority) {
      arrive<true>(v, 0);
    } else {
      arrive<false>(v, 0);
    }
  }
}

bool EventEngine::advance(uint32_t nodes, double cutoff_us, Outlook* outlook) {
  if (stopped(stop_)) return false;  // what it would go on from may be half made
  if (rules_.overtake) {
    return rules_.priority ? advance_as<true, true>(nodes, cutoff_us, outlook)
                           : advance_as<true, false>(nodes, cutoff_us, outlook);
  }
  return rules_.priority ? advance_as<false, true>(nodes, cutoff_us, outlook)
                         : advance_as<false, false>(nodes, cutoff_us, outlook);
}

// Devices and channels may be free after the last event that was needed.
double EventEngine::drain_us() const {
  double drain = run_.last_event_us;
  for (const Server& server : run_.servers) drain = std::max(drain, server.next_free_us);
  return drain;
}

template <bool kOvertake, bool kPriority>
bool EventEngine::advance_as(uint32_t nodes, double cutoff_us, Outlook* outlook) {
  constexpr uint32_t kEventsPerLook = 1024;
  uint32_t events = 0;
  while (run_.dispatched < nodes || nodes == problem_->node_count()) {
    if (++events >= kEventsPerLook) {
      const uint32_t work = std::exchange(events, 0);
      if (spend(stop_, work)) return false;
    }
    const uint32_t slot = run_.tree.top();
    const double now = run_.tree.top_time();
    if (now == kNever) break;
    run_.last_event_us = now;
    if (kOvertake && slot == rules_.devices + rules_.channels) {
      const Arrival arrival = pop_arrival();
      arrive<kPriority>(arrival.consumer, now);
      continue;
    }
    Server& server = run_.servers[slot];
    if (slot < rules_.devices) {
      double start = now;
      if (server.state == Server::kArriving) {
        deliver_on_device<kPriority>(server.item, slot, now);
        start = server.next_free_us;
        if (!may_start_early<kOvertake, kPriority>(slot)) {
          release_device<kPriority>(slot);
          continue;
        }
      }
      start_node<kOvertake, kPriority>(slot, start);
      // A few hundred starts go through all edges of a dense graph.
      const EventTables::NodeRow& row = tables_->rows[server.item];
      events += static_cast<uint32_t>(Stop::looked_up(row.edge_end - row.edge_begin));
      if (cutoff_us < kNever && least_makespan_us(slot, outlook) >= cutoff_us) return false;
    } else if (server.state == Server::kArriving) {
      deliver_broadcast<kPriority>(server.item, slot - rules_.devices, now);
      release_channel<kOvertake>(slot - rules_.devices);
    } else {
      send<kOvertake>(queues_.waiting.pop(slot - rules_.devices), slot - rules_.devices, now);
    }
  }
  return run_.dispatched >= nodes && !stopped(stop_);  // which may have cut a fan-out short
}

// No makespan is below that, now that the device has started a node.
inline double EventEngine::least_makespan_us(uint32_t device, Outlook* outlook) const {
  const Server& server = run_.servers[device];
  const uint32_t v = server.item;
  const double finish = times_.finish_us[v], least = finish + tables_->tail_us[v];
  if (outlook == nullptr) return least;
  return std::max(least,
                  outlook->node_starts(v, device, times_.start_us[v], finish, server.next_free_us));
}

// Rule 2: the head of the queue starts, and its deliveries are booked.
template <bool kOvertake, bool kPriority>
[[gnu::always_inline]] inline void EventEngine::start_node(uint32_t device, double now) {
  const uint32_t v = kPriority ? queues_.ranked.pop(device) : queues_.ready.pop(device);
  const double run = problem_->run_us(v, device);
  const double finish = now + run;
  times_.start_us[v] = now;
  times_.finish_us[v] = finish;
  times_.dispatch_index[v] = run_.dispatched++;
  run_.makespan_us = std::max(run_.makespan_us, finish);

  const EventTables::NodeRow& row = tables_->rows[v];
  bool local = false, remote = false;
  in_pieces(row.edge_begin, row.edge_end, stop_, [&](uint32_t e) {
    const OutEdge& edge = tables_->edges[e];
    const bool here = edge.output == kControlEdge || device_of_[edge.target] == device;
    local |= here;
    remote |= !here;
  });
  Server& server = run_.servers[device];
  server.item = v;
  server.next_free_us = run == 0 ? finish : finish + rules_.op_gap_us;
  if (local) {
    server.state = Server::kArriving;
    run_.tree.set(device, {finish, v});
  } else {
    release_device<kPriority>(device);
  }
  if (!remote) return;
  if (!kOvertake && row.single) {
    start_delivery<kOvertake>(row.output_begin, device, finish);
  } else {
    book<kOvertake>(v, device, finish);
  }
}

// The device's next event is its next device free; it needs none while nobody waits for it.
template <bool kPriority>
void EventEngine::release_device(uint32_t device) {
  Server& server = run_.servers[device];
  if (kPriority ? queues_.ranked.empty(device) : queues_.ready.empty(device)) {
    server.state = Server::kIdle;
    run_.tree.set(device, {});
  } else {
    server.state = Server::kFreeing;
    run_.tree.set(device, {server.next_free_us, kDeviceRank});
  }
}

// The head of a first-in-first-out queue stays the head, so it can start without waiting for the
// device free event: unless its arrivals come at the very time of its start, and then after all
// others of that time, or it books transfers on channels that others book too.
template <bool kOvertake, bool kPriority>
bool EventEngine::may_start_early(uint32_t device) const {
  if (kOvertake || kPriority || rules_.unicast || recording_ || queues_.ready.empty(device))
    return false;
  const double start = run_.servers[device].next_free_us;
  return start + problem_->run_us(queues_.ready.front(device), device) > start;
}

// Rule 4.
template <bool kPriority>
[[gnu::always_inline]] inline void EventEngine::arrive(uint32_t node, double now) {
  uint32_t& unmet = run_.unmet[node];
  if (unmet > 1) {
    --unmet;
  } else {
    unmet = 0;
    join<kPriority>(node, now);
  }
}

// One jump: whether it arrives, and whether it is the last, is hard to predict.
template <bool kPriority>
[[gnu::always_inline]] inline void EventEngine::arrive_if(bool arrives, uint32_t node, double now) {
  const uint32_t left = run_.unmet[node] - static_cast<uint32_t>(arrives);
  run_.unmet[node] = left;
  if (static_cast<uint32_t>(arrives) > left) join<kPriority>(node, now);
}

template <bool kPriority>
void EventEngine::join(uint32_t node, double now) {
  const uint32_t device = device_of_[node];
  if (kPriority) {
    queues_.ranked.push(device, node);
  } else {
    queues_.ready.push(device, node);
  }
  Server& server = run_.servers[device];
  if (server.state != Server::kIdle) return;
  server.state = Server::kFreeing;
  run_.tree.set(device, {std::max(now, server.next_free_us), kDeviceRank});
}

template <bool kPriority>
void EventEngine::deliver_on_device(uint32_t node, uint32_t device, double now) {
  const EventTables::NodeRow& row = tables_->rows[node];
  in_pieces(row.edge_begin, row.edge_end, stop_, [&](uint32_t e) {
    const OutEdge& edge = tables_->edges[e];
    const bool here = edge.output == kControlEdge || device_of_[edge.target] == device;
    arrive_if<kPriority>(here, edge.target, now);
  });
}

template <bool kPriority>
void EventEngine::deliver_broadcast(uint32_t output, uint32_t source, double now) {
  in_pieces(tables_->consumers.begin[output], tables_->consumers.begin[output + 1], stop_,
            [&](uint32_t i) {
              const uint32_t node = tables_->consumers.node[i];
              arrive_if<kPriority>(device_of_[node] != source, node, now);
            });
}

// Books the deliveries of every output that someone elsewhere reads, in the order of their first
// such out-edge.
template <bool kOvertake>
void EventEngine::book(uint32_t node, uint32_t device, double finish) {
  const EventTables::NodeRow& row = tables_->rows[node];
  bookings_.clear();
  in_pieces(row.output_begin, row.output_end, stop_, [&](uint32_t o) {
    if (kOvertake && rules_.unicast) {
      book_unicast(o, device);
    } else {
      book_broadcast(o, device);
    }
  });
  stoppable_sort(
      bookings_.begin(), bookings_.end(),
      [](const Booking& a, const Booking& b) { return a.file_position < b.file_position; }, stop_,
      &sorted_);
  if (stopped(stop_)) return;
  for (const Booking& booking : watched(bookings_, stop_)) {
    start_delivery<kOvertake>(booking.delivery, device, finish);
  }
}

void EventEngine::book_broadcast(uint32_t output, uint32_t device) {
  uint32_t first = kNoIndex;
  in_pieces(tables_->consumers.begin[output], tables_->consumers.begin[output + 1], stop_,
            [&](uint32_t i) {
              if (device_of_[tables_->consumers.node[i]] != device)
                first = std::min(first, tables_->consumers.file_position[i]);
            });
  if (first != kNoIndex) bookings_.push_back({first, output});
}

// One delivery per destination; its consumers are chained in ascending order.
void EventEngine::book_unicast(uint32_t output, uint32_t device) {
  if (++chains_.current == 0) {
    std::fill(chains_.stamp.begin(), chains_.stamp.end(), 0);
    chains_.current = 1;
  }
  in_pieces(tables_->consumers.begin[output], tables_->consumers.begin[output + 1], stop_,
            [&](uint32_t i) {
              const uint32_t destination = device_of_[tables_->consumers.node[i]];
              if (destination == device) return;
              const uint32_t position = tables_->consumers.file_position[i];
              chains_.next[i] = kNoIndex;
              if (chains_.stamp[destination] != chains_.current) {
                chains_.stamp[destination] = chains_.current;
                chains_.booking[destination] = static_cast<uint32_t>(bookings_.size());
                bookings_.push_back({position, i});
              } else {
                chains_.next[chains_.tail[destination]] = i;
                uint32_t& first = bookings_[chains_.booking[destination]].file_position;
                first = std::min(first, position);
              }
              chains_.tail[destination] = i;
            });
}

// A delivery joins its channel's queue; without contention it leaves at once.
template <bool kOvertake>
void EventEngine::start_delivery(uint32_t delivery, uint32_t device, double finish) {
  const uint32_t channel = kOvertake ? channel_of(delivery, device) : device;
  if (kOvertake && !rules_.contended) {
    const double end = finish + transfer_us(delivery, device);
    const double arrival = end + (rules_.unicast ? link_of(delivery, device).latency_us : 0);
    if (recording_) {
      const uint32_t to = rules_.unicast ? device_of_[tables_->consumers.node[delivery]]
                                         : TransferSlice::kBroadcast;
      transfers_.push_back({output_of(delivery), channel, to, finish, end, arrival});
    }
    push_remote_arrivals(delivery, arrival);
    return;
  }
  const bool idle = run_.servers[rules_.devices + channel].state == Server::kIdle;
  if (idle && occupy<kOvertake>(channel, delivery)) return;
  queues_.waiting.push(channel, delivery);
}

// Rule 3. The channel's next event, now that what it carried has left.
template <bool kOvertake>
void EventEngine::release_channel(uint32_t channel) {
  if (queues_.waiting.empty(channel)) {
    const uint32_t slot = rules_.devices + channel;
    run_.servers[slot].state = Server::kIdle;
    run_.tree.set(slot, {});
  } else if (occupy<kOvertake>(channel, queues_.waiting.front(channel))) {
    queues_.waiting.pop(channel);
  }
}

// What is next on the channel, from when it can start on. Whether it is under way, or waits for an
// egress free event. Nobody gets before the head of a queue, so it needs none, unless its transfer
// takes no time: its arrivals come after all others then. (And a record lists transfers in the
// order of the events.)
template <bool kOvertake>
bool EventEngine::occupy(uint32_t channel, uint32_t delivery) {
  const uint32_t slot = rules_.devices + channel;
  Server& server = run_.servers[slot];
  const uint32_t producer = problem_->graph().producer(output_of(delivery));
  const double start = std::max(server.next_free_us, times_.finish_us[producer]);
  if (!kOvertake && !recording_) {
    const double end = start + transfer_us(delivery, channel);  // its source's egress
    if (end > start) {
      send<kOvertake>(delivery, channel, start);
      return true;
    }
  }
  server.state = Server::kFreeing;
  run_.tree.set(slot, {start, kChannelRank});
  return false;
}

// The channel carries the delivery from `now` on.
template <bool kOvertake>
[[gnu::always_inline]] inline void EventEngine::send(uint32_t delivery, uint32_t channel,
                                                     double now) {
  const uint32_t slot = rules_.devices + channel;
  Server& server = run_.servers[slot];
  const uint32_t producer = problem_->graph().producer(output_of(delivery));
  const uint32_t source = kOvertake ? device_of_[producer] : channel;
  const double end = now + transfer_us(delivery, source);
  const LinkParameters& link = link_of(delivery, source);
  const bool unicast = kOvertake && rules_.unicast;
  const double arrival = end + (unicast ? link.latency_us : 0);
  server.next_free_us = end + link.gap_us;
  server.item = delivery;
  if (recording_) {
    const uint32_t to =
        unicast ? device_of_[tables_->consumers.node[delivery]] : TransferSlice::kBroadcast;
    transfers_.push_back({output_of(delivery), channel, to, now, end, arrival});
  }
  if (kOvertake) {
    push_remote_arrivals(delivery, arrival);
    release_channel<kOvertake>(channel);
  } else {
    server.state = Server::kArriving;
    run_.tree.set(slot, {end, producer});
  }
}

// What arrives at the very finish of its producer is in turn with what the producer's device hands
// over then: by consumer. So that goes on the heap, too.
void EventEngine::push_arrivals_on_device(uint32_t producer) {
  const uint32_t device = device_of_[producer];
  const Server& server = run_.servers[device];
  if (server.state != Server::kArriving || server.item != producer) return;
  const EventTables::NodeRow& row = tables_->rows[producer];
  in_pieces(row.edge_begin, row.edge_end, stop_, [&](uint32_t e) {
    const OutEdge& edge = tables_->edges[e];
    if (edge.output == kControlEdge || device_of_[edge.target] == device) {
      push_arrival({times_.finish_us[producer], producer, edge.target});
    }
  });
  if (rules_.priority) {
    release_device<true>(device);
  } else {
    release_device<false>(device);
  }
}

void EventEngine::push_remote_arrivals(uint32_t delivery, double time) {
  const uint32_t output = output_of(delivery);
  const uint32_t producer = problem_->graph().producer(output);
  if (time == times_.finish_us[producer]) push_arrivals_on_device(producer);
  if (rules_.unicast) {
    for (uint32_t i = delivery; i != kNoIndex && !spend(stop_, 1); i = chains_.next[i]) {
      push_arrival({time, producer, tables_->consumers.node[i]});
    }
    return;
  }
  in_pieces(tables_->consumers.begin[output], tables_->consumers.begin[output + 1], stop_,
            [&](uint32_t i) {
              if (device_of_[tables_->consumers.node[i]] != device_of_[producer]) {
                push_arrival({time, producer, tables_->consumers.node[i]});
              }
            });
}

void EventEngine::push_arrival(Arrival arrival) {
  run_.arrivals.push_back(arrival);
  std::push_heap(run_.arrivals.begin(), run_.arrivals.end(), later);
  refresh_arrival_slot();
}

EventEngine::Arrival EventEngine::pop_arrival() {
  std::pop_heap(run_.arrivals.begin(), run_.arrivals.end(), later);
  const Arrival arrival = run_.arrivals.back();
  run_.arrivals.pop_back();
  refresh_arrival_slot();
  return arrival;
}

void EventEngine::refresh_arrival_slot() {
  const uint32_t slot = rules_.devices + rules_.channels;
  const WinnerTree::Key key =
      run_.arrivals.empty() ? WinnerTree::Key{}
                            : WinnerTree::Key{run_.arrivals[0].time, run_.arrivals[0].producer};
  if (!(run_.tree.key(slot) == key)) run_.tree.set(slot, key);
}

inline const LinkParameters& EventEngine::link_of(uint32_t delivery, uint32_t source) const {
  const Topology& topology = problem_->topology();
  if (rules_.uniform_links) return topology.spec().default_link;
  if (rules_.unicast) return topology.link(source, device_of_[tables_->consumers.node[delivery]]);
  return broadcast_link(*problem_, {device_of_, problem_->node_count()}, delivery, source);
}

inline double EventEngine::transfer_us(uint32_t delivery, uint32_t source) const {
  if (rules_.uniform_links) return tables_->uniform_transfer_us[output_of(delivery)];
  return problem_->transfer_us(output_of(delivery), link_of(delivery, source));
}

// A broadcast always leaves through its source's egress.
uint32_t EventEngine::channel_of(uint32_t delivery, uint32_t source) const {
  if (!rules_.unicast || rules_.uniform_links) return source;
  return problem_->topology().channel(source, device_of_[tables_->consumers.node[delivery]]);
}

}  // namespace placeto
