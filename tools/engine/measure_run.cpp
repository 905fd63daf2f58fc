#include "tools/engine/measure_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "runtime/base/no_index.h"
#include "tools/costs/statistics.h"

namespace placeto {
namespace {

// A slot of a replica: where one request can be in flight.
struct Lane {
  Workers* workers;
  uint32_t slot;
};

std::vector<Lane> lanes_of(std::span<Workers* const> replicas) {
  std::vector<Lane> lanes;
  uint32_t most = 0;
  for (const Workers* workers : replicas) most = std::max(most, workers->slots());
  for (uint32_t slot = 0; slot < most; ++slot) {
    for (Workers* workers : replicas) {
      if (slot < workers->slots()) lanes.push_back({workers, slot});
    }
  }
  return lanes;
}

// From now until all of them are done, with as many in flight as there are lanes. With one lane on
// this thread: handing a request over takes longer than small models do.
Status stream(const std::vector<Lane>& lanes, size_t requests) {
  for (size_t r = 0; lanes.size() == 1 && r < requests; ++r) {
    if (Status s = lanes[0].workers->run(0); !s.ok()) return s;
  }
  if (lanes.size() == 1) return {};
  for (size_t r = 0; r < requests + lanes.size(); ++r) {
    const Lane& lane = lanes[r % lanes.size()];
    if (r >= lanes.size() && r - lanes.size() < requests) {
      if (Status s = lane.workers->wait(lane.slot); !s.ok()) return s;
    }
    if (r < requests) lane.workers->submit(lane.slot);
  }
  return {};
}

Status run_in_row(Workers& workers, uint32_t runs, LatencyRuns& result) {
  for (uint32_t i = 0; i < runs; ++i) {
    if (Status s = workers.run(0); !s.ok()) return s;
    std::vector<StageTimes> times = workers.times(0);
    const double begin = workers.submitted_us(0);
    for (StageTimes& stage : times) {
      stage.start_us -= begin;
      stage.end_us -= begin;
    }
    result.latency_us.push_back(workers.finished_us(0) - begin);
    result.stages.push_back(std::move(times));
  }
  return {};
}

template <class T>
void drop_first(std::vector<T>& items, size_t count) {
  items.erase(items.begin(), items.begin() + static_cast<ptrdiff_t>(std::min(count, items.size())));
}

}  // namespace

// The engine's own threads spin on for up to 40 ms after a run, and would take a core from what is
// measured next.
void wait_until_quiet() {
  using std::chrono::milliseconds;
  constexpr milliseconds kLook{2};
  constexpr int kLooksAtMost = 100;
  constexpr int kQuietLooks = 3;  // one may fall into a pause of a virtual machine
  constexpr double kQuietShare = 0.05;
  int quiet = 0;
  for (int look = 0; look < kLooksAtMost && quiet < kQuietLooks; ++look) {
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(kLook);
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    const bool rests = seconds < kQuietShare * std::chrono::duration<double>(kLook).count();
    quiet = rests ? quiet + 1 : 0;
  }
}

Status wake_devices(StagedModel& model) {
  constexpr double kAwakeUs = 300e3;
  const std::vector<uint32_t>& order = model.manifest().order;
  if (std::none_of(order.begin(), order.end(), [&](uint32_t s) { return model.runs_apart(s); })) {
    return {};
  }
  for (const double until = now_us() + kAwakeUs; now_us() < until;) {
    for (const uint32_t stage : order) {
      if (Status s = model.run_stage(0, stage); !s.ok()) return s;
    }
  }
  return {};
}

Result<double> time_stage(StagedModel& model, uint32_t stage) {
  const double begin = now_us();
  if (Status s = model.run_stage(0, stage); !s.ok()) return s;
  return now_us() - begin;
}

Result<LatencyRuns> measure_latency(Workers& workers, StagedModel* whole, uint32_t runs,
                                    uint32_t warm_up, const OnShare& on_share) {
  constexpr uint32_t kInARow = 5;
  const uint32_t in_a_row = workers.alone() ? 1 : kInARow;
  const uint32_t all = runs + warm_up;
  LatencyRuns result;
  for (uint32_t done = 0; done < all;) {
    if (on_share) on_share(static_cast<double>(done) / all);
    const uint32_t next = std::min(in_a_row, all - done);
    if (Status s = run_in_row(workers, next, result); !s.ok()) return s;
    done += next;
    if (whole == nullptr) continue;
    if (!workers.alone()) wait_until_quiet();
    for (uint32_t i = 0; i < next; ++i) {
      const Result<double> time = time_stage(*whole, 0);
      if (!time.ok()) return time.status();
      result.whole_us.push_back(*time);
    }
  }
  drop_first(result.latency_us, warm_up);
  drop_first(result.whole_us, warm_up);
  drop_first(result.stages, warm_up);
  return result;
}

uint32_t busy_slots(uint32_t devices, uint32_t replicas) {
  return devices <= 1 && replicas == 1 ? 1 : devices + 1;
}

uint32_t requests_of_batch(uint32_t in_flight, double request_us, double longer_us) {
  constexpr double kBatchUs = 10'000, kLongestUs = 1e6, kMost = 1'000;
  double enough = request_us > 0 ? std::min(kMost, std::ceil(kBatchUs / request_us)) : 0;
  if (longer_us > 0) enough = std::min(enough, std::ceil(kLongestUs / longer_us));
  return std::max(3 * in_flight, static_cast<uint32_t>(enough));
}

Result<StreamRuns> measure_stream(std::span<Workers* const> replicas, StagedModel* whole,
                                  uint32_t batches, uint32_t requests, const OnShare& on_share) {
  StreamRuns result;
  const std::vector<Lane> lanes = lanes_of(replicas);
  const bool alone = std::all_of(replicas.begin(), replicas.end(),
                                 [](const Workers* workers) { return workers->alone(); });
  for (uint32_t i = 0; i < batches + 1; ++i) {  // the first is warm-up
    if (on_share) on_share(static_cast<double>(i) / (batches + 1));
    const double begin = now_us();
    if (Status s = stream(lanes, requests); !s.ok()) return s;
    if (i > 0) result.request_us.push_back((now_us() - begin) / requests);
    if (whole == nullptr) continue;
    if (!alone) wait_until_quiet();
    const double whole_begin = now_us();
    for (uint32_t r = 0; r < requests; ++r) {
      if (Status s = whole->run_stage(0, 0); !s.ok()) return s;
    }
    if (i > 0) result.whole_us.push_back((now_us() - whole_begin) / requests);
  }
  return result;
}

double share_apart(const StagedModel& model, const std::vector<StageTimes>& times) {
  double all = 0, apart = 0;
  for (uint32_t s = 0; s < times.size(); ++s) {
    const double us = times[s].end_us - times[s].start_us;
    all += us;
    if (model.runs_apart(s)) apart += us;
  }
  return all > 0 ? apart / all : 0;
}

std::vector<StageSummary> summarize_stages(const LatencyRuns& runs, size_t stages) {
  std::vector<StageSummary> summary(stages);
  std::vector<double> starts, times;
  for (size_t s = 0; s < stages; ++s) {
    starts.clear();
    times.clear();
    for (const auto& run : runs.stages) {
      starts.push_back(run[s].start_us);
      times.push_back(run[s].end_us - run[s].start_us);
    }
    summary[s] = {median(starts), median(times)};
  }
  return summary;
}

std::vector<double> handover_us(const Manifest& manifest, const LatencyRuns& runs) {
  std::vector<uint32_t> previous(manifest.stages.size(), kNoIndex);  // on the same device
  std::vector<uint32_t> last(manifest.devices.size(), kNoIndex);
  for (const uint32_t s : manifest.order) {
    previous[s] = std::exchange(last[manifest.stages[s].device], s);
  }
  std::vector<double> result(manifest.stages.size(), -1);
  for (size_t s = 0; s < manifest.stages.size(); ++s) {
    const ManifestStage& stage = manifest.stages[s];
    std::vector<double> gaps;
    for (const auto& run : runs.stages) {
      double arrival = -1, idle = previous[s] == kNoIndex ? 0 : run[previous[s]].end_us;
      for (const uint32_t needed : stage.after) {
        double& bound = manifest.stages[needed].device == stage.device ? idle : arrival;
        bound = std::max(bound, run[needed].end_us);
      }
      if (arrival > idle) gaps.push_back(run[s].start_us - arrival);
    }
    if (!gaps.empty()) result[s] = median(gaps);
  }
  return result;
}

double wait_us(const LatencyRuns& runs, uint32_t from, uint32_t to) {
  std::vector<double> waits;
  for (const auto& run : runs.stages) waits.push_back(run[to].start_us - run[from].end_us);
  return median(std::move(waits));
}

LatencyRuns predicted_run(const Manifest& manifest) {
  LatencyRuns predicted;
  if (!(manifest.predicted_makespan_us > 0)) return predicted;
  predicted.latency_us = {manifest.predicted_makespan_us};
  predicted.stages.emplace_back();
  for (const ManifestStage& stage : manifest.stages) {
    const double start = stage.predicted_start_us;
    predicted.stages[0].push_back({start, start + stage.predicted_us});
  }
  return predicted;
}

std::vector<double> over_whole(const std::vector<double>& placed,
                               const std::vector<double>& whole) {
  std::vector<double> ratios;
  for (size_t i = 0; i < placed.size() && i < whole.size(); ++i) {
    ratios.push_back(placed[i] / whole[i]);
  }
  return ratios;
}

}  // namespace placeto
