// Requests: who may do what of a slot is told by its state, which changes by exchange, so that of
// two calls that may not both succeed one is refused.

#include "runtime/base/message.h"
#include "tools/capi/runner/handle.h"

using namespace placeto;        // NOLINT: this file is one edge of the library
using namespace placeto::capi;  // NOLINT

namespace {

Status refuse(uint32_t slot, const char* why) {
  return invalid({"slot ", slot, ": ", why});
}

bool in_flight(SlotState state) {
  return state == SlotState::kSubmitted || state == SlotState::kAwaited;
}

constexpr const char* kInFlight = "its request is in flight";

Status check_slot(const placeto_runner* runner, uint32_t slot) {
  if (Status s = check_not_null({{runner, "runner"}}); !s.ok()) return s;
  return check_index("slot", slot, runner->slots.size());
}

Status check_started(const placeto_runner* runner) {
  if (runner->phase.load() == Phase::kStarted) return {};
  return invalid(
      {"the runner is not started: placeto_runner_start comes before the first request"});
}

// From a state in which nothing is in flight to `to`, in which something is.
Status take(placeto_runner* runner, uint32_t slot, SlotState to) {
  if (Status s = check_slot(runner, slot); !s.ok()) return s;
  if (Status s = check_started(runner); !s.ok()) return s;
  std::atomic<SlotState>& state = runner->slots[slot].state;
  SlotState seen = state.load();
  while (!in_flight(seen)) {
    if (state.compare_exchange_weak(seen, to)) return {};
  }
  return refuse(slot, kInFlight);
}

// The end of a request, which `end` waits for. The slot is free again even if there is no memory to
// say why the request failed.
template <class End>
Status finish(placeto_runner* runner, uint32_t slot, End end) {
  struct Free {
    std::atomic<SlotState>& state;
    SlotState to = SlotState::kFailed;
    ~Free() { state = to; }
  } free{runner->slots[slot].state};
  const Status status = end();
  if (status.ok()) free.to = SlotState::kDone;
  return status;
}

// That its last request is over, however it ended.
Status check_ended(const placeto_runner* runner, uint32_t slot) {
  if (Status s = check_slot(runner, slot); !s.ok()) return s;
  const SlotState state = runner->slots[slot].state.load();
  if (state == SlotState::kUnused) return refuse(slot, "it has run no request yet");
  return in_flight(state) ? refuse(slot, kInFlight) : Status();
}

}  // namespace

placeto_status placeto_runner_input(placeto_runner* runner, uint32_t slot, uint32_t input,
                                    void** data, size_t* bytes, placeto_error* error) noexcept {
  if (data != nullptr) *data = nullptr;
  if (bytes != nullptr) *bytes = 0;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{data, "data"}, {bytes, "bytes"}}); !s.ok()) return s;
    if (Status s = check_slot(runner, slot); !s.ok()) return s;
    if (Status s = check_index("input", input, runner->inputs.size()); !s.ok()) return s;
    if (runner->phase.load() == Phase::kStarting) return invalid({"the runner is being started"});
    if (in_flight(runner->slots[slot].state.load())) return refuse(slot, kInFlight);
    const std::span<std::byte> memory = runner->runner->model().input(slot, input);
    *data = memory.data();
    *bytes = memory.size();
    return {};
  });
}

placeto_status placeto_runner_start(placeto_runner* runner, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{runner, "runner"}}); !s.ok()) return s;
    Phase phase = Phase::kOpen;
    if (!runner->phase.compare_exchange_strong(phase, Phase::kStarting)) {
      return invalid(
          {phase == Phase::kStarting ? "the runner is being started" : "the runner is started"});
    }
    struct Back {  // whatever ends the start, it did not succeed before it says so
      std::atomic<Phase>& phase;
      Phase to = Phase::kOpen;
      ~Back() { phase = to; }
    } back{runner->phase};
    if (Status s = runner->runner->start(); !s.ok()) return s;
    back.to = Phase::kStarted;
    return {};
  });
}

placeto_status placeto_runner_run(placeto_runner* runner, uint32_t slot,
                                  placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = take(runner, slot, SlotState::kAwaited); !s.ok()) return s;
    return finish(runner, slot, [&] { return runner->runner->workers().run(slot); });
  });
}

placeto_status placeto_runner_submit(placeto_runner* runner, uint32_t slot,
                                     placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    // As awaited until it is submitted: who waits for it sooner would find the request before.
    if (Status s = take(runner, slot, SlotState::kAwaited); !s.ok()) return s;
    runner->runner->workers().submit(slot);
    runner->slots[slot].state = SlotState::kSubmitted;
    return {};
  });
}

placeto_status placeto_runner_wait(placeto_runner* runner, uint32_t slot,
                                   placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_slot(runner, slot); !s.ok()) return s;
    SlotState state = SlotState::kSubmitted;
    if (!runner->slots[slot].state.compare_exchange_strong(state, SlotState::kAwaited)) {
      return refuse(slot, state == SlotState::kAwaited ? "another thread waits for its request"
                                                       : "no request of it is in flight");
    }
    return finish(runner, slot, [&] { return runner->runner->workers().wait(slot); });
  });
}

placeto_status placeto_runner_output(placeto_runner* runner, uint32_t slot, uint32_t output,
                                     placeto_runner_view* to, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{to, "to"}}); !s.ok()) return s;
    if (Status s = check_ended(runner, slot); !s.ok()) return s;
    if (Status s = check_index("output", output, runner->outputs.size()); !s.ok()) return s;
    RunnerSlot& of = runner->slots[slot];
    if (of.state.load() == SlotState::kFailed) return refuse(slot, "its last request failed");
    Result<TensorView> view = runner->runner->model().output(slot, output);
    if (!view.ok()) return view.status();
    of.outputs.resize(runner->outputs.size());
    TensorView& kept = of.outputs[output] = *std::move(view);
    placeto_runner_view described = {};
    described.data = kept.bytes.data();
    described.bytes = kept.bytes.size();
    described.element = static_cast<int32_t>(kept.element);
    described.rank = static_cast<uint32_t>(kept.shape.size());
    described.shape = kept.shape.data();
    return write_struct("placeto_runner_view", described, to);
  });
}

placeto_status placeto_runner_times(const placeto_runner* runner, uint32_t slot,
                                    double* submitted_us, double* starts_us, double* ends_us,
                                    size_t capacity, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_ended(runner, slot); !s.ok()) return s;
    Workers& workers = runner->runner->workers();
    const std::vector<StageTimes>& times = workers.times(slot);
    if (starts_us != nullptr || ends_us != nullptr) {
      const char* name = starts_us != nullptr ? "starts_us" : "ends_us";
      if (Status s = check_capacity(name, capacity, times.size()); !s.ok()) return s;
    }
    if (submitted_us != nullptr) *submitted_us = workers.submitted_us(slot);
    for (size_t s = 0; s < times.size(); ++s) {
      if (starts_us != nullptr) starts_us[s] = times[s].start_us;
      if (ends_us != nullptr) ends_us[s] = times[s].end_us;
    }
    return {};
  });
}
