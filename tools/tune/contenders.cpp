#include "tools/tune/contenders.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "runtime/base/no_index.h"
#include "tools/costs/statistics.h"
#include "tools/engine/model_inputs.h"
#include "tools/export/onnx_export.h"

namespace placeto {
namespace {

constexpr uint32_t kWarmUpTurns = 1;
constexpr uint32_t kRunsInTurn = 3;

// Of the processor, over that which it had when the model was profiled. A device beside it does not
// say.
double speed_of(const StagedModel& whole, double profiled_us, double us) {
  return whole.runs_apart(0) ? 1 : profiled_us / us;
}

// Two runs of a turn do not count: since the last turn, others have had the caches and the cores.
Status run_latency(Runnable& contender, StagedModel& whole, double whole_us, bool counts) {
  const auto runs = measure_latency(contender.replicas[0]->workers(), &whole, kRunsInTurn, 2);
  if (!runs.ok()) return runs.status();
  if (!counts) return {};
  const StagedModel& model = contender.replicas[0]->model();
  contender.stage_us.resize(runs->stages[0].size());
  for (uint32_t r = 0; r < kRunsInTurn; ++r) {
    const double speed = speed_of(whole, whole_us, runs->whole_us[r]);
    const double apart = share_apart(model, runs->stages[r]);
    contender.times.push_back(runs->latency_us[r]);
    contender.ratios.push_back(runs->latency_us[r] * std::lerp(speed, 1.0, apart) / whole_us);
    for (uint32_t s = 0; s < contender.stage_us.size(); ++s) {
      const StageTimes& times = runs->stages[r][s];
      const double us = times.end_us - times.start_us;
      contender.stage_us[s].push_back(model.runs_apart(s) ? us : us * speed);
    }
  }
  return {};
}

Status run_stream(Runnable& contender, StagedModel& whole, double whole_us, bool counts) {
  std::vector<Workers*> workers;
  for (const auto& runner : contender.replicas) workers.push_back(&runner->workers());
  const uint32_t in_flight = static_cast<uint32_t>(workers.size()) * workers[0]->slots();
  const uint32_t requests =
      counts ? requests_of_batch(in_flight, whole_us, contender.request_us) : 3 * in_flight;
  const auto runs = measure_stream(workers, &whole, 1, requests);
  if (!runs.ok()) return runs.status();
  contender.request_us = runs->request_us[0];
  if (!counts) return {};
  const StagedModel& model = contender.replicas[0]->model();
  const auto& order = model.manifest().order;
  const bool apart =
      std::all_of(order.begin(), order.end(), [&](uint32_t s) { return model.runs_apart(s); });
  contender.times.push_back(runs->request_us[0]);
  const double speed = apart ? 1 : speed_of(whole, whole_us, runs->whole_us[0]);
  contender.ratios.push_back(runs->request_us[0] * speed / whole_us);
  return {};
}

}  // namespace

Status open_contender(const TuneOptions& options, Runnable& contender) {
  SessionSettings settings;
  settings.threads = contender.info.threads;
  settings.dims = options.dims;
  WorkerOptions workers;
  const bool placed = contender.info.way == Contender::Way::kPlaced;
  if (options.objective == Objective::kThroughput) {
    settings.slots = busy_slots(contender.info.devices, contender.info.replicas);
  }
  for (uint32_t i = 0; i < contender.info.replicas; ++i) {
    std::string folder;
    auto manifest = manifest_of(contender.directory, folder);
    if (!manifest.ok()) return manifest.status();
    if (placed) {
      settings.providers = options.providers;
      workers.share = options.share;
    } else {
      settings.providers = {contender.provider};
    }
    auto runner = Runner::open(*manifest, folder, settings, workers);
    if (!runner.ok()) return runner.status();
    if (Status s = fill_model_inputs((*runner)->model(), options.inputs); !s.ok()) return s;
    // Only the model as it came has these.
    if (Status s = fill_set_inputs((*runner)->model(), options.set); !s.ok()) return s;
    if (Status s = (*runner)->start(); !s.ok()) return s;
    contender.replicas.push_back(*std::move(runner));
  }
  contender.manifest = contender.replicas.front()->manifest();
  return {};
}

Status run_contenders(const TuneOptions& options, std::span<Runnable* const> contenders,
                      StagedModel& whole, double whole_us, uint32_t runs) {
  for (Runnable* contender : contenders) {
    if (contender->replicas.empty()) {
      if (options.stopped()) return Status::stopped();
      if (Status s = open_contender(options, *contender); !s.ok()) return s;
    }
    contender->ratios.clear();
    contender->times.clear();
    contender->stage_us.clear();
  }
  const bool latency = options.objective == Objective::kLatency;
  const uint32_t turns = kWarmUpTurns + (latency ? (runs + kRunsInTurn - 1) / kRunsInTurn : runs);
  for (uint32_t i = 0; i < turns; ++i) {
    const bool counts = i >= kWarmUpTurns;
    for (Runnable* contender : contenders) {
      if (options.stopped()) return Status::stopped();
      wait_until_quiet();
      if (Status s = wake_devices(contender->replicas[0]->model()); !s.ok()) {
        return s.at(contender->info.name);
      }
      const Status s = latency ? run_latency(*contender, whole, whole_us, counts)
                               : run_stream(*contender, whole, whole_us, counts);
      if (!s.ok()) return s.at(contender->info.name);
    }
  }
  for (Runnable* contender : contenders) {
    contender->info.measured_us = median(contender->times);
    contender->info.over_whole = median(contender->ratios);
  }
  return {};
}

void close_slow(std::span<const std::unique_ptr<Runnable>> contenders) {
  constexpr size_t kOpen = 3;
  std::vector<Runnable*> order;
  for (const auto& contender : contenders) order.push_back(contender.get());
  std::stable_sort(order.begin(), order.end(), [](const Runnable* a, const Runnable* b) {
    return a->info.over_whole < b->info.over_whole;
  });
  for (size_t i = kOpen; i < order.size(); ++i) order[i]->replicas.clear();
}

Result<std::vector<StageObservation>> observations_of(const Topology& topology, const Graph& graph,
                                                      const Runnable& contender) {
  std::map<std::string_view, uint32_t> node;
  for (uint32_t v = 0; v < graph.node_count(); ++v) node.emplace(graph.node(v).name, v);
  const Manifest& manifest = contender.manifest;
  std::vector<StageObservation> observations;
  for (size_t s = 0; s < manifest.stages.size() && s < contender.stage_us.size(); ++s) {
    const auto nodes = model_nodes(contender.directory + "/" + manifest.stages[s].file);
    if (!nodes.ok()) return nodes.status();
    StageObservation seen;
    double predicted_nodes_us = 0;
    uint32_t stage = kNoIndex, device = 0;
    for (const ModelNode& of_stage : *nodes) {
      const auto it = node.find(of_stage.name);
      if (it == node.end()) continue;
      seen.nodes.push_back(it->second);
      stage = contender.predicted.stage_of[it->second];
      device = contender.placement.assignment[it->second];
      predicted_nodes_us +=
          contender.predicted.finish_us[it->second] - contender.predicted.start_us[it->second];
    }
    if (stage == kNoIndex) continue;
    const StageSlice& slice = contender.predicted.stages[stage];
    const DeviceSpec& spec = topology.device(device);
    const auto kinds = graph.kinds();
    seen.kind =
        static_cast<uint32_t>(std::find(kinds.begin(), kinds.end(), spec.kind) - kinds.begin());
    seen.prices_us = std::max(0.0, slice.end_us - slice.start_us - predicted_nodes_us);
    seen.measured_us = median(contender.stage_us[s]) / spec.slowdown;
    observations.push_back(std::move(seen));
  }
  return observations;
}

Status write_stages(const ProfiledModel& model, const Graph& graph, Runnable& contender) {
  auto placed = placed_graph(contender.placement, graph);
  if (!placed.ok()) return placed.status();
  Prediction& prediction = placed->prediction;
  prediction.makespan_us = contender.predicted.makespan_us;
  if (model.reference == "cpu") prediction.whole_us = model.whole_us;
  for (const StageSlice& stage : contender.predicted.stages) {
    prediction.start_us.push_back(stage.start_us);
    prediction.us.push_back(stage.end_us - stage.start_us);
  }
  placed->set = model.set;
  ModelSettings settings;
  settings.dims = model.dims;
  const auto split = PlacedModel::read(model.file, *placed, settings);
  if (!split.ok()) return split.status();
  const auto written = split->write_stages(contender.directory, std::nullopt);
  if (!written.ok()) return written.status();
  std::set<std::string> devices;
  for (const auto& stage : written->stages) devices.insert(stage.device);
  contender.info.stages = static_cast<uint32_t>(written->stages.size());
  contender.info.devices = static_cast<uint32_t>(devices.size());
  return {};
}

}  // namespace placeto
