// The state of a run: made, saved, compared and restored, which incremental evaluation rests on.
#include <algorithm>
#include <utility>

#include "runtime/cost/event_engine.h"

namespace placeto {

EventEngine::RunState::RunState(const EventTables& tables)
    : unmet(tables.dependencies.size()),
      tree(tables.rules.devices + tables.rules.channels + (tables.rules.overtake ? 1 : 0)),
      servers(tables.rules.devices + tables.rules.channels) {}

EventEngine::Queues::Queues(const EventTables& tables)
    : ready(tables.rules.devices, static_cast<uint32_t>(tables.rows.size())),
      ranked(tables.rules.devices, tables.rank_position),
      waiting(tables.rules.channels, tables.delivery_count()) {}

EventEngine::EventEngine(const Problem& problem, Stop* stop)
    : problem_(&problem),
      tables_(&problem.event_tables()),
      stop_(stop),
      rules_(tables_->rules),
      run_(*tables_),
      queues_(*tables_),
      times_(problem.node_count()) {
  bookings_.reserve(tables_->most_bookings);
  sorted_.grow_to(tables_->most_bookings);
  transfers_.reserve(tables_->delivery_count());
  spend(stop_, problem.node_count());  // memory touched for the first time is slow
  if (!rules_.overtake) return;
  run_.arrivals.reserve(problem.graph().edge_count());
  chains_.next.resize(tables_->consumers.node.size());
  chains_.tail.resize(rules_.devices);
  chains_.booking.resize(rules_.devices);
  chains_.stamp.resize(rules_.devices);
  chains_.rebuilt.resize(problem.graph().output_count());
}

void EventEngine::RunState::begin(const std::vector<uint32_t>& dependencies) {
  dispatched = 0;
  makespan_us = last_event_us = 0;
  unmet = dependencies;
  tree.clear();
  servers.assign(servers.size(), Server{});
  arrivals.clear();
}

void EventEngine::Queues::clear() {
  ready.clear();
  ranked.clear();
  waiting.clear();
}

void EventEngine::save(Checkpoint& checkpoint) const {
  checkpoint.run = run_;
  list_queues(checkpoint.queued);
}

// Items of every queue, devices first, then channels.
void EventEngine::list_queues(Queued& queued) const {
  queued.items.clear();
  queued.ends.clear();
  for (uint32_t d = 0; d < rules_.devices; ++d) {
    if (rules_.priority) {
      queues_.ranked.list(d, queued.items, stop_);
    } else {
      queues_.ready.list(d, queued.items, stop_);
    }
    queued.ends.push_back(static_cast<uint32_t>(queued.items.size()));
  }
  for (uint32_t c = 0; c < rules_.channels; ++c) {
    queues_.waiting.list(c, queued.items, stop_);
    queued.ends.push_back(static_cast<uint32_t>(queued.items.size()));
  }
}

bool EventEngine::same_future(const Checkpoint& checkpoint, std::span<const uint32_t> assignment,
                              std::span<const double> finish_us) const {
  const RunState& other = checkpoint.run;
  if (!run_.tree.same_keys(other.tree)) return false;
  if (run_.servers != other.servers || run_.arrivals != other.arrivals) return false;
  list_queues(listed_);
  if (listed_ != checkpoint.queued) return false;
  const uint32_t first_delivery = listed_.ends[rules_.devices - 1];
  const std::span<const uint32_t> deliveries = std::span(listed_.items).subspan(first_delivery);
  for (const uint32_t delivery : watched(deliveries, stop_)) {
    const uint32_t producer = problem_->graph().producer(output_of(delivery));
    if (times_.finish_us[producer] != finish_us[producer]) return false;
    if (device_of_[producer] != assignment[producer]) return false;  // a channel may be of several
  }
  return run_.unmet == other.unmet;
}

// Another assignment's run may have chained the output's consumers differently. All that wait to be
// delivered of one output share its chains.
void EventEngine::rebuild_chains(uint32_t output) {
  if (std::exchange(chains_.rebuilt[output], chains_.restores) == chains_.restores) return;
  bookings_.clear();
  book_unicast(output, device_of_[problem_->graph().producer(output)]);
}

void EventEngine::restore(const Checkpoint& checkpoint, std::span<const uint32_t> assignment,
                          std::span<const double> finish_us, double makespan_us) {
  device_of_ = assignment.data();
  run_ = checkpoint.run;
  run_.makespan_us = makespan_us;
  queues_.clear();
  transfers_.clear();
  if (++chains_.restores == 0) {  // all numbers have been used
    std::fill(chains_.rebuilt.begin(), chains_.rebuilt.end(), 0);
    chains_.restores = 1;
  }
  uint32_t i = 0;
  for (uint32_t q = 0; q < rules_.devices + rules_.channels; ++q) {
    for (; i < checkpoint.queued.ends[q]; ++i) {
      if (spend(stop_, 1)) return;
      const uint32_t item = checkpoint.queued.items[i];
      if (q >= rules_.devices) {
        const uint32_t producer = problem_->graph().producer(output_of(item));
        times_.finish_us[producer] = finish_us[producer];
        if (rules_.unicast) rebuild_chains(output_of(item));
        queues_.waiting.push(q - rules_.devices, item);
      } else if (rules_.priority) {
        queues_.ranked.push(q, item);
      } else {
        queues_.ready.push(q, item);
      }
    }
  }
}

}  // namespace placeto
