// Contenders: opened, run in turns, asked what their stages took, and written down. Private to this
// folder.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cost/simulator.h"
#include "runtime/format/placement.h"
#include "tools/engine/measure_run.h"
#include "tools/engine/runner.h"
#include "tools/tune/feedback.h"
#include "tools/tune/profile_model.h"
#include "tools/tune/tune.h"

namespace placeto {

// A contender with all that is needed to run it. One that has run keeps what its stages took.
struct Runnable {
  Contender info;
  PlacementSpec placement;                 // of a placed one
  std::string directory;                   // of its stages
  size_t device = 0;                       // of one that is not placed: all of it runs there
  std::string provider = "";               // of that device, of one that is not placed
  Timeline predicted;                      // of a placed one
  std::vector<std::vector<double>> costs;  // run times by kind and node that make it; empty: those
                                           // of the profiled model
  std::vector<std::unique_ptr<Runner>> replicas;  // none: closed
  Manifest manifest;                              // of them
  double request_us = 0;                          // of a stream, in a short batch: about
  std::vector<double> ratios, times;              // of all runs that counted
  std::vector<std::vector<double>> stage_us;      // per stage and run, at the speed of the profile
};

// Opens the sessions of a contender whose directory and info are set.
Status open_contender(const TuneOptions& options, Runnable& contender);

// Runs all of them in turns, so that what disturbs one disturbs all; `whole` beside each run. Opens
// those that are closed, and forgets what they measured before.
Status run_contenders(const TuneOptions& options, std::span<Runnable* const> contenders,
                      StagedModel& whole, double whole_us, uint32_t runs);

// Leaves the fastest of those that have run open. Every contender holds its weights, on its
// devices, too.
void close_slow(std::span<const std::unique_ptr<Runnable>> contenders);

// What its stages teach (feedback.h). Stages of the manifest are told by the nodes in their files.
Result<std::vector<StageObservation>> observations_of(const Topology& topology, const Graph& graph,
                                                      const Runnable& contender);

// Writes the placement's stages, with what is predicted of them, into the contender's directory,
// which must not be there; says in `info` how many there are.
Status write_stages(const ProfiledModel& model, const Graph& graph, Runnable& contender);

}  // namespace placeto
