#include "tools/tune/profile_model.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "tools/costs/measured.h"
#include "tools/costs/profile.h"
#include "tools/costs/statistics.h"
#include "tools/engine/measure_run.h"
#include "tools/engine/model_inputs.h"
#include "tools/engine/written_files.h"
#include "tools/export/onnx_export.h"
#include "tools/onnx/import.h"
#include "tools/tune/spread_whole.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kProfileRuns = 15;

struct KindOfDevice {
  std::string kind, device, provider;
  DeviceSpec prices;
};

// `profile`: prefix of the engine's record; "": none.
Result<std::unique_ptr<StagedModel>> open_whole(const std::string& file, const TuneOptions& options,
                                                const KindOfDevice& kind, uint32_t threads,
                                                const std::string& profile = "") {
  SessionSettings settings;
  settings.providers = {kind.provider};
  settings.threads = threads;
  settings.dims = options.dims;
  settings.profile_prefix = profile;
  const fs::path path(file);
  auto model = StagedModel::open(whole_model(path.filename().string(), kind.device),
                                 path.parent_path().string(), settings);
  if (!model.ok()) return model.status();
  if (Status s = fill_model_inputs(**model, options.inputs); !s.ok()) return s;
  if (Status s = (*model)->prepare(); !s.ok()) return s;
  return model;
}

Result<double> median_run(StagedModel& model, const TuneOptions& options) {
  if (Status s = wake_devices(model); !s.ok()) return s;
  std::vector<double> times;
  for (uint32_t i = 0; i < kProfileRuns; ++i) {
    if (options.stopped()) return Status::stopped();
    const auto time = time_stage(model, 0);
    if (!time.ok()) return time.status();
    times.push_back(*time);
  }
  return median(std::move(times));
}

// Devices of one kind run by unlike providers are unlike, but times are by kind.
std::vector<KindOfDevice> kinds_of(const Topology& topology, const TuneOptions& options) {
  std::vector<KindOfDevice> kinds;
  for (uint32_t d = 0; d < topology.device_count(); ++d) {
    const DeviceSpec& device = topology.device(d);
    const auto same = [&](const KindOfDevice& k) { return k.kind == device.kind; };
    if (std::any_of(kinds.begin(), kinds.end(), same)) continue;
    kinds.push_back({device.kind, device.name, options.providers[d], device});
  }
  return kinds;
}

// Shares of the time by what there is to do. Providers that run beside the host leave no more of
// their nodes in a profile than the launches, and all of the time in the copy that waits for them.
KindCosts costs_from_work(const Graph& graph, const std::string& kind) {
  constexpr double kFlopsPerByte = 10, kLaunchBytes = 5e4;  // of common accelerators, about
  KindCosts costs{kind, {}};
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const NodeSpec& node = graph.node(v);
    if (node.fused) {
      costs.us.push_back(0);
      continue;
    }
    const auto bytes = static_cast<double>(node.bytes_accessed);
    const double work = std::max(static_cast<double>(node.flops) / kFlopsPerByte, bytes);
    costs.us.push_back(work +
                       kLaunchBytes * static_cast<double>(std::max<uint64_t>(node.launches, 1)));
  }
  return costs;
}

// What a run of all of the model takes on a device beside the processor, by the prices of stages.
WholeRun run_apart(const StagedModel& model, const ImportedGraph& imported,
                   const DeviceSpec& prices, double all_us) {
  const auto way_us = [&](double bytes) {
    const double rate = prices.cut_bytes_per_us;
    return prices.cut_us + (rate > 0 ? bytes / rate : 0);
  };
  WholeRun run{all_us, prices.stage_us, 0, {}};
  for (const TensorInfo& input : model.inputs()) {
    const uint64_t bytes = shape_bytes(input.element, input.shape);
    run.inputs_us += way_us(static_cast<double>(bytes));
  }
  std::map<std::string_view, uint32_t> maker;
  for (uint32_t v = 0; v < imported.outputs.size(); ++v) {
    for (const std::string& name : imported.outputs[v].names) maker.emplace(name, v);
  }
  for (const TensorInfo& output : model.outputs()) {
    const auto made = maker.find(output.name);
    if (made == maker.end()) continue;  // an input or a constant that is passed on
    const auto bytes = static_cast<double>(model.tensor_bytes(output.name));
    run.outputs.emplace_back(made->second, way_us(bytes));
  }
  return run;
}

// Times by a profile, scaled to runs without one: profiling leaves out what is between operators,
// and slows down what is short.
Result<KindCosts> profile_kind(const Graph& graph, const ImportedGraph& imported,
                               const KindOfDevice& kind, const TuneOptions& options,
                               const std::string& file, const std::string& folder) {
  auto plain = open_whole(file, options, kind, options.threads);
  if (!plain.ok()) return plain.status();
  auto profiled =
      open_whole(file, options, kind, options.threads, folder + "/profile_" + kind.kind);
  if (!profiled.ok()) return profiled.status();
  if (const auto ran = median_run(**profiled, options); !ran.ok()) return ran.status();
  const auto whole = median_run(**plain, options);
  if (!whole.ok()) return whole.status();
  const auto files = (*profiled)->end_profiling();
  if (!files.ok()) return files.status();
  if (Status s = check_profiles(*files); !s.ok()) return s;
  const auto profile = read_profile(files->front());
  if (!profile.ok()) return profile.status();
  Coverage coverage;
  auto costs = costs_from_profile(graph, imported.outputs, *profile, kind.kind, coverage);
  const bool only_launches = !costs.ok() && kind.provider != "cpu" && coverage.by_name > 0;
  if (only_launches) costs = costs_from_work(graph, kind.kind);
  if (!costs.ok()) return costs.status().at(file);
  for (auto& us : costs->us) us = us.value_or(0);  // of the whole model: nothing is missing
  WholeRun run{*whole, 0, 0, {}};
  if ((*plain)->runs_apart(0)) run = run_apart(**plain, imported, kind.prices, *whole);
  spread_whole(graph, std::move(run), costs->us);
  return costs;
}

// What runs are measured by, however many threads a session has.
Result<double> time_on_one_thread(const std::string& file, const KindOfDevice& kind,
                                  const TuneOptions& options) {
  const auto model = open_whole(file, options, kind, 1);
  if (!model.ok()) return model.status();
  return median_run(**model, options);
}

// The model with its inputs set: written as one stage, which takes along what it needs. Returns the
// file.
Result<std::string> write_set_model(const TuneOptions& options, const std::string& folder,
                                    std::vector<std::pair<std::string, std::string>>& set) {
  ImportOptions import;
  import.settings.dims = options.dims;
  import.settings.inputs = options.set;
  const auto imported = import_onnx(options.model, import);
  if (!imported.ok()) return imported.status();
  const auto graph = Graph::build(imported->spec);
  if (!graph.ok()) return graph.status();
  PlacementSpec placement;
  placement.devices = {"cpu:0"};
  placement.assignment.assign(graph->node_count(), 0);
  const auto placed = placed_graph(placement, *graph);
  if (!placed.ok()) return placed.status();
  const auto model = PlacedModel::read(options.model, *placed, import.settings);
  if (!model.ok()) return model.status();
  set = model->placed().set;
  const std::string directory = folder + "/set";
  const auto written = model->write_stages(directory, StageRule::kFewest, options.interrupted);
  if (!written.ok()) return written.status();
  return directory + "/" + written->stages.front().file;
}

}  // namespace

Result<ProfiledModel> profile_model(const Topology& topology, const TuneOptions& options,
                                    const std::string& folder) {
  ProfiledModel model;
  model.file = folder + "/model.onnx";
  const std::vector<KindOfDevice> kinds = kinds_of(topology, options);
  model.reference = kinds.front().provider;
  const ModelSettings settings{options.dims, options.set, {}};
  if (Status s = check_dimensions(options.model, settings); !s.ok()) return s;
  std::string source = options.model;
  if (!options.set.empty()) {
    auto written = write_set_model(options, folder, model.set);
    if (!written.ok()) return written.status();
    source = *std::move(written);
  }
  const bool on_processor =
      std::all_of(kinds.begin(), kinds.end(), [](const auto& k) { return k.provider == "cpu"; });
  if (!external_files(source).empty()) model.weights = model.file + ".data";
  const std::string beside = fs::path(model.weights).filename().string();
  const Status saved = save_optimized(source, model.file, beside, on_processor, options.dims);
  if (!saved.ok()) {
    std::vector<std::string> files{model.file};
    if (!model.weights.empty()) files.push_back(model.weights);
    return explain_saving(saved, files);
  }
  // The engine leaves those axes' names in the saved model that it was not told.
  ImportOptions import;
  import.settings.dims = options.dims;
  for (DimSetting& dim : import.settings.dims) dim.may_be_absent = true;
  model.dims = import.settings.dims;
  auto imported = import_onnx(model.file, import);
  if (!imported.ok()) return imported.status();
  const auto graph = Graph::build(imported->spec);
  if (!graph.ok()) return graph.status();
  std::vector<KindCosts> costs;
  for (const KindOfDevice& kind : kinds) {
    auto of_kind = profile_kind(*graph, *imported, kind, options, model.file, folder);
    if (!of_kind.ok()) return of_kind.status();
    costs.push_back(*std::move(of_kind));
  }
  const Result<double> whole_us = time_on_one_thread(model.file, kinds.front(), options);
  if (!whole_us.ok()) return whole_us.status();
  model.whole_us = *whole_us;
  model.spec = std::move(imported->spec);
  if (Status s = set_costs(*graph, costs, {}, model.spec); !s.ok()) return s;
  return model;
}

}  // namespace placeto
