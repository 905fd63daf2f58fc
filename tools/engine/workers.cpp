#include "tools/engine/workers.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

#include "tools/engine/cores.h"

namespace placeto {
namespace {

// As long as waking a thread takes at worst: whatever comes next, twice the least time is lost.
constexpr double kSpinUs = 150;

std::vector<uint32_t> stages_needed(const ManifestStage& stage) {
  std::vector<uint32_t> needed = stage.after;
  for (const ManifestTensor& input : stage.inputs) {
    if (input.stage != kFromCaller) needed.push_back(input.stage);
  }
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  return needed;
}

// Spinning, with turns for others. A thread that waits for this core, such as a worker that was
// woken on it, would wait for milliseconds: both look busy, so the scheduler moves neither.
class Spin {
 public:
  void once() {
    constexpr int kTurnsAlone = 64;  // some microseconds
    if (++turns_ > kTurnsAlone) std::this_thread::yield();
  }

 private:
  int turns_ = 0;
};

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
    : threads_per_stage_(options.threads_per_stage), run_stage_(std::move(run_stage)) {
  for (const ManifestStage& stage : manifest.stages) needs_.push_back(stages_needed(stage));
  const size_t stages = manifest.stages.size();
  for (uint32_t i = 0; i < std::max(1u, options.slots); ++i) {
    auto slot = std::make_unique<Slot>();
    slot->done = std::make_unique<std::atomic<uint64_t>[]>(stages);
    for (size_t s = 0; s < stages; ++s) slot->done[s] = 0;
    slot->times.resize(stages);
    slots_.push_back(std::move(slot));
  }
  std::vector<Device*> device_of(manifest.devices.size());
  for (const uint32_t s : manifest.order) {
    const uint32_t d = manifest.stages[s].device;
    if (device_of[d] == nullptr) {
      devices_.push_back(std::make_unique<Device>());
      device_of[d] = devices_.back().get();
      device_of[d]->progress.resize(slots_.size());
      if (!options.share.empty()) device_of[d]->share = options.share[d];
      assert(device_of[d]->share >= kLeastShare && device_of[d]->share <= 1);
    }
    device_of[d]->order.push_back(s);
  }
  spins_ = options.threads_per_stage > 0 &&
           devices_.size() * options.threads_per_stage <= usable_cores();
  try {
    for (const auto& device : devices_) threads_.emplace_back([this, &device] { work(*device); });
  } catch (...) {  // there are as many threads as there may be
    stop();
    throw;
  }
}

Workers::~Workers() {
  stop();
}

void Workers::stop() {
  quit_ = true;
  changed();
  for (const auto& device : devices_) unpark(*device);
  for (std::thread& thread : threads_) thread.join();
}

void Workers::changed() {
  events_.fetch_add(1);
  events_.notify_all();
}

void Workers::start(uint32_t slot_index) {
  Slot& slot = *slots_[slot_index];
  slot.failed = false;
  slot.status = {};
  slot.left = static_cast<uint32_t>(needs_.size());
  slot.submitted_us = now_us();
  slot.request = ++last_request_;
  changed();
}

void Workers::submit(uint32_t slot) {
  start(slot);
  unpark(*devices_.front());
}

Status Workers::run(uint32_t slot) {
  Device& first = *devices_.front();
  const bool serves = first.takes(Server::kParked, Server::kCaller) ||
                      first.takes(Server::kNobody, Server::kCaller);
  start(slot);
  if (serves) {
    serve(first, slots_[slot].get());
    first.server = Server::kParked;
    if (in_flight()) unpark(first);  // by others, who saw that it was served
  } else {
    unpark(first);  // whoever served it may have left before this request was there
  }
  return wait(slot);
}

void Workers::unpark(Device& device) {
  if (device.takes(Server::kParked, Server::kNobody)) device.server.notify_one();
}

bool Workers::in_flight() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const auto& s) { return s->left > 0; });
}

Status Workers::wait(uint32_t slot_index) {
  Slot& slot = *slots_[slot_index];
  while (const uint32_t left = slot.left.load()) slot.left.wait(left);
  return slot.status;
}

double Workers::finished_us(uint32_t slot) const {
  double last = slots_[slot]->submitted_us;
  for (const StageTimes& times : slots_[slot]->times) last = std::max(last, times.end_us);
  return last;
}

// The oldest request whose next stage on this device is ready.
Workers::Task Workers::next_task(Device& device, bool& to_come) const {
  Task best;
  to_come = false;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const uint64_t request = slots_[i]->request.load();
    if (request == 0) continue;
    Progress& progress = device.progress[i];
    if (progress.request != request) progress = {request, 0};
    if (progress.next == device.order.size()) continue;
    to_come = true;
    const uint32_t stage = device.order[progress.next];
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
  const bool last = slot.left.fetch_sub(1) == 1;
  changed();
  if (last) slot.left.notify_all();
}

void Workers::stay_apart(Device& device) {
  const int core = this_core();
  if (core != device.core.load(std::memory_order_relaxed)) device.core = core;
  bool moved = false;
  size_t i = 0;
  for (const auto& other : devices_) {
    if (other.get() == &device) break;
    const int taken = other->core.load(std::memory_order_relaxed);
    if (device.taken.size() == i) device.taken.push_back(-1);
    moved = std::exchange(device.taken[i++], taken) != taken || moved;
  }
  if (moved) leave_cores(device.taken);
}

uint32_t Workers::serve(Device& device, const Slot* slot) {
  Spin spin;
  for (;;) {
    const uint32_t seen = events_.load();
    if (quit_.load() || (slot != nullptr && slot->left.load() == 0)) return seen;
    bool to_come = false;
    const Task task = next_task(device, to_come);
    if (spins_ && (task.slot != nullptr || to_come)) stay_apart(device);
    if (task.slot != nullptr) {
      ++device.progress[task.slot_index].next;
      run(task, device.share);
      spin = {};
    } else if (!to_come && slot == nullptr) {
      return seen;
    } else if (spins_) {
      spin.once();
    } else {
      events_.wait(seen);
    }
  }
}

void Workers::work(Device& device) {
  while (!quit_.load()) {
    if (!device.takes(Server::kNobody, Server::kThread)) {
      const Server other = device.server.load();
      if (other != Server::kNobody) device.server.wait(other);
      continue;
    }
    const uint32_t seen = serve(device, nullptr);
    device.server = Server::kNobody;
    const double until = now_us() + kSpinUs;
    Spin spin;
    while (spins_ && events_.load() == seen && now_us() < until) spin.once();
    if (!quit_.load()) events_.wait(seen);
  }
}

}  // namespace placeto
