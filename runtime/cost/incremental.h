// Incremental simulation for searches: the makespan after moving some nodes of a base placement.
//
// Nothing can differ before the first predecessor of a moved node starts (that is when deliveries
// to it are booked), so a run of the base leaves checkpoints behind and a move replays only what
// follows the last one before that moment. Where the replay meets a later checkpoint in exactly the
// base's state, the rest is the base's too, and it stops. The result equals a full simulation bit
// for bit: it is the same engine doing the same arithmetic. A caller that only wants improvements
// gives a cutoff; the replay then also stops, or does not begin, as soon as what has to follow is
// sure to reach it (outlook.h).
//
// Rejected: recomputing only the nodes whose times change. On random placements of random graphs a
// one-node move changes the start of a fifth (100 nodes) to a half (10,000 nodes) of all nodes, and
// they lie together in time, so such propagation would have little left to save.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cost/change.h"
#include "runtime/cost/event_engine.h"
#include "runtime/cost/outlook.h"
#include "runtime/cost/problem.h"

namespace placeto {

// For every rule set but serial execution. Not shareable between threads; the problem must outlive
// it; no allocation after the first few calls.
class IncrementalSimulator {
 public:
  // Once stopped, it is not usable any more.
  explicit IncrementalSimulator(const Problem& problem, Stop* stop = nullptr);

  // Makes the placement the base. Returns its makespan in microseconds.
  double rebase(std::span<const uint32_t> assignment);

  // Makespan if the changes were made to the base; infinity as soon as it is sure not to be below
  // the cutoff. The base stays.
  double evaluate(std::span<const Change> changes, double cutoff_us = kNever);

  // Makes the changes part of the base.
  void apply(std::span<const Change> changes);

  double makespan_us() const { return makespan_us_; }  // of the base
  std::span<const uint32_t> assignment() const { return base_; }
  std::span<const double> start_us() const { return times_.start_us; }
  std::span<const double> finish_us() const { return times_.finish_us; }
  // Position of every node in a topological order, in which those of a device start in turn.
  std::span<const uint32_t> dispatch_index() const { return times_.dispatch_index; }

 private:
  bool run_and_save(uint32_t first);
  void prepare_trial(std::span<const Change> changes);
  void restart();
  bool look_ahead(double cutoff_us);
  void adopt_times(uint32_t dispatched_before);
  uint32_t first_checkpoint_after_changes() const;

  const Problem* problem_;
  Stop* stop_;
  EventEngine engine_;
  uint32_t stride_;  // nodes started between two checkpoints
  std::vector<EventEngine::Checkpoint> checkpoints_;
  Outlook outlook_;
  bool outlook_is_old_ = true;
  std::vector<double> makespan_after_;  // latest finish among the nodes started after it
  std::vector<uint32_t> base_, trial_;
  std::vector<Change> changes_;  // of trial_ against base_
  uint32_t restart_ = 0;         // checkpoint that the trial started from
  double makespan_us_ = 0;
  EventEngine::Times times_;
};

}  // namespace placeto
