#include "tools/engine/workers.h"

#include <algorithm>
#include <chrono>

namespace placeto {
namespace {

std::vector<uint32_t> stages_needed(const ManifestStage& stage) {
  std::vector<uint32_t> needed = stage.after;
  for (const ManifestTensor& input : stage.inputs) {
    if (input.stage != kFromCaller) needed.push_back(input.stage);
  }
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  return needed;
}

// Sleeping alone would last up to a tenth of a millisecond too long.
void rest_until(double time_us) {
  constexpr double kSleepsTooLong = 150;
  const double sleep = time_us - now_us() - kSleepsTooLong;
  if (sleep > 0) std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(sleep));
  while (now_us() < time_us) {
  }
}

}  // namespace

double now_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Workers::Workers(const Manifest& manifest, const WorkerOptions& options, RunStage run_stage)
    : order_(manifest.devices.size()), options_(options), run_stage_(std::move(run_stage)) {
  for (const uint32_t s : manifest.order) order_[manifest.stages[s].device].push_back(s);
  for (const ManifestStage& stage : manifest.stages) needs_.push_back(stages_needed(stage));
  const size_t stages = manifest.stages.size();
  for (uint32_t i = 0; i < std::max(1u, options.slots); ++i) {
    auto slot = std::make_unique<Slot>();
    slot->done = std::make_unique<std::atomic<uint64_t>[]>(stages);
    for (size_t s = 0; s < stages; ++s) slot->done[s] = 0;
    slot->times.resize(stages);
    slots_.push_back(std::move(slot));
  }
  for (uint32_t d = 0; d < order_.size(); ++d) {
    if (!order_[d].empty()) threads_.emplace_back([this, d] { work(d); });
  }
}

Workers::~Workers() {
  quit_ = true;
  changed();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::changed() {
  events_.fetch_add(1);
  events_.notify_all();
}

void Workers::await_change(uint32_t seen) const {
  const double until = now_us() + options_.spin_us;
  while (events_.load() == seen) {
    if (now_us() < until) continue;
    events_.wait(seen);
    return;
  }
}

void Workers::submit(uint32_t slot_index) {
  Slot& slot = *slots_[slot_index];
  slot.failed = false;
  slot.status = {};
  slot.left = static_cast<uint32_t>(needs_.size());
  slot.submitted_us = now_us();
  slot.request = ++last_request_;
  changed();
}

Status Workers::wait(uint32_t slot_index) {
  Slot& slot = *slots_[slot_index];
  for (;;) {
    const uint32_t seen = events_.load();
    if (slot.left.load() == 0) return slot.status;
    await_change(seen);
  }
}

double Workers::finished_us(uint32_t slot) const {
  double last = slots_[slot]->submitted_us;
  for (const StageTimes& times : slots_[slot]->times) last = std::max(last, times.end_us);
  return last;
}

// The oldest request whose next stage on this device is ready.
Workers::Task Workers::next_task(uint32_t device, std::vector<Progress>& progress) const {
  Task best;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const uint64_t request = slots_[i]->request.load();
    if (request == 0) continue;
    if (progress[i].request != request) progress[i] = {request, 0};
    if (progress[i].next == order_[device].size()) continue;
    const uint32_t stage = order_[device][progress[i].next];
    const auto finished = [&](uint32_t s) { return slots_[i]->done[s].load() == request; };
    const bool ready = std::all_of(needs_[stage].begin(), needs_[stage].end(), finished);
    if (!ready || (best.slot != nullptr && best.request < request)) continue;
    best = {slots_[i].get(), i, stage, request};
  }
  return best;
}

void Workers::run(const Task& task, double share) {
  Slot& slot = *task.slot;
  StageTimes& times = slot.times[task.stage];
  times.start_us = now_us();
  if (!slot.failed.load()) {
    Status status = run_stage_(task.slot_index, task.stage);
    if (!status.ok() && !slot.failed.exchange(true)) slot.status = std::move(status);
  }
  times.end_us = now_us();
  if (share < 1) {
    rest_until(times.end_us + (times.end_us - times.start_us) * (1 / share - 1));
    times.end_us = now_us();
  }
  slot.done[task.stage] = task.request;
  slot.left.fetch_sub(1);
  changed();
}

void Workers::work(uint32_t device) {
  std::vector<Progress> progress(slots_.size());
  const double share = options_.share.empty() ? 1 : options_.share[device];
  while (!quit_.load()) {
    const uint32_t seen = events_.load();
    const Task task = next_task(device, progress);
    if (task.slot == nullptr) {
      await_change(seen);
      continue;
    }
    ++progress[task.slot_index].next;
    run(task, share);
  }
}

}  // namespace placeto
