// One thread per device that runs its stages of the requests in flight.
//
// A device takes its stages of a request in the manifest's order. With several requests in flight
// it takes the oldest whose next stage is ready, so that a request that waits for another device
// does not hold up the ones behind it. Nothing is allocated and no lock is taken while requests
// run: what changes is counted in one atomic, on which workers wait. Waking one that sleeps takes
// as long as many stages (70 to 135 us on a virtual machine), so a worker that has stages to come
// spins, as the engine's own threads do, where every worker has a core to itself, and sees to it
// that it has: two threads that the scheduler leaves on one core hold each other up for
// milliseconds. Without a request it sleeps.
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

// With it a stage of a millisecond takes a second; with much less it would never end.
inline constexpr double kLeastShare = 0.001;

struct WorkerOptions {
  uint32_t slots = 1;              // requests in flight at most
  uint32_t threads_per_stage = 1;  // the engine's, the worker among them; 0: not known
  // Per device of the manifest: the share of the time that its worker may compute, to stand for a
  // slower processor; after a stage it rests, and its outputs leave when the rest ends. From
  // kLeastShare to 1. Empty: 1.
  std::vector<double> share = {};
};

class Workers {
 public:
  using RunStage = std::function<Status(uint32_t slot, uint32_t stage)>;

  // `run_stage` is called on the thread of the stage's device, and must not throw. Throws
  // std::system_error where the system gives no more threads.
  Workers(const Manifest& manifest, const WorkerOptions& options, RunStage run_stage);
  ~Workers();  // waits for stages that run
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }
  // Whether the engine has threads beside the workers.
  bool alone() const { return threads_per_stage_ == 1; }
  // submit() and wait(), where the calling thread computes what the first stage's device computes:
  // the least time for one request.
  Status run(uint32_t slot);
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
  // What a device has done of each slot's request.
  struct Progress {
    uint64_t request = 0;
    size_t next = 0;  // position in the device's order
  };
  // Which thread computes a device's stages. Parked: nobody, since no request is in flight; its own
  // thread stays asleep, so that waking it takes no core from the others.
  enum class Server : uint8_t { kNobody, kThread, kCaller, kParked };
  struct Device {
    std::vector<uint32_t> order;  // its stages
    double share = 1;
    std::atomic<Server> server{Server::kNobody};
    std::vector<Progress> progress;  // the server's
    std::atomic<int> core{-1};       // that the server is on; -1: there is none, or it is not known
    std::vector<int> taken;          // the server's: cores of the devices before this one

    bool takes(Server from, Server to) { return server.compare_exchange_strong(from, to); }
  };

  void stop();
  void work(Device& device);
  // Runs what is ready, until all of the slot's request (or, without one, all that is to come for
  // this device) is done. Returns what `events_` was when it was.
  uint32_t serve(Device& device, const Slot* slot);
  // Moves a device's own thread off the cores of the devices before it; the first, which a calling
  // thread may serve, never moves.
  void stay_apart(Device& device);
  void start(uint32_t slot);
  void unpark(Device& device);
  bool in_flight() const;
  // `to_come` becomes whether the device has stages left of a request in flight.
  Task next_task(Device& device, bool& to_come) const;
  void run(const Task& task, double share);
  void changed();

  std::vector<std::unique_ptr<Device>> devices_;  // those with stages; the first stage's is first
  std::vector<std::vector<uint32_t>> needs_;      // per stage: all stages it waits for
  uint32_t threads_per_stage_;
  bool spins_ = false;  // a core for every thread
  RunStage run_stage_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<uint64_t> last_request_{0};
  std::atomic<uint32_t> events_{0};
  std::atomic<bool> quit_{false};
  std::vector<std::thread> threads_;
};

}  // namespace placeto
