// What `placeto run` measured, in its three forms: for people, for machines, as a page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/common.h"
#include "tools/engine/compare_outputs.h"
#include "tools/engine/measure_run.h"
#include "tools/engine/runner.h"
#include "tools/report/run_page.h"

namespace placeto::cli {

// Ratios of times, of `run` and of `tune`.
inline constexpr const char* kRatiosAre =
    "are medians of pairs: a run, and the whole model right beside it";

// A tensor that passes from one stage to another.
struct Cut {
  std::string name;
  uint32_t from, to;
  uint64_t bytes;
};
std::vector<Cut> cuts_of(Runner& runner);

struct RunOutcome {
  std::string plan;       // as the caller gave it
  std::string directory;  // of the stages
  Manifest manifest;
  std::vector<DimSetting> dims;
  std::vector<std::string> providers;  // of its devices
  std::string chosen;                  // by tune, which wrote the directory; "" if it did not
  uint32_t threads = 1;                // of each session; 0: as many as the engine likes
  uint32_t replicas = 1;               // that share the stream
  uint32_t slots = 1;                  // of each replica
  uint64_t runs = 0;                   // of single requests
  bool bound_memory = false;           // all that stages hand on has memory that was taken once
  LatencyRuns latency;                 // without whole runs if there was no whole model
  StreamRuns stream;                   // empty: none was wanted
  std::vector<Cut> cuts;
  // What deviates the most from the whole model's outputs; none: not compared.
  std::optional<OutputDeviation> deviation;
  bool rounds_to_steps = false;  // the whole model does (import.h)
  std::vector<std::string> profiles;
};

// What is wrong with the outputs; "" if nothing is.
std::string deviation_problem(const RunOutcome& outcome);

Json json_of_run(const RunOutcome& outcome);
std::string text_of_run(const RunOutcome& outcome);
RunReport report_of_run(const RunOutcome& outcome);

}  // namespace placeto::cli
