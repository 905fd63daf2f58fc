// placeto export: a placement in the words of the engine that is to run it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "runtime/cost/evaluator.h"
#include "runtime/graph/text.h"
#include "runtime/heuristics/heuristics.h"
#include "tools/cli/by_device.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/foreign_model.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/outcome.h"
#include "tools/cli/problem_input.h"
#include "tools/cli/recorded.h"
#include "tools/cli/times.h"
#include "tools/export/dot.h"
#include "tools/export/engine_devices.h"
#include "tools/export/module_names.h"
#include "tools/export/neutral.h"
#include "tools/export/onnx_export.h"
#include "tools/io/interruption.h"
#include "tools/io/read.h"
#include "tools/io/shipped.h"

namespace placeto::cli {
namespace {

constexpr const char* kExportFooter = R"(Examples:
  placeto export placement.json --model net.onnx --split stages
  placeto export placement.json --model net.onnx --format ort-annotations -o annotated.onnx
  placeto export placement.json --model net.onnx --format ort-names --engine-device gpu:0=cuda
  placeto export placement.json --graph net.graph --format dot -o net.dot

Formats:
{}
--split writes one model per stage, the weights it reads included, and manifest.json with the
tensors that pass between stages and the order of execution.)";

constexpr const char* kAnnotationOption = "session.layer_assignment_settings";
constexpr const char* kNameOption = "session.name_based_layer_assignment";

struct ExportOptions {
  Common common;
  std::string placement, graph, model, format, out, split;
  std::string topology, engine, stages = "recorded";
  std::vector<std::string> engine_devices;
  ModelOptions import;
};

struct Job {
  const ExportOptions& options;
  PlacementSpec placement;
  std::string model;                    // path; "" if there is none
  ModelOptions import = {};             // for the graph, with what the placement records
  std::vector<std::string> names = {};  // per device, that the engine has for it; "": none is given
};

const std::string& need_model(const Job& job, const std::string& what) {
  if (job.model.empty()) throw Failure(kBadUsage, what + " needs the model: --model MODEL.onnx");
  return job.model;
}

// A placement that divides what the graph keeps on one device is written all the same, and that is
// said: as simulate, which runs it and says that it is not feasible.
void note_divided(const std::string& path, const Placed& placed, const Graph& graph) {
  std::map<std::string_view, uint32_t> first;  // node of each set
  const auto where = [&](uint32_t v) {
    return fmt::format("node {} {} on {}", v, in_quotes(placed.nodes[v].name),
                       in_quotes(placed.devices[placed.nodes[v].device]));
  };
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const std::string& set = graph.node(v).colocate;
    if (set.empty()) continue;
    const uint32_t other = first.emplace(set, v).first->second;
    if (placed.nodes[v].device == placed.nodes[other].device) continue;
    return note(fmt::format("{} divides what {} keeps together: {}, {}", path,
                            in_quotes(graph.name()), where(other), where(v)));
  }
}

Placed named_by(const Job& job, const Graph& graph) {
  Result<Placed> placed = placed_graph(job.placement, graph);
  if (!placed.ok()) require(placed.status().at(job.options.placement));
  note_divided(job.options.placement, *placed, graph);
  return *std::move(placed);
}

// By the graph's names; by the model's if there is no graph file.
Placed resolve(const Job& job) {
  const ExportOptions& options = job.options;
  if (!options.graph.empty() && !is_onnx_input(options.graph)) {
    return named_by(job, load_graph(options.graph, job.import));
  }
  if (job.model.empty()) {
    throw Failure(kBadUsage, "what was placed is missing: --graph GRAPH or --model MODEL.onnx");
  }
  return require(
      placed_model(job.model, job.placement, model_settings(options.import), options.placement));
}

PlacedModel read_model(const Job& job, const std::string& what, const Placed& placed) {
  const std::string& path = need_model(job, what);
  return require(PlacedModel::read(path, placed, model_settings(job.options.import)));
}

// Text to OUT, or to standard output.
void deliver(const ExportOptions& options, const std::string& text) {
  if (options.out.empty()) {
    print(text.ends_with('\n') ? text : text + "\n");
    return;
  }
  if (options.common.json) print_json({{"format", options.format}, {"file", options.out}});
  write_text(options.out, text);
}

// What the caller has to tell the engine. `model`: the annotated copy, or "" for the original.
void report_option(const ExportOptions& options, const char* option, const std::string& value,
                   const std::string& model, const std::string& note_text) {
  if (options.common.json) {
    Json object{{"format", options.format}, {"option", option}, {"value", value}};
    if (!model.empty()) object["model"] = model;
    if (!note_text.empty()) object["note"] = note_text;
    print_json(object);
    return;
  }
  if (!note_text.empty()) note(note_text);
  print(fmt::format("{}={}\n", option, value));
}

void export_annotations(const Job& job, const Placed& placed, const std::string& why) {
  const ExportOptions& options = job.options;
  PlacedModel model = read_model(job, options.format, placed);
  const auto engine = require(engine_devices(placed, job.names));
  AnnotatedModel copy = require(model.annotated(options.out, engine), kInternalError);
  report_option(options, kAnnotationOption, copy.setting, options.out, why);
  write_text(options.out, std::move(copy.bytes));
}

void export_names(const Job& job) {
  const ExportOptions& options = job.options;
  const Placed placed = resolve(job);
  const auto engine = require(engine_devices(placed, job.names));
  const PlacedModel model = read_model(job, options.format, placed);
  const Result<std::string> value = model.name_rules(engine);
  if (value.ok()) {
    if (options.out.empty()) return report_option(options, kNameOption, *value, "", "");
    throw Failure(kBadUsage, "-o " + options.out +
                                 ": no annotated copy is needed, as names of nodes tell the engine "
                                 "all of it: leave it out");
  }
  const std::string why = fmt::format("no name-based assignment: {}", value.status().message());
  if (options.out.empty()) {
    throw Failure(kBadUsage, why + "; with -o MODEL.onnx an annotated copy is written instead");
  }
  export_annotations(job, placed, why + "; wrote an annotated copy to " + options.out);
}

// Runs the placement on the topology: what is predicted is what is written.
Prediction predict(Job& job) {
  const ExportOptions& options = job.options;
  const std::string& path = options.graph.empty() ? job.model : options.graph;
  const Graph graph = load_graph(path, job.import);
  const Topology topology =
      engine_of(job.placement, options.placement, options.engine).load(options.topology);
  check_cost_kinds(options.import.costs, graph, {&topology});
  note_times(path, graph, options.topology, topology);
  const Problem problem = build_problem(path, graph, options.topology, topology);
  const Assignment assignment =
      assignment_of(job.placement, options.placement, graph, path, topology);
  check_runnable(problem, assignment);
  const auto division = resolve_stages(job.placement, graph, assignment);
  if (!division.ok()) require(division.status().at(options.placement));
  Simulator simulator(problem);
  const Timeline& timeline = simulator.run(assignment, *division);
  Prediction prediction;
  if (timeline.stages.empty()) {
    throw Failure(kBadUsage,
                  options.topology +
                      ": execution is not 'staged', so it predicts no stages; with --engine "
                      "onnxruntime it is");
  }
  note_unlike_recorded(job.placement, options.placement, graph, options.engine, options.import,
                       timeline.makespan_us);
  job.placement.stages = timeline.stage_of;
  job.placement.order = timeline.stage_order;
  prediction.makespan_us = timeline.makespan_us;
  for (const StageSlice& stage : timeline.stages) {
    prediction.start_us.push_back(stage.start_us);
    prediction.us.push_back(stage.end_us - stage.start_us);
  }
  Evaluator evaluator(problem);
  for (const Candidate& candidate : place_on_each_device(problem, evaluator)) {
    const auto device = only_device(candidate.assignment);
    if (!device || topology.device(*device).kind != "cpu" || !candidate.score.feasible()) continue;
    prediction.whole_us = candidate.score.objective_us;
    break;
  }
  return prediction;
}

void export_split(Job& job) {
  const ExportOptions& options = job.options;
  Prediction prediction;
  if (!options.topology.empty()) {
    prediction = predict(job);
  }
  Placed placed = resolve(job);
  placed.prediction = std::move(prediction);
  const std::vector<bool> used = used_devices(placed);
  if (std::count(used.begin(), used.end(), true) > 1 && options.stages == "recorded" &&
      job.placement.stages.empty()) {
    note(options.placement +
         " records no stages: they are as few as possible; --topology forms those that simulate "
         "predicts, with --engine where the topology's execution is not 'staged'");
  }
  const PlacedModel model = read_model(job, "--split", placed);
  std::optional<StageRule> rule;
  if (options.stages == "crossings") rule = StageRule::kCrossings;
  if (options.stages == "overlap") rule = StageRule::kOverlap;
  if (options.stages == "fewest") rule = StageRule::kFewest;
  const Interruption interruption;
  const auto written = model.write_stages(options.split, rule, interruption.flag());
  Interruption::obey();
  const SplitSummary summary = require(written, kInternalError);
  if (options.common.json) {
    Json stages = Json::array();
    for (const auto& stage : summary.stages) {
      stages.push_back({{"file", stage.file},
                        {"device", stage.device},
                        {"nodes", stage.nodes},
                        {"inputs", stage.inputs},
                        {"outputs", stage.outputs}});
    }
    print_json({{"directory", options.split},
                {"manifest", "manifest.json"},
                {"unused_nodes", summary.unused_nodes},
                {"stages", stages}});
    return;
  }
  Table table({{"stage"},
               {"device"},
               {"nodes", Align::kRight},
               {"in", Align::kRight},
               {"out", Align::kRight}});
  for (const auto& stage : summary.stages) {
    table.add_row({stage.file, stage.device, format_count(stage.nodes), format_count(stage.inputs),
                   format_count(stage.outputs)});
  }
  print(table.render());
  if (summary.unused_nodes > 0) {
    print(fmt::format("left out: {} that no output depends on\n",
                      plural(summary.unused_nodes, "node")));
  }
}

void export_neutral(const Job& job) {
  deliver(job.options, require(neutral_json(resolve(job))));
}

Graph need_graph(const Job& job) {
  const ExportOptions& options = job.options;
  const std::string& path = options.graph.empty() ? job.model : options.graph;
  if (path.empty()) throw Failure(kBadUsage, options.format + " needs the graph: --graph GRAPH");
  return load_graph(path, job.import);
}

void export_dot(const Job& job) {
  const Graph graph = need_graph(job);
  deliver(job.options, to_dot(named_by(job, graph), graph));
}

void export_llama(const Job& job) {
  deliver(job.options, require(llama_override_tensor(named_by(job, need_graph(job)), job.names)));
}

void export_device_map(const Job& job) {
  deliver(job.options, require(hf_device_map(named_by(job, need_graph(job)), job.names)));
}

struct Format {
  std::string_view name, meaning;
  void (*write)(const Job& job);
  enum class Output { kJson, kText, kModel } output;  // kModel takes -o
  bool takes_names = true;                            // of the engine's devices
};

const Format kFormats[] = {
    {"json", "names of nodes and devices", export_neutral, Format::Output::kJson, false},
    {"ort-annotations",
     "a copy of the model with layer_ann on each node, and the ONNX Runtime session option that "
     "goes with it",
     [](const Job& job) { export_annotations(job, resolve(job), ""); }, Format::Output::kModel},
    {"ort-names",
     "the session option that assigns by node names, checked against the engine's rules; an "
     "annotated copy if no such string exists",
     export_names, Format::Output::kJson},
    {"dot", "Graphviz", export_dot, Format::Output::kText, false},
    {"llama-override-tensor", "the option of llama.cpp", export_llama, Format::Output::kText},
    {"hf-device-map", "device_map of Hugging Face Accelerate", export_device_map,
     Format::Output::kJson},
};

const Format& format_of(const ExportOptions& options) {
  return *std::find_if(std::begin(kFormats), std::end(kFormats),
                       [&](const Format& format) { return format.name == options.format; });
}

void check_format(const ExportOptions& options) {
  const Format::Output output = format_of(options).output;
  if (options.common.json && output == Format::Output::kText && options.out.empty()) {
    throw Failure(kBadUsage, "--json: standard output is taken, by " + options.format +
                                 "; -o FILE puts that elsewhere");
  }
  if (output == Format::Output::kModel && options.out.empty()) {
    throw Failure(kBadUsage, options.format +
                                 " needs -o MODEL.onnx for the annotated copy, or -o - for "
                                 "standard output");
  }
}

void check_usage(const ExportOptions& options) {
  if (options.format.empty() == options.split.empty()) {
    throw Failure(kBadUsage, options.format.empty() ? "--format or --split is missing"
                                                    : "--format and --split exclude each other");
  }
  if (!options.split.empty() && !options.out.empty()) {
    throw Failure(kBadUsage, "--split names its own directory and takes no -o");
  }
  if (options.split == "-") throw Failure(kBadUsage, "--split -: expected a new directory");
  if (!options.topology.empty() && options.stages != "recorded") {
    throw Failure(kBadUsage,
                  "--stages " + options.stages + " forms other stages than --topology predicts");
  }
  if (options.import.costs.any() && options.topology.empty()) {
    throw Failure(
        kBadUsage,
        "--profile, --costs and --efficiencies tell what is predicted: with --topology only");
  }
  const bool has_names = !options.format.empty() && format_of(options).takes_names;
  if (!options.engine_devices.empty() && !has_names) {
    throw Failure(kBadUsage,
                  "--engine-device: " + (options.format.empty() ? "--split" : options.format) +
                      " has no names of the engine's");
  }
  if (!options.format.empty()) check_format(options);
  check_outputs({options.out});
}

void run_export(const ExportOptions& options) {
  check_usage(options);
  Job job{options, require(read_placement(options.placement)), options.model, options.import};
  take_up_dims(job.placement, options.placement, job.import);
  for (const std::string& path : {options.model, options.graph}) {
    if (!path.empty()) refuse_foreign_model(input_path(path));
  }
  if (job.model.empty() && is_onnx_input(options.graph)) job.model = options.graph;
  if (!job.model.empty()) job.model = input_path(job.model);
  if (!job.model.empty()) note_model(job.model);
  job.names = by_device({job.placement.devices}, options.engine_devices, "--engine-device");
  if (!options.split.empty()) return export_split(job);
  format_of(options).write(job);
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::string footer() {
  std::string formats;
  for (const Format& format : kFormats) {
    formats += fmt::format("  {:<26}{}\n", format.name, format.meaning);
  }
  return fmt::format(kExportFooter, formats);
}

}  // namespace

void add_export(Program& program) {
  Command& command = program.add("export", "Hand a placement to an inference engine");
  auto options = std::make_shared<ExportOptions>();
  command.argument("PLACEMENT", options->placement, "Placement file").required();
  command.option("-g,--graph", "FILE", options->graph,
                 "What was placed: a graph file or an ONNX model");
  command.option("--model", "FILE", options->model,
                 "The ONNX model that the graph was imported from");
  command.option("-f,--format", "FORMAT", options->format, "What to write").one_of(format_names());
  command
      .option("-o,--output", "FILE", options->out, "File to write; standard output if absent or -")
      .writes();
  command.option("--split", "DIR", options->split, "New directory for one model per stage")
      .writes();
  command
      .option("-t,--topology", "TOPOLOGY", options->topology,
              "Record in the manifest what is predicted on it: a file, or name of a built-in one")
      .proposes(shipped::topology_names())
      .only_with("--split");
  add_recorded_engine(command, options->engine).only_with("--topology");
  command
      .option("--stages", "recorded|fewest|overlap|crossings", options->stages,
              "As recorded in the placement (fewest if it has none), as few as possible, cut so "
              "that devices can overlap, or by changes of the device: fewer, that wait for little")
      .one_of({"recorded", "fewest", "overlap", "crossings"})
      .only_with("--split");
  command.list("--engine-device", "DEVICE=NAME", options->engine_devices,
               "The engine's name of a device (gpu:0=cuda) or of all of a kind (gpu=dml); may be "
               "repeated");
  add_common(command, options->common);
  add_model_options(command, options->import);
  command.footer(footer());
  command.action([options] { run_export(*options); });
}

}  // namespace placeto::cli
