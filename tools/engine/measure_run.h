// Requests timed: one after another, or as many in flight as there are slots. The processor of a
// shared machine changes its speed by half within minutes, so every placed run has a run of the
// whole model on one thread beside it, and what is compared is the quotient of the two.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/base/result.h"
#include "tools/engine/staged_model.h"
#include "tools/engine/workers.h"

namespace placeto {

// Time of one stage, or of the whole model, on this thread.
Result<double> time_stage(StagedModel& model, uint32_t stage);

struct LatencyRuns {
  std::vector<double> latency_us;  // per run: from the request to its last output
  std::vector<double> whole_us;    // per run: of the whole model beside it; empty without
  std::vector<std::vector<StageTimes>> stages;  // per run and stage, from the request on
};

// Hears between two runs, or batches, what share of them is done.
using OnShare = std::function<void(double)>;

// Until no thread of this process computes, 0.2 s at most.
void wait_until_quiet();

// Runs the model, slot 0, on this thread for 0.3 s, unless only the processor runs it: a GPU that
// rests lowers its clock, and what is run on it next takes several times as long.
Status wake_devices(StagedModel& model);

// `runs` after `warm_up` that do not count. `whole`: the model in one stage, or nullptr. Beside an
// engine with threads of its own a few runs come in a row, so that they find those awake, and the
// whole model waits until they sleep.
Result<LatencyRuns> measure_latency(Workers& workers, StagedModel* whole, uint32_t runs,
                                    uint32_t warm_up, const OnShare& on_share = {});

struct StreamRuns {
  std::vector<double> request_us;  // per batch: its time over its requests
  std::vector<double> whole_us;    // per batch: the same for one thread with the whole model
};

// Requests in flight in each replica that keep its devices busy: one more than devices, so that the
// next waits where one ends; of one device that is alone one.
uint32_t busy_slots(uint32_t devices, uint32_t replicas);

// As many that threads which wake up and cold caches hardly count: 10 ms of requests that take so
// long, and three for each that can be in flight. No more than a second's of what may take
// `longer_us` instead, as a request on a slow device beside a fast one; 0: nothing is known of
// that.
uint32_t requests_of_batch(uint32_t in_flight, double request_us, double longer_us = 0);

// Batches of `requests`, all slots of all replicas kept busy in turn; the whole model waits as
// above.
Result<StreamRuns> measure_stream(std::span<Workers* const> replicas, StagedModel* whole,
                                  uint32_t batches, uint32_t requests,
                                  const OnShare& on_share = {});

// Of the times of a run's stages together, what devices beside the processor took: they do not
// change their speed with it.
double share_apart(const StagedModel& model, const std::vector<StageTimes>& times);

// Medians over the runs.
struct StageSummary {
  double start_us = 0, time_us = 0;
};
std::vector<StageSummary> summarize_stages(const LatencyRuns& runs, size_t stages);

// From the end of what a stage waited for last to its start, where that came from another device
// and the stage's device had nothing else to do; median over the runs, -1 where that never was.
std::vector<double> handover_us(const Manifest& manifest, const LatencyRuns& runs);
// From the end of a stage to the start of one that reads what it made; median over the runs.
double wait_us(const LatencyRuns& runs, uint32_t from, uint32_t to);

// The one run that the manifest predicts; none if it predicts nothing.
LatencyRuns predicted_run(const Manifest& manifest);

// The quotient of every run and the one beside it; empty without whole runs.
std::vector<double> over_whole(const std::vector<double>& placed, const std::vector<double>& whole);

}  // namespace placeto
