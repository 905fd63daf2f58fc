#include "runtime/cost/incremental.h"

#include <algorithm>

namespace placeto {
namespace {

// More marks start and end the replay closer to the change but cost memory (4 bytes per node each)
// and time. Most trials are rejected, so their checkpoints are kept sparse.
constexpr uint32_t kMostMarks = 64, kMostTrialMarks = 16;
constexpr uint32_t kLeastStride = 8, kLeastTrialStride = 64;
constexpr uint64_t kMarkBytes = 16'000'000;

uint32_t choose_stride(uint32_t nodes) {
  const uint64_t affordable = kMarkBytes / (uint64_t{4} * nodes + 1);
  const uint64_t count = std::clamp<uint64_t>(affordable, 4, kMostMarks);
  return std::max(kLeastStride, static_cast<uint32_t>(nodes / count + 1));
}

}  // namespace

IncrementalSimulator::IncrementalSimulator(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      engine_(problem, stop),
      stride_(choose_stride(problem.node_count())),
      marks_((problem.node_count() + stride_ - 1) / stride_),
      outlook_(problem, stride_, stop),
      makespan_before_(marks_.size()),
      makespan_after_(marks_.size()),
      times_(problem.node_count()) {
  const uint32_t nodes = std::max(problem.node_count() / kMostTrialMarks, kLeastTrialStride);
  trial_stride_ = (nodes + stride_ - 1) / stride_;
  spend(stop_, problem.node_count());  // memory touched for the first time is slow
}

// Goes on to the mark and saves the base's state there. False if stopped.
bool IncrementalSimulator::reach(uint32_t mark) {
  if (!engine_.advance(mark * stride_)) return false;
  engine_.save(marks_[mark].base());
  marks_[mark].has_base = true;
  return !spend(stop_, Stop::copied(problem_->node_count()));  // copied, not gone through
}

// Takes over the times of the nodes that started from mark `first` on and before mark `end`: in
// both runs the same nodes.
void IncrementalSimulator::adopt_times(uint32_t first, uint32_t end) {
  outlook_is_old_ = true;
  std::fill(makespan_after_.begin(), makespan_after_.end(), 0);
  const uint32_t begin_index = first * stride_, end_index = end * stride_;
  for (uint32_t v = 0; v < problem_->node_count(); ++v) {
    if (spend(stop_, 1)) return;
    if (times_.dispatch_index[v] >= begin_index && times_.dispatch_index[v] < end_index) {
      times_.start_us[v] = engine_.start_us()[v];
      times_.finish_us[v] = engine_.finish_us()[v];
      times_.dispatch_index[v] = engine_.dispatch_index(v);
    }
    double& latest = makespan_after_[times_.dispatch_index[v] / stride_];
    latest = std::max(latest, times_.finish_us[v]);
  }
  makespan_us_ = 0;
  for (size_t m = 0; m < marks_.size(); ++m) {
    makespan_before_[m] = makespan_us_;
    makespan_us_ = std::max(makespan_us_, makespan_after_[m]);
  }
  for (size_t m = marks_.size() - 1; m > 0; --m) {
    makespan_after_[m - 1] = std::max(makespan_after_[m - 1], makespan_after_[m]);
  }
}

double IncrementalSimulator::rebase(std::span<const uint32_t> assignment) {
  base_.assign(assignment.begin(), assignment.end());
  trial_ = base_;
  changes_.clear();
  trial_is_known_ = false;
  engine_.begin(trial_);
  for (uint32_t m = 0; m < marks_.size(); ++m) {
    if (!reach(m)) return kNever;
  }
  if (!engine_.advance(problem_->node_count())) return kNever;
  adopt_times(0, static_cast<uint32_t>(marks_.size()));
  return makespan_us_;
}

// The trial assignment, and the last mark at which no predecessor of a changed node had started.
void IncrementalSimulator::prepare_trial(std::span<const Change> changes) {
  for (const Change& change : changes_) {
    trial_[change.node] = base_[change.node];
    spend(stop_, 1);
  }
  changes_.assign(changes.begin(), changes.end());
  spend(stop_, Stop::copied(changes_.size()));
  uint32_t earliest = problem_->node_count() - 1;
  for (const Change& change : changes_) {
    trial_[change.node] = change.device;
    const auto in_edges = problem_->graph().in_edges(change.node);
    if (in_edges.empty()) earliest = 0;
    for (const InEdge& in : watched(in_edges, stop_)) {
      earliest = std::min(earliest, times_.dispatch_index[in.source]);
    }
    spend(stop_, Stop::looked_up(1 + in_edges.size()));
  }
  restart_ = earliest / stride_;
}

// The last one saved of the base that is not behind the changes.
uint32_t IncrementalSimulator::mark_before_changes() const {
  uint32_t mark = restart_;
  while (mark > 0 && !marks_[mark].has_base) --mark;
  return mark;
}

// To the mark from which on the trial differs. False if stopped.
bool IncrementalSimulator::restart() {
  uint32_t mark = mark_before_changes();
  if (mark == 0) {  // roots join their queues before the first mark
    engine_.begin(trial_);
  } else {
    engine_.restore(marks_[mark].base(), trial_, times_.finish_us, makespan_before_[mark]);
  }
  while (mark < restart_) {
    if (!reach(++mark)) return false;
  }
  return true;
}

// False if the trial is sure to reach the cutoff already.
bool IncrementalSimulator::look_ahead(double cutoff_us) {
  if (outlook_is_old_) outlook_.rebase(base_, times_.dispatch_index);
  outlook_is_old_ = false;
  outlook_.begin(restart_, changes_);
  const uint32_t mark = mark_before_changes();
  for (uint32_t d = 0; d < problem_->device_count(); ++d) {
    const double free_us = mark == 0 ? 0 : marks_[mark].base().run.servers[d].next_free_us;
    if (outlook_.least_us(d, free_us) >= cutoff_us) return false;
  }
  return !spend(stop_, problem_->device_count() + changes_.size());
}

// The first mark of the base by which every changed node had started.
uint32_t IncrementalSimulator::first_mark_after_changes() const {
  uint32_t latest = 0;
  for (const Change& change : changes_)
    latest = std::max(latest, times_.dispatch_index[change.node]);
  return std::max(latest / stride_ + 1, restart_ + 1);
}

double IncrementalSimulator::run_trial(double cutoff_us, Outlook* outlook) {
  const uint32_t may_rejoin = first_mark_after_changes();
  for (uint32_t m = restart_ + 1; m < marks_.size(); ++m) {
    Mark& mark = marks_[m];
    mark.has_trial = false;
    const bool compare = m >= may_rejoin && mark.has_base;
    if (!compare && !keeps_trial(m)) continue;
    if (!engine_.advance(m * stride_, cutoff_us, outlook)) return kNever;
    if (spend(stop_, Stop::copied(problem_->node_count()))) return kNever;
    if (compare && engine_.same_future(mark.base(), base_, times_.finish_us)) {
      rejoined_ = m;
      trial_is_known_ = true;
      return std::max(engine_.makespan_us(), makespan_after_[m]);
    }
    if (!keeps_trial(m)) continue;
    engine_.save(mark.trial());
    mark.has_trial = true;
  }
  if (!engine_.advance(problem_->node_count(), cutoff_us, outlook)) return kNever;
  rejoined_ = static_cast<uint32_t>(marks_.size());
  trial_is_known_ = true;
  return engine_.makespan_us();
}

double IncrementalSimulator::evaluate(std::span<const Change> changes, double cutoff_us) {
  trial_is_known_ = false;
  prepare_trial(changes);
  if (stopped(stop_) || (cutoff_us < kNever && !look_ahead(cutoff_us))) return kNever;
  if (!restart()) return kNever;
  return run_trial(cutoff_us, cutoff_us < kNever ? &outlook_ : nullptr);
}

void IncrementalSimulator::apply(std::span<const Change> changes) {
  if (!trial_is_known_ || !std::ranges::equal(changes, changes_)) evaluate(changes);
  for (const Change& change : changes_) {
    base_[change.node] = change.device;
    spend(stop_, 1);
  }
  changes_.clear();
  if (!trial_is_known_) return;  // stopped
  trial_is_known_ = false;
  for (uint32_t m = restart_ + 1; m < rejoined_; ++m) {
    Mark& mark = marks_[m];
    mark.has_base = mark.has_trial;
    if (mark.has_trial) mark.base_at = 1 - mark.base_at;
  }
  adopt_times(restart_, rejoined_);
}

}  // namespace placeto
