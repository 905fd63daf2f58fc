// One thread per device that runs its stages of the requests in flight.
//
// A device takes its stages of a request in the manifest's order. With several requests in flight
// it takes the oldest whose next stage is ready, so that a request that waits for another device
// does not hold up the ones behind it. Nothing is allocated and no lock is taken while requests
// run: what changes is counted in one atomic, on which idle workers first spin and then sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/result.h"
#include "tools/engine/manifest_reader.h"

namespace placeto {

// Microseconds of a clock that never goes back.
double now_us();

struct StageTimes {
  double start_us = 0, end_us = 0;  // now_us()
};

struct WorkerOptions {
  uint32_t slots = 1;   // requests in flight at most
  double spin_us = 50;  // before an idle worker sleeps
  // Per device of the manifest: the share of the time that its worker may compute, to stand for a
  // slower processor; after a stage it rests, and its outputs leave when the rest ends. Empty: 1.
  std::vector<double> share = {};
};

class Workers {
 public:
  using RunStage = std::function<Status(uint32_t slot, uint32_t stage)>;

  // `run_stage` is called on the thread of the stage's device.
  Workers(const Manifest& manifest, const WorkerOptions& options, RunStage run_stage);
  ~Workers();  // waits for stages that run
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }
  // Starts the next request in a slot in which none is running.
  void submit(uint32_t slot);
  // The first failure of a stage, or ok. Stages that depend on a failed one do not run.
  Status wait(uint32_t slot);

  // Of the last request of the slot, once it is done.
  const std::vector<StageTimes>& times(uint32_t slot) const { return slots_[slot]->times; }
  double submitted_us(uint32_t slot) const { return slots_[slot]->submitted_us; }
  double finished_us(uint32_t slot) const;

 private:
  struct Slot {
    std::atomic<uint64_t> request{0};               // 0: none yet; grows over all slots
    std::atomic<uint32_t> left{0};                  // stages to come
    std::unique_ptr<std::atomic<uint64_t>[]> done;  // per stage: the last request it is done for
    std::vector<StageTimes> times;
    double submitted_us = 0;
    std::atomic<bool> failed{false};
    Status status;  // written by the worker that set `failed`
  };
  struct Task {
    Slot* slot = nullptr;
    uint32_t slot_index = 0, stage = 0;
    uint64_t request = 0;
  };
  // What a worker has done of each slot's request.
  struct Progress {
    uint64_t request = 0;
    size_t next = 0;  // position in the device's order
  };

  void work(uint32_t device);
  Task next_task(uint32_t device, std::vector<Progress>& progress) const;
  void run(const Task& task, double share);
  void changed();
  void await_change(uint32_t seen) const;

  std::vector<std::vector<uint32_t>> order_;  // per device
  std::vector<std::vector<uint32_t>> needs_;  // per stage: all stages it waits for
  WorkerOptions options_;
  RunStage run_stage_;
  std::vector<std::unique_ptr<Slot>> slots_;
  uint64_t last_request_ = 0;
  std::atomic<uint32_t> events_{0};
  std::atomic<bool> quit_{false};
  std::vector<std::thread> threads_;
};

}  // namespace placeto
