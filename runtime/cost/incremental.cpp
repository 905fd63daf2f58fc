#include "runtime/cost/incremental.h"

#include <algorithm>

namespace placeto {
namespace {

// More checkpoints start and end the replay closer to the change but cost memory (4 bytes per node
// each) and time when a move is accepted.
constexpr uint32_t kMostCheckpoints = 64;
constexpr uint32_t kLeastStride = 8;
constexpr uint64_t kCheckpointBytes = 16'000'000;

uint32_t choose_stride(uint32_t nodes) {
  const uint64_t affordable = kCheckpointBytes / (uint64_t{4} * nodes + 1);
  const uint64_t count = std::clamp<uint64_t>(affordable, 4, kMostCheckpoints);
  return std::max(kLeastStride, static_cast<uint32_t>(nodes / count + 1));
}

}  // namespace

IncrementalSimulator::IncrementalSimulator(const Problem& problem, Stop* stop)
    : problem_(&problem),
      stop_(stop),
      engine_(problem, stop),
      stride_(choose_stride(problem.node_count())),
      checkpoints_((problem.node_count() + stride_ - 1) / stride_),
      outlook_(problem, stride_, stop),
      makespan_after_(checkpoints_.size()),
      times_(problem.node_count()) {
  spend(stop_, problem.node_count());  // memory touched for the first time is slow
}

// Continues to the end, leaving checkpoint i behind when i * stride_ nodes have started. False if
// stopped.
bool IncrementalSimulator::run_and_save(uint32_t first) {
  for (uint32_t c = first; c < checkpoints_.size(); ++c) {
    if (!engine_.advance(c * stride_)) return false;
    engine_.save(checkpoints_[c]);
    if (spend(stop_, Stop::copied(problem_->node_count())))
      return false;  // copied, not gone through
  }
  return engine_.advance(problem_->node_count());
}

// Takes over the times of every node that started after the first `dispatched_before` ones.
void IncrementalSimulator::adopt_times(uint32_t dispatched_before) {
  makespan_us_ = engine_.makespan_us();
  outlook_is_old_ = true;
  for (uint32_t v = 0; v < problem_->node_count(); ++v) {
    if (spend(stop_, 1)) return;
    if (times_.dispatch_index[v] < dispatched_before) continue;
    times_.start_us[v] = engine_.start_us()[v];
    times_.finish_us[v] = engine_.finish_us()[v];
    times_.dispatch_index[v] = engine_.dispatch_index(v);
  }
  std::fill(makespan_after_.begin(), makespan_after_.end(), 0);
  for (uint32_t v = 0; v < problem_->node_count(); ++v) {
    if (spend(stop_, 1)) return;
    double& latest = makespan_after_[times_.dispatch_index[v] / stride_];
    latest = std::max(latest, times_.finish_us[v]);
  }
  for (size_t c = makespan_after_.size() - 1; c > 0; --c) {
    makespan_after_[c - 1] = std::max(makespan_after_[c - 1], makespan_after_[c]);
  }
}

double IncrementalSimulator::rebase(std::span<const uint32_t> assignment) {
  base_.assign(assignment.begin(), assignment.end());
  trial_ = base_;
  changes_.clear();
  engine_.begin(trial_);
  if (!run_and_save(0)) return kNever;
  adopt_times(0);
  return makespan_us_;
}

// The trial assignment, and the last checkpoint at which no predecessor of a changed node had
// started.
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

void IncrementalSimulator::restart() {
  if (restart_ == 0) {  // roots join their queues before the first checkpoint
    engine_.begin(trial_);
  } else {
    engine_.restore(checkpoints_[restart_], trial_, times_.finish_us);
  }
}

// False if the trial is sure to reach the cutoff already.
bool IncrementalSimulator::look_ahead(double cutoff_us) {
  if (outlook_is_old_) outlook_.rebase(base_, times_.dispatch_index);
  outlook_is_old_ = false;
  outlook_.begin(restart_, changes_);
  for (uint32_t d = 0; d < problem_->device_count(); ++d) {
    const double free_us = restart_ == 0 ? 0 : checkpoints_[restart_].run.servers[d].next_free_us;
    if (outlook_.least_us(d, free_us) >= cutoff_us) return false;
  }
  return !spend(stop_, problem_->device_count() + changes_.size());
}

// The first checkpoint of the base by which every changed node had started.
uint32_t IncrementalSimulator::first_checkpoint_after_changes() const {
  uint32_t latest = 0;
  for (const Change& change : changes_)
    latest = std::max(latest, times_.dispatch_index[change.node]);
  return std::max(latest / stride_ + 1, restart_ + 1);
}

double IncrementalSimulator::evaluate(std::span<const Change> changes, double cutoff_us) {
  prepare_trial(changes);
  if (stopped(stop_) || (cutoff_us < kNever && !look_ahead(cutoff_us))) return kNever;
  Outlook* const outlook = cutoff_us < kNever ? &outlook_ : nullptr;
  restart();
  for (uint32_t c = first_checkpoint_after_changes(); c < checkpoints_.size(); ++c) {
    if (!engine_.advance(c * stride_, cutoff_us, outlook)) return kNever;
    if (spend(stop_, Stop::copied(problem_->node_count()))) return kNever;
    if (engine_.same_future(checkpoints_[c], base_, times_.finish_us)) {
      return std::max(engine_.makespan_us(), makespan_after_[c]);
    }
  }
  const bool complete = engine_.advance(problem_->node_count(), cutoff_us, outlook);
  return complete ? engine_.makespan_us() : kNever;
}

void IncrementalSimulator::apply(std::span<const Change> changes) {
  prepare_trial(changes);
  restart();
  const bool done = run_and_save(restart_ == 0 ? 0 : restart_ + 1);
  for (const Change& change : changes_) {
    base_[change.node] = change.device;
    spend(stop_, 1);
  }
  changes_.clear();
  if (done) adopt_times(restart_ * stride_);
}

}  // namespace placeto
