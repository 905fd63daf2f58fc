#include "tools/tune/hand_out.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/format/file.h"
#include "tools/io/json_text.h"
#include "tools/io/write.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// All of it on one device; if that is another, nothing was predicted of it.
void run_on(uint32_t device, Runnable& plan) {
  const Assignment all(plan.placement.assignment.size(), device);
  if (plan.placement.assignment == all) return;
  plan.placement.assignment = all;
  plan.placement.makespan_us = 0;
  plan.placement.peak_memory_bytes.clear();
  plan.predicted = {};
}

// The placement of the winner, with what is predicted of it now.
Runnable plan_of(const HandOut& what) {
  Runnable plan;
  plan.placement = what.measured.placement;
  plan.predicted = what.measured.predicted;
  plan.placement.makespan_us = plan.predicted.makespan_us;
  const Contender::Way way = what.winner.info.way;
  if (way == Contender::Way::kEngine || way == Contender::Way::kThreads) {
    plan.predicted = {};  // which was of one thread
    plan.placement.makespan_us = 0;
  }
  if (way != Contender::Way::kPlaced) run_on(static_cast<uint32_t>(what.winner.device), plan);
  return plan;
}

// The model as the engine optimised it, and the stages cut from it.
Status copy_files(const ProfiledModel& model, const std::string& stages, const TuneOptions& options,
                  const NewDirectory& target) {
  std::error_code error;
  std::vector<fs::path> files{model.file};
  if (fs::exists(model.weights, error)) files.emplace_back(model.weights);
  fs::directory_iterator stage(stages, error);
  for (; !error && stage != fs::directory_iterator(); stage.increment(error)) {
    files.push_back(stage->path());
  }
  if (error) return Status::io(stages + ": " + error.message());
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    fs::copy_file(file, target.file(name), error);
    if (error) {
      return Status::io(options.directory + "/" + name + ": cannot write: " + error.message());
    }
  }
  return {};
}

// The graph and the machine that the placement is predicted with.
Status write_problem(const HandOut& what, const NewDirectory& target) {
  GraphSpec graph = what.model.spec;
  if (!what.measured.costs.empty()) set_costs(graph, what.measured.costs);
  if (Status s = write_graph(target.file("graph.bin"), graph); !s.ok()) return s;
  return write_topology(target.file("machine.json"), what.machine);
}

Json report_of(const HandOut& what, const TuneOptions& options) {
  const TuneResult& result = what.result;
  Json report{{"format_version", 1},         {"model", options.model},
              {"engine", engine_version()},  {"chosen", described(what.winner.info)},
              {"why", result.why},           {"rounds", result.rounds},
              {"whole_us", result.whole_us}, {"notes", result.notes},
              {"providers", Json::object()}, {"contenders", Json::array()}};
  const std::vector<DeviceSpec>& devices = what.machine.devices;
  for (size_t d = 0; d < devices.size(); ++d) {
    report["providers"][devices[d].name] = options.providers[d];
  }
  if (what.winner.info.way != Contender::Way::kPlaced) {
    report["providers"][devices[what.winner.device].name] = what.winner.provider;
  }
  for (const Contender& info : result.contenders) report["contenders"].push_back(described(info));
  return report;
}

}  // namespace

Status hand_out(const HandOut& what, const TuneOptions& options, const std::string& scratch,
                NewDirectory& target) {
  Runnable plan = plan_of(what);
  plan.directory = scratch + "/final";
  const auto graph = Graph::build(what.model.spec);
  if (!graph.ok()) return graph.status();
  if (Status s = write_stages(what.model, *graph, plan); !s.ok()) return s;
  if (Status s = copy_files(what.model, plan.directory, options, target); !s.ok()) return s;
  if (Status s = write_placement(target.file("placement.json"), plan.placement); !s.ok()) return s;
  if (Status s = write_problem(what, target); !s.ok()) return s;
  const std::string report = json_text(report_of(what, options), 1) + "\n";
  if (Status s = write_file_atomically(target.file("tune.json"), report); !s.ok()) return s;
  return target.commit();
}

}  // namespace placeto
