// What is behind placeto_runner: the runner of C++, and what of every slot is allowed next.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runtime/capi/support.h"
#include "tools/capi/runner/include/placeto/placeto_runner.h"
#include "tools/engine/runner.h"

namespace placeto::capi {

// Where a runner is. A first run that failed leads back to kOpen.
enum class Phase : uint8_t { kOpen, kStarting, kStarted };

// Where a slot is. Who moves it on from a state by exchange may do what it stands for; nobody else.
enum class SlotState : uint8_t {
  kUnused,     // no request yet
  kSubmitted,  // in flight, and nobody waits
  kAwaited,    // in flight, and a thread waits, or runs it itself
  kDone,
  kFailed,
};

struct RunnerSlot {
  std::atomic<SlotState> state{SlotState::kUnused};
  std::vector<TensorView> outputs;  // as far as they were asked for
};

// What placeto_runner_tensor points to, but for what the model itself has.
struct TensorTexts {
  std::string element_name;
  std::vector<const char*> symbols;
};

}  // namespace placeto::capi

struct placeto_runner {
  std::unique_ptr<placeto::Runner> runner;
  uint32_t threads = 1, replicas = 1;
  std::vector<placeto::capi::TensorTexts> inputs, outputs;
  std::atomic<placeto::capi::Phase> phase{placeto::capi::Phase::kOpen};
  std::vector<placeto::capi::RunnerSlot> slots;

  explicit placeto_runner(size_t slot_count) : slots(slot_count) {}
};
