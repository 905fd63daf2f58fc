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
// A replay leaves checkpoints of its own, fewer, for a move that is made is simulated no second
// time: they take the place of the base's, and those between them are made by the next replay that
// comes by.
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

// For parallel execution, under every other rule. Not shareable between threads; the problem must
// outlive it; no allocation after the first few calls.
class IncrementalSimulator {
 public:
  // Once stopped, it is not usable any more.
  explicit IncrementalSimulator(const Problem& problem, Stop* stop = nullptr);

  // Makes the placement the base. Returns its makespan in microseconds.
  double rebase(std::span<const uint32_t> assignment);

  // Makespan if the changes were made to the base; infinity as soon as it is sure not to be below
  // the cutoff. The base stays.
  double evaluate(std::span<const Change> changes, double cutoff_us = kNever);

  // Makes the changes part of the base; simulates nothing if they were the last to be evaluated, to
  // the end.
  void apply(std::span<const Change> changes);

  double makespan_us() const { return makespan_us_; }  // of the base
  std::span<const uint32_t> assignment() const { return base_; }
  std::span<const double> start_us() const { return times_.start_us; }
  std::span<const double> finish_us() const { return times_.finish_us; }
  // Position of every node in a topological order, in which those of a device start in turn.
  std::span<const uint32_t> dispatch_index() const { return times_.dispatch_index; }

 private:
  // The state of the base's run when so many nodes have started, and of the trial's.
  struct Mark {
    EventEngine::Checkpoint& base() { return saved[base_at]; }
    EventEngine::Checkpoint& trial() { return saved[1 - base_at]; }

    EventEngine::Checkpoint saved[2];
    uint32_t base_at = 0;
    bool has_base = false, has_trial = false;  // of the present ones
  };

  bool reach(uint32_t mark);
  void prepare_trial(std::span<const Change> changes);
  uint32_t mark_before_changes() const;
  bool restart();
  bool look_ahead(double cutoff_us);
  bool keeps_trial(uint32_t mark) const { return mark % trial_stride_ == 0; }
  double run_trial(double cutoff_us, Outlook* outlook);
  void adopt_times(uint32_t first, uint32_t end);
  uint32_t first_mark_after_changes() const;

  const Problem* problem_;
  Stop* stop_;
  EventEngine engine_;
  uint32_t stride_;        // nodes started between two marks
  uint32_t trial_stride_;  // marks between two at which a trial is saved
  std::vector<Mark> marks_;
  Outlook outlook_;
  bool outlook_is_old_ = true;
  // Latest finish among the nodes started before a mark, and after it.
  std::vector<double> makespan_before_, makespan_after_;
  std::vector<uint32_t> base_, trial_;
  std::vector<Change> changes_;  // of trial_ against base_
  uint32_t restart_ = 0;         // mark from which on the trial differs
  uint32_t rejoined_ = 0;        // mark from which on it is as the base again
  bool trial_is_known_ = false;  // to its end
  double makespan_us_ = 0;
  EventEngine::Times times_;
};

}  // namespace placeto
