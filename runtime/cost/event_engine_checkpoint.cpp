// Saving, comparing and restoring the state of a run: what incremental evaluation rests on.
#include <algorithm>

#include "runtime/cost/event_engine.h"

namespace placeto {

void EventEngine::save(Checkpoint& checkpoint) const {
  checkpoint.dispatched = dispatched_;
  checkpoint.makespan_us = makespan_us_;
  checkpoint.unmet = unmet_;
  checkpoint.servers = servers_;
  checkpoint.arrivals = arrivals_;
  checkpoint.keys.clear();
  for (uint32_t slot = 0; slot < slot_count(); ++slot) {
    checkpoint.keys.push_back(tree_.key(slot));
  }
  list_queues(checkpoint.queued, checkpoint.queue_end);
}

// Items of every queue, devices first, then channels.
void EventEngine::list_queues(std::vector<uint32_t>& items, std::vector<uint32_t>& ends) const {
  items.clear();
  ends.clear();
  for (uint32_t d = 0; d < devices_; ++d) {
    if (priority_) {
      ranked_.list(d, items);
    } else {
      ready_.list(d, items);
    }
    ends.push_back(static_cast<uint32_t>(items.size()));
  }
  for (uint32_t c = 0; c < channels_; ++c) {
    waiting_.list(c, items);
    ends.push_back(static_cast<uint32_t>(items.size()));
  }
}

bool EventEngine::same_future(const Checkpoint& checkpoint,
                              std::span<const double> finish_us) const {
  for (uint32_t slot = 0; slot < slot_count(); ++slot) {
    if (!(tree_.key(slot) == checkpoint.keys[slot])) return false;
  }
  if (servers_ != checkpoint.servers || arrivals_ != checkpoint.arrivals) return false;
  list_queues(listed_, listed_end_);
  if (listed_ != checkpoint.queued || listed_end_ != checkpoint.queue_end) return false;
  const uint32_t first_delivery = listed_end_[devices_ - 1];
  for (size_t i = first_delivery; i < listed_.size(); ++i) {
    const uint32_t producer = problem_->graph().producer(output_of(listed_[i]));
    if (finish_us_[producer] != finish_us[producer]) return false;
  }
  return unmet_ == checkpoint.unmet;
}

// Another assignment's run may have chained the output's consumers differently.
void EventEngine::rebuild_chains(uint32_t output) {
  bookings_.clear();
  book_unicast(output, device_of_[problem_->graph().producer(output)]);
}

void EventEngine::restore(const Checkpoint& checkpoint, std::span<const uint32_t> assignment,
                          std::span<const double> finish_us) {
  device_of_ = assignment.data();
  dispatched_ = checkpoint.dispatched;
  makespan_us_ = checkpoint.makespan_us;
  unmet_ = checkpoint.unmet;
  servers_ = checkpoint.servers;
  arrivals_ = checkpoint.arrivals;
  transfers_.clear();
  for (uint32_t slot = 0; slot < slot_count(); ++slot) {
    if (!(tree_.key(slot) == checkpoint.keys[slot])) tree_.set(slot, checkpoint.keys[slot]);
  }
  ready_.clear();
  ranked_.clear();
  waiting_.clear();
  uint32_t i = 0;
  for (uint32_t q = 0; q < devices_ + channels_; ++q) {
    for (; i < checkpoint.queue_end[q]; ++i) {
      const uint32_t item = checkpoint.queued[i];
      if (q >= devices_) {
        const uint32_t producer = problem_->graph().producer(output_of(item));
        finish_us_[producer] = finish_us[producer];
        if (unicast_) rebuild_chains(output_of(item));
        waiting_.push(q - devices_, item);
      } else if (priority_) {
        ranked_.push(q, item);
      } else {
        ready_.push(q, item);
      }
    }
  }
}

}  // namespace placeto
