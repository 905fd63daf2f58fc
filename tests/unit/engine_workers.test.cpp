// Worker threads: order, overlap, failures. Stages are functions here; no engine is needed.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "tools/engine/measure_run.h"
#include "tools/engine/workers.h"

namespace placeto {
namespace {

// Stages 0 and 2 on device 0, 1 and 3 on device 1.
//
//   [0] - [1] - [2] - [3]
Manifest zigzag() {
  Manifest manifest;
  manifest.devices = {"cpu:0", "cpu:1"};
  manifest.stages.resize(4);
  for (uint32_t s = 0; s < 4; ++s) {
    manifest.stages[s].device = s % 2;
    if (s > 0) manifest.stages[s].after = {s - 1};
    manifest.order.push_back(s);
  }
  return manifest;
}

struct Call {
  uint32_t slot, stage;
  std::thread::id thread;
};

struct Recorder {
  std::mutex mutex;
  std::vector<Call> calls;
  Status operator()(uint32_t slot, uint32_t stage) {
    const std::lock_guard lock(mutex);
    calls.push_back({slot, stage, std::this_thread::get_id()});
    return {};
  }
};

TEST_CASE("stages run after those that they need, each device on a thread of its own") {
  Recorder recorder;
  Workers workers(zigzag(), {}, std::ref(recorder));
  for (int request = 0; request < 3; ++request) {
    workers.submit(0);
    CHECK(workers.wait(0).ok());
  }
  REQUIRE(recorder.calls.size() == 12);
  for (size_t i = 0; i < 12; ++i) {
    CHECK(recorder.calls[i].stage == i % 4);
    CHECK(recorder.calls[i].thread == recorder.calls[i % 2].thread);
  }
  CHECK(recorder.calls[0].thread != recorder.calls[1].thread);
  const auto& times = workers.times(0);
  for (size_t s = 1; s < 4; ++s) CHECK(times[s].start_us >= times[s - 1].end_us);
  CHECK(workers.finished_us(0) == times[3].end_us);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they take memory as they go
TEST_CASE(
    "where the system gives no more threads, those that were started end with the exception") {
  constexpr uint32_t kDevices = 200;
  Manifest manifest;
  manifest.stages.resize(kDevices);
  for (uint32_t d = 0; d < kDevices; ++d) {
    manifest.devices.push_back("cpu:" + std::to_string(d));
    manifest.stages[d].device = d;
    manifest.order.push_back(d);
  }
  // Stacks of two MiB or more find room for a few only.
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit little = before;
  little.rlim_cur = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + (128 << 20);
  REQUIRE(setrlimit(RLIMIT_AS, &little) == 0);
  bool thrown = false;
  try {
    const Workers workers(manifest, {}, [](uint32_t, uint32_t) { return Status(); });
  } catch (const std::system_error&) {
    thrown = true;
  }
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(thrown);
}
#endif

TEST_CASE(
    "who runs a request computes its first device, if that is free, and hands it back to those who "
    "submit") {
  Recorder recorder;
  Workers workers(zigzag(), {.slots = 2}, std::ref(recorder));
  const auto here = std::this_thread::get_id();
  int computed_here = 0;
  for (int i = 0; i < 50; ++i) {
    recorder.calls.clear();
    CHECK(workers.run(0).ok());
    REQUIRE(recorder.calls.size() == 4);
    // The device's own thread, which served what was submitted, may not have left it yet.
    const bool was_free = recorder.calls[0].thread == here;
    computed_here += was_free;
    for (const Call& call : recorder.calls) {
      CHECK((call.thread == here) == (was_free && call.stage % 2 == 0));
    }
    workers.submit(1);
    CHECK(workers.wait(1).ok());
    CHECK(recorder.calls.size() == 8);
  }
  CHECK(computed_here > 0);
  // Two callers at a time: one of them finds the device taken.
  recorder.calls.clear();
  const auto ask = [&workers](uint32_t slot) {
    for (int i = 0; i < 500; ++i) CHECK(workers.run(slot).ok());
  };
  std::thread other(ask, 1);
  ask(0);
  other.join();
  CHECK(recorder.calls.size() == 2 * 500 * 4);
}

// Neither has another request behind it that would wake the device.
TEST_CASE("a caller that finds the first device taken is served, though its server leaves") {
  Manifest manifest;
  manifest.devices = {"cpu:0"};
  manifest.stages.resize(1);
  manifest.order = {0};
  Workers workers(manifest, {.slots = 2}, [](uint32_t, uint32_t) { return Status(); });
  constexpr int kRounds = 5'000;
  std::barrier together(2);
  const auto ask = [&](uint32_t slot) {
    for (int i = 0; i < kRounds; ++i) {
      together.arrive_and_wait();
      CHECK(workers.run(slot).ok());
    }
  };
  std::thread other(ask, 1);
  ask(0);
  other.join();
}

TEST_CASE("workers that sleep between stages answer, too") {
  Recorder recorder;
  Workers workers(zigzag(), {.threads_per_stage = 1000}, std::ref(recorder));
  for (int i = 0; i < 50; ++i) CHECK(workers.run(0).ok());
  CHECK(recorder.calls.size() == 200);
}

TEST_CASE("a request that waits for another device does not hold up the ones behind it") {
  // Stage 1 of the first request ends only when stage 0 of the second has run on the other device.
  std::atomic<bool> second_began = false, overlapped = false;
  Workers workers(zigzag(), {.slots = 2}, [&](uint32_t slot, uint32_t stage) {
    if (slot == 1 && stage == 0) second_began = true, second_began.notify_all();
    if (slot == 0 && stage == 1) {
      second_began.wait(false);
      overlapped = true;
    }
    return Status();
  });
  workers.submit(0);
  workers.submit(1);
  CHECK(workers.wait(0).ok());
  CHECK(workers.wait(1).ok());
  CHECK(overlapped);
}

TEST_CASE("a stage that fails ends its request and no other") {
  std::atomic<int> ran = 0;
  Workers workers(zigzag(), {.slots = 2}, [&](uint32_t slot, uint32_t stage) {
    ++ran;
    return slot == 0 && stage == 1 ? Status::internal("stage 1 is broken") : Status();
  });
  workers.submit(0);
  workers.submit(1);
  CHECK(workers.wait(0).message() == "stage 1 is broken");
  CHECK(workers.wait(1).ok());
  CHECK(ran == 6);  // 2 of the first, 4 of the second
  workers.submit(1);
  CHECK(workers.wait(1).ok());
}

TEST_CASE("a device that is held to a share of the time takes longer by its rest") {
  WorkerOptions options;
  options.share = {1, 0.25};
  const auto busy = [](uint32_t, uint32_t) {
    const double until = now_us() + 2000;
    while (now_us() < until) {
    }
    return Status();
  };
  Workers workers(zigzag(), options, busy);
  workers.submit(0);
  CHECK(workers.wait(0).ok());
  CHECK(workers.times(0)[1].end_us - workers.times(0)[1].start_us >= 8000);
}

TEST_CASE("what a run says of stages: medians, and how fast a cut was handed over") {
  const Manifest manifest = zigzag();
  LatencyRuns runs;
  // Stage 2 starts 5 after stage 1 ended.
  runs.stages = {{{0, 10}, {12, 20}, {25, 30}, {31, 40}}, {{0, 20}, {22, 30}, {35, 40}, {41, 50}}};
  const auto summary = summarize_stages(runs, 4);
  CHECK(summary[0].time_us == 15);
  CHECK(summary[3].start_us == 36);
  const auto handover = handover_us(manifest, runs);
  CHECK(handover[0] == -1);
  CHECK(handover[1] == 2);
  CHECK(handover[2] == 5);
  CHECK(handover[3] == 1);
  CHECK(wait_us(runs, 0, 3) == 21);
}

TEST_CASE("what a manifest predicts says how fast a cut is handed over, too") {
  Manifest manifest = zigzag();
  CHECK(handover_us(manifest, predicted_run(manifest)) == std::vector<double>(4, -1));
  manifest.predicted_makespan_us = 40;
  const double start_us[] = {0, 12, 25, 31}, us[] = {10, 8, 5, 9};
  for (size_t s = 0; s < 4; ++s) {
    manifest.stages[s].predicted_start_us = start_us[s];
    manifest.stages[s].predicted_us = us[s];
  }
  CHECK(handover_us(manifest, predicted_run(manifest)) == std::vector<double>{-1, 2, 5, 1});
  CHECK(wait_us(predicted_run(manifest), 0, 2) == 15);
}

}  // namespace
}  // namespace placeto
