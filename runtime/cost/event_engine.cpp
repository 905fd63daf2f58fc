#include "runtime/cost/event_engine.h"

#include <algorithm>
#include <numeric>

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
  tree_.clear();
  servers_.assign(servers_.size(), Server{});
  unmet_ = dependencies_;
  ready_.clear();
  ranked_.clear();
  waiting_.clear();
  arrivals_.clear();
  transfers_.clear();
  dispatched_ = 0;
  makespan_us_ = last_event_us_ = 0;
  for (uint32_t v : roots_) {
    if (priority_) {
      arrive<true>(v, 0);
    } else {
      arrive<false>(v, 0);
    }
  }
}

bool EventEngine::advance(uint32_t nodes, double cutoff_us) {
  if (overtake_) {
    return priority_ ? advance_as<true, true>(nodes, cutoff_us)
                     : advance_as<true, false>(nodes, cutoff_us);
  }
  return priority_ ? advance_as<false, true>(nodes, cutoff_us)
                   : advance_as<false, false>(nodes, cutoff_us);
}

// Devices and channels may be free after the last event that was needed.
double EventEngine::drain_us() const {
  double drain = last_event_us_;
  for (const Server& server : servers_) drain = std::max(drain, server.next_free_us);
  return drain;
}

template <bool kOvertake, bool kPriority>
bool EventEngine::advance_as(uint32_t nodes, double cutoff_us) {
  constexpr uint32_t kEventsPerLook = 1024;
  uint32_t events = 0;
  while (dispatched_ < nodes || nodes == problem_->node_count()) {
    if (++events == kEventsPerLook) {
      events = 0;
      if (spend(stop_, kEventsPerLook)) return false;
    }
    const uint32_t slot = tree_.top();
    const double now = tree_.key(slot).time;
    if (now == WinnerTree::kNever) break;
    last_event_us_ = now;
    if (kOvertake && slot == devices_ + channels_) {
      const Arrival arrival = pop_arrival();
      arrive<kPriority>(arrival.consumer, now);
      continue;
    }
    Server& server = servers_[slot];
    if (slot < devices_) {
      double start = now;
      if (server.state == State::kArriving) {
        deliver_on_device<kPriority>(server.item, slot, now);
        start = server.next_free_us;
        if (!may_start_early<kOvertake, kPriority>(slot)) {
          release_device<kPriority>(slot);
          continue;
        }
      }
      if (start_node<kOvertake, kPriority>(slot, start) >= cutoff_us) return false;
    } else if (server.state == State::kArriving) {
      deliver_broadcast<kPriority>(server.item, now);
      release_channel(slot - devices_);
    } else {
      send(waiting_.pop(slot - devices_), slot - devices_, now);
    }
  }
  return true;
}

// Rule 2: the head of the queue starts, and its deliveries are booked. Returns the least makespan
// that follows from its finish.
template <bool kOvertake, bool kPriority>
double EventEngine::start_node(uint32_t device, double now) {
  const uint32_t v = kPriority ? ranked_.pop(device) : ready_.pop(device);
  const double run = problem_->run_us(v, device);
  const double finish = now + run;
  start_us_[v] = now;
  finish_us_[v] = finish;
  dispatch_index_[v] = dispatched_++;
  makespan_us_ = std::max(makespan_us_, finish);

  const NodeRow& row = rows_[v];
  Server& server = servers_[device];
  bool local = false;
  if (!kOvertake && row.single) {
    bool remote = false;
    for (uint32_t e = row.edge_begin; e < row.edge_end; ++e) {
      const bool here = device_of_[edges_[e].target] == device;
      local |= here;
      remote |= !here;
    }
    if (remote) start_delivery({0, row.output_begin}, device, finish);
  } else {
    book(v, device, finish);
    for (uint32_t e = row.edge_begin; e < row.edge_end && !kOvertake; ++e) {
      local |= edges_[e].output == kControlEdge || device_of_[edges_[e].target] == device;
    }
  }
  server.item = v;
  server.next_free_us = run == 0 ? finish : finish + op_gap_us_;
  if (local) {
    server.state = State::kArriving;
    tree_.set(device, {finish, v});
  } else {
    release_device<kPriority>(device);
  }
  return finish + tail_us_[v];
}

// The device's next event is its next device free; it needs none while nobody waits for it.
template <bool kPriority>
void EventEngine::release_device(uint32_t device) {
  Server& server = servers_[device];
  if (kPriority ? ranked_.empty(device) : ready_.empty(device)) {
    server.state = State::kIdle;
    tree_.set(device, {});
  } else {
    server.state = State::kFreeing;
    tree_.set(device, {server.next_free_us, kDeviceRank | device});
  }
}

// The head of a first-in-first-out queue stays the head, so it can start without waiting for the
// device free event: unless its arrivals come at the very time of its start, and then after all
// others of that time, or it books transfers on channels that others book too.
template <bool kOvertake, bool kPriority>
bool EventEngine::may_start_early(uint32_t device) const {
  if (kOvertake || kPriority || unicast_ || recording_ || ready_.empty(device)) return false;
  const double start = servers_[device].next_free_us;
  return start + problem_->run_us(ready_.front(device), device) > start;
}

// Rule 4.
template <bool kPriority>
void EventEngine::arrive(uint32_t node, double now) {
  if (unmet_[node] > 1) {
    --unmet_[node];
    return;
  }
  unmet_[node] = 0;
  const uint32_t device = device_of_[node];
  if (kPriority) {
    ranked_.push(device, node);
  } else {
    ready_.push(device, node);
  }
  Server& server = servers_[device];
  if (server.state != State::kIdle) return;
  server.state = State::kFreeing;
  tree_.set(device, {std::max(now, server.next_free_us), kDeviceRank | device});
}

template <bool kPriority>
void EventEngine::deliver_on_device(uint32_t node, uint32_t device, double now) {
  const NodeRow& row = rows_[node];
  for (uint32_t e = row.edge_begin; e < row.edge_end; ++e) {
    const OutEdge& edge = edges_[e];
    if (edge.output == kControlEdge || device_of_[edge.target] == device) {
      arrive<kPriority>(edge.target, now);
    }
  }
}

template <bool kPriority>
void EventEngine::deliver_broadcast(uint32_t output, double now) {
  const uint32_t source = device_of_[problem_->graph().producer(output)];
  for (uint32_t i = consumer_begin_[output]; i < consumer_begin_[output + 1]; ++i) {
    if (device_of_[consumers_[i]] != source) arrive<kPriority>(consumers_[i], now);
  }
}

// Books the deliveries of every output that someone elsewhere reads, in the order of their first
// such out-edge; where arrivals overtake, also those on the same device and along control edges.
void EventEngine::book(uint32_t node, uint32_t device, double finish) {
  const NodeRow& row = rows_[node];
  bookings_.clear();
  for (uint32_t o = row.output_begin; o < row.output_end; ++o) {
    if (unicast_) {
      book_unicast(o, device);
    } else {
      book_broadcast(o, device);
    }
  }
  stoppable_sort(
      bookings_.begin(), bookings_.end(),
      [](const Booking& a, const Booking& b) { return a.file_position < b.file_position; }, nullptr,
      &sorted_);
  for (const Booking& booking : bookings_) start_delivery(booking, device, finish);
  if (overtake_) push_arrivals_on_device(node, device, finish);
}

void EventEngine::book_broadcast(uint32_t output, uint32_t device) {
  uint32_t first = kNoItem;
  for (uint32_t i = consumer_begin_[output]; i < consumer_begin_[output + 1]; ++i) {
    if (device_of_[consumers_[i]] != device) first = std::min(first, file_position_[i]);
  }
  if (first != kNoItem) bookings_.push_back({first, output});
}

// One delivery per destination; its consumers are chained in ascending order.
void EventEngine::book_unicast(uint32_t output, uint32_t device) {
  const auto first_booking = static_cast<uint32_t>(bookings_.size());
  if (++stamp_ == 0) {
    std::fill(chain_stamp_.begin(), chain_stamp_.end(), 0);
    stamp_ = 1;
  }
  for (uint32_t i = consumer_begin_[output]; i < consumer_begin_[output + 1]; ++i) {
    const uint32_t destination = device_of_[consumers_[i]];
    if (destination == device) continue;
    chain_[i] = kNoItem;
    if (chain_stamp_[destination] != stamp_) {
      chain_stamp_[destination] = stamp_;
      bookings_.push_back({file_position_[i], i});
    } else {
      chain_[chain_tail_[destination]] = i;
    }
    chain_tail_[destination] = i;
  }
  for (size_t b = first_booking; b < bookings_.size(); ++b) {
    for (uint32_t i = bookings_[b].delivery; i != kNoItem; i = chain_[i]) {
      bookings_[b].file_position = std::min(bookings_[b].file_position, file_position_[i]);
    }
  }
}

// A delivery joins its channel's queue; without contention it leaves at once.
void EventEngine::start_delivery(const Booking& booking, uint32_t device, double finish) {
  const uint32_t delivery = booking.delivery;
  const uint32_t channel = channel_of(delivery, device);
  if (!contended_) {
    const double end = finish + transfer_us(delivery, device);
    const double arrival = end + (unicast_ ? link_of(delivery, device).latency_us : 0);
    if (recording_) {
      const uint32_t to = unicast_ ? device_of_[consumers_[delivery]] : TransferSlice::kBroadcast;
      transfers_.push_back({output_of(delivery), channel, to, finish, end, arrival});
    }
    push_remote_arrivals(delivery, arrival);
    return;
  }
  waiting_.push(channel, delivery);
  if (servers_[devices_ + channel].state == State::kIdle) release_channel(channel);
}

// Rule 3. The channel's next event, now that what it carried has left.
void EventEngine::release_channel(uint32_t channel) {
  const uint32_t slot = devices_ + channel;
  Server& server = servers_[slot];
  if (waiting_.empty(channel)) {
    server.state = State::kIdle;
    tree_.set(slot, {});
    return;
  }
  const uint32_t delivery = waiting_.front(channel);
  const uint32_t producer = problem_->graph().producer(output_of(delivery));
  const double start = std::max(server.next_free_us, finish_us_[producer]);
  // Nobody gets before the head, so its transfer needs no egress free event to start. (It does if
  // it takes no time: its arrivals come after all others then. And a record lists transfers in the
  // order of the events.)
  const bool early =
      !overtake_ && !recording_ && start + transfer_us(delivery, device_of_[producer]) > start;
  if (early) {
    waiting_.pop(channel);
    send(delivery, channel, start);
  } else {
    server.state = State::kFreeing;
    tree_.set(slot, {start, kChannelRank | slot});
  }
}

// The channel carries the delivery from `now` on.
void EventEngine::send(uint32_t delivery, uint32_t channel, double now) {
  const uint32_t slot = devices_ + channel;
  Server& server = servers_[slot];
  const uint32_t producer = problem_->graph().producer(output_of(delivery));
  const uint32_t source = device_of_[producer];
  const double end = now + transfer_us(delivery, source);
  const LinkParameters& link = link_of(delivery, source);
  const double arrival = end + (unicast_ ? link.latency_us : 0);
  server.next_free_us = end + link.gap_us;
  server.item = delivery;
  if (recording_) {
    const uint32_t to = unicast_ ? device_of_[consumers_[delivery]] : TransferSlice::kBroadcast;
    transfers_.push_back({output_of(delivery), channel, to, now, end, arrival});
  }
  if (overtake_) {
    push_remote_arrivals(delivery, arrival);
    release_channel(channel);
  } else {
    server.state = State::kArriving;
    tree_.set(slot, {end, producer});
  }
}

void EventEngine::push_arrivals_on_device(uint32_t node, uint32_t device, double finish) {
  const NodeRow& row = rows_[node];
  for (uint32_t e = row.edge_begin; e < row.edge_end; ++e) {
    const OutEdge& edge = edges_[e];
    if (edge.output == kControlEdge || device_of_[edge.target] == device) {
      push_arrival({finish, node, edge.target});
    }
  }
}

void EventEngine::push_remote_arrivals(uint32_t delivery, double time) {
  const uint32_t output = output_of(delivery);
  const uint32_t producer = problem_->graph().producer(output);
  if (unicast_) {
    for (uint32_t i = delivery; i != kNoItem; i = chain_[i]) {
      push_arrival({time, producer, consumers_[i]});
    }
    return;
  }
  for (uint32_t i = consumer_begin_[output]; i < consumer_begin_[output + 1]; ++i) {
    if (device_of_[consumers_[i]] != device_of_[producer]) {
      push_arrival({time, producer, consumers_[i]});
    }
  }
}

void EventEngine::push_arrival(Arrival arrival) {
  arrivals_.push_back(arrival);
  std::push_heap(arrivals_.begin(), arrivals_.end(), later);
  refresh_arrival_slot();
}

EventEngine::Arrival EventEngine::pop_arrival() {
  std::pop_heap(arrivals_.begin(), arrivals_.end(), later);
  const Arrival arrival = arrivals_.back();
  arrivals_.pop_back();
  refresh_arrival_slot();
  return arrival;
}

void EventEngine::refresh_arrival_slot() {
  const uint32_t slot = devices_ + channels_;
  const WinnerTree::Key key = arrivals_.empty()
                                  ? WinnerTree::Key{}
                                  : WinnerTree::Key{arrivals_[0].time, arrivals_[0].producer};
  if (!(tree_.key(slot) == key)) tree_.set(slot, key);
}

const LinkParameters& EventEngine::link_of(uint32_t delivery, uint32_t source) const {
  const Topology& topology = problem_->topology();
  if (uniform_links_) return topology.spec().default_link;
  if (unicast_) return topology.link(source, device_of_[consumers_[delivery]]);
  return broadcast_link(*problem_, {device_of_, problem_->node_count()}, delivery, source);
}

double EventEngine::transfer_us(uint32_t delivery, uint32_t source) const {
  if (uniform_links_) return uniform_transfer_us_[output_of(delivery)];
  return static_cast<double>(problem_->graph().output_bytes(output_of(delivery))) /
         link_of(delivery, source).bandwidth_bytes_per_us;
}

// A broadcast always leaves through its source's egress.
uint32_t EventEngine::channel_of(uint32_t delivery, uint32_t source) const {
  if (!unicast_ || uniform_links_) return source;
  return problem_->topology().channel(source, device_of_[consumers_[delivery]]);
}

}  // namespace placeto
