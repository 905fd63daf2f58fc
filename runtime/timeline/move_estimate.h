// What a move does to the makespan, nearly and without a simulation: the moved nodes are put in
// where they are ready, what they read is sent for them, and everything else keeps its order. The
// latest of what then starts too late tells how much longer the run gets.
//
// As local searches for job shops judge neighbours (Taillard, "Parallel taboo search techniques for
// the job shop scheduling problem", ORSA Journal on Computing 1994), with transfers and whole
// groups. What a device or channel gains that something leaves is not seen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/timeline/queues.h"

namespace placeto {

// Not shareable between threads.
class MoveEstimate {
 public:
  // The problem must outlive it.
  explicit MoveEstimate(const Problem& problem);

  // Whether the makespan waits for one of the nodes: else no move of them makes it shorter.
  static bool is_waited_for(const Queues& run, std::span<const uint32_t> nodes, Stop* stop);

  // By how much the run gets longer if `nodes` go to the device; negative: shorter. What nothing
  // waits for cannot make it shorter. Once it is sure to be `enough_us` nothing else is looked at.
  // Worth nothing once stopped.
  double change_us(const Queues& run, std::span<const uint32_t> nodes, uint32_t device,
                   double enough_us = kNever, Stop* stop = nullptr);

 private:
  // What was put into a queue: before which entry, and how far that pushes what is behind.
  struct Inserted {
    size_t next = 0;
    double free_us = 0, delay_us = 0;
    bool any = false;
  };
  struct Arrival {
    size_t slot;
    double us;
  };
  bool forget_last();
  bool take(std::span<const uint32_t> nodes, uint32_t device);
  void put_in(uint32_t device, double enough_us);
  double ready_us(uint32_t node, uint32_t device);
  double insert(std::span<const Queues::Entry> queue, double ready_us, double busy_us,
                double gap_us, Inserted& inserted);
  double send(uint32_t output, uint32_t from, uint32_t to, double ready_us);
  void read(uint32_t node, uint32_t device, double finish_us);

  const Problem& problem_;
  Stop* stop_ = nullptr;
  const Queues* run_ = nullptr;
  double late_us_ = 0;             // the latest so far
  std::vector<uint32_t> moved_;    // put in as they start
  std::vector<double> finish_us_;  // of moved nodes; kNever: of one that stays
  Inserted on_device_;
  std::vector<Inserted> on_channel_;
  std::vector<uint32_t> channels_;    // into which something was put
  std::vector<Arrival> arrivals_;     // of what is sent for the move
  std::vector<uint32_t> arrival_at_;  // by slot of the run, in arrivals_
};

}  // namespace placeto
