// The loop from a model to the fastest way to run it that was measured.
//
// 1. Inputs that are set become constants, and the branches that they decide part of the graph.
//    Then the engine saves the model as it optimises it: parts of it are not optimised across
//    cuts. Where not all devices are run by the processor, only as far as every provider can run
//    the result.
// 2. It is profiled for each kind of device, and the profile scaled to a run without profiling.
// 3. It is placed, nothing where its provider has no kernel for it (models/engines); the best few
//    placements, and one device of each kind, are divided into stages and written.
// 4. All of them run in turns, each beside a run of the whole model, and so do the ways that need
//    no placement: more threads, replicas (for a stream), the engine as it comes, on the processor
//    and with each other provider.
// 5. What stages took goes into the cost model (feedback.h), and 3 and 4 are done again until a
//    round brings no placement that has not been measured, or prediction and measurement agree.
// 6. The best and one device run again, more often. What is handed out is the fastest *measured*,
//    the simplest among equals; so it is never worse than one device or the engine alone. What
//    gives other outputs than the model as it came is not handed out, unless everything does.
//
// What is predicted of a placed contender in the end is what the cost model makes of the times that
// its own stages took.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/cost/problem.h"
#include "runtime/policy/file/policy.h"
#include "tools/engine/compare_outputs.h"
#include "tools/engine/model_inputs.h"

namespace placeto {

struct TuneOptions {
  std::string model;      // ONNX file
  std::string directory;  // new: what is handed out
  std::vector<DimSetting> dims;
  std::vector<InputSetting> set;  // inputs that are none of what is handed out
  std::vector<GivenInput> inputs;
  std::vector<std::string> providers;  // per device: cpu, cuda, ...
  std::vector<double> share;           // per device, to stand for slower ones; empty: 1
  Objective objective = Objective::kLatency;
  const Policy* policy = nullptr;
  uint32_t threads = 1;  // of each session of a placed model
  uint32_t finalists = 4, rounds = 3, runs = 15;
  uint64_t evaluations = 1000;
  double tolerance = 0.02;       // measurements this close are equal, and the simpler wins
  double output_tolerance = -1;  // of outputs (compare_outputs.h); negative: by their elements
  std::function<void(const std::string&)> progress = {};
  const std::atomic<bool>* interrupted = nullptr;  // once set: kStopped, and nothing is left

  bool stopped() const { return interrupted != nullptr && *interrupted; }
};

// One way to run the model, and what was measured of it.
struct Contender {
  enum class Way : uint8_t { kPlaced, kThreads, kReplicas, kEngine };
  Way way = Way::kPlaced;
  // "one device", where there are unlike ones "one device (gpu:0)", "3 stages on 2 devices
  // (search)"
  std::string name;
  uint32_t stages = 1, devices = 1, threads = 1, replicas = 1;
  double predicted_us = 0;  // 0: the cost model has no word for it
  double measured_us = 0;   // median: of a request, or per request of a stream
  // Median quotient with the whole model beside it; of what devices beside the processor take, with
  // the whole model as it was profiled, as they do not slow down with the processor. Of all where
  // the whole model runs on such a device.
  double over_whole = 0;
  // |predicted - measured| over measured, both over the whole model.
  double error() const;
  double predicted_over_whole = 0;
  // Which output deviates the most from those of the model as it came; none: not compared, as texts
  // and sequences are not.
  std::optional<OutputDeviation> output = {};
  bool deviates() const { return output && output->exceeded(); }
};

struct TuneResult {
  std::vector<Contender> contenders;  // in the order in which they came up
  size_t chosen = 0;
  uint32_t rounds = 0;
  double whole_us = 0;             // median of the whole model, on one thread of the first device
  std::vector<std::string> notes;  // what providers lack, and what is not known of them
  std::string why;                 // one sentence
};

// Writes the directory: manifest.json and the stages (of one stage if no division won), model.onnx,
// placement.json, the graph with measured run times and the machine that it is predicted with
// (graph.bin, machine.json), tune.json (tools/engine/tuned_choice.h reads it). Fails as placing,
// exporting and running do; nothing is left then.
Result<TuneResult> tune(const Topology& topology, const TuneOptions& options);

// As tune.json has it.
nlohmann::ordered_json described(const Contender& info);

// The contender to hand out: the fastest; of those within the tolerance of it the one with the
// fewest stages, devices, replicas and threads, and of those the faster.
size_t choose(const std::vector<Contender>& contenders, double tolerance);
// What won and over what; where another was faster, by which rule it did not win. `reference`: the
// provider of the whole model that ran beside them.
std::string explain_choice(const std::vector<Contender>& contenders, size_t chosen,
                           double tolerance, const std::string& reference);
// "on one thread", "on one thread with webgpu": how that ran.
std::string words_of(const std::string& reference);

}  // namespace placeto
