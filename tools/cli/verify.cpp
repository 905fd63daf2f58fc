// placeto verify: a plan against the engine's record of a run; or the signature of a policy.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>

#include "runtime/base/no_index.h"
#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/cli/by_device.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/signed_policy.h"
#include "tools/devices/providers.h"
#include "tools/engine/manifest_reader.h"
#include "tools/engine/verify.h"
#include "tools/export/onnx_export.h"
#include "tools/io/bounded_json.h"
#include "tools/io/read.h"

namespace placeto::cli {
namespace {

constexpr const char* kVerifyExamples = R"(Examples:
  placeto verify placement.json profile.json --model net.onnx
  placeto verify names.json profile.json --provider gpu:0=cuda
  placeto verify net.stages profile_stage_0_*.json profile_stage_1_*.json
  placeto verify policy.plpo --public-key release.pub

A plan is a placement (with --model or --graph, for the names of its nodes), what export --format
json printed, or a split model. A record is a profile of ONNX Runtime, of a split model one for each
stage. Exit status 1: the engine ran a node on another provider than the one its device stands for,
and the list says which, or no record has a node of a stage. A device stands for the provider that
--provider names, else for those of its kind. The engine gives what it fuses names of its own: only
--model, or a split model, tells what these are; without it the check fails if there are any.)";

struct VerifyOptions {
  Common common;
  std::string plan, graph, model, public_key, signature, name;
  std::vector<std::string> records, providers;
  ModelOptions import;
};

struct Plan {
  std::vector<PlannedNode> nodes;
  std::vector<std::string> devices;
  bool is_split = false;  // each stage is a model, and has a record of its own
};

// Options that would do nothing.
void refuse_unused(const VerifyOptions& options, const std::string& plan) {
  const bool any = !options.model.empty() || !options.graph.empty() || options.import.any();
  if (any) {
    throw Failure(kBadUsage, options.plan + ": is " + plan +
                                 ", so it takes no --model, --graph, --dim, --set or --shape");
  }
}

Plan named(const Placed& placed) {
  Plan plan{{}, placed.devices};
  for (const PlacedNode& node : placed.nodes) {
    const bool staged = node.stage != kNoIndex;
    plan.nodes.push_back({node.name, placed.devices[node.device], node.op,
                          staged ? fmt::format("stage {}", node.stage) : "", node.outputs});
  }
  return plan;
}

// The file as a tree, which a placement may be too large for.
Result<Json> tree_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return Json();
  const auto bytes = require(read_file(path, Limits{}.max_file_bytes));
  return parse_bounded<Json>(as_text(bytes), 10'000'000);
}

// What `export --format json` wrote.
bool is_names(const Json& tree) {
  return tree.is_object() && tree.contains("nodes") && tree["nodes"].is_object();
}

Plan read_names(const Json& tree, const std::string& path) {
  Plan plan;
  if (const auto devices = tree.find("devices"); devices != tree.end() && devices->is_object()) {
    for (const auto& device : devices->items()) plan.devices.push_back(device.key());
  }
  for (const auto& [name, device] : tree["nodes"].items()) {
    if (!device.is_string()) {
      throw Failure(kBadInputFile, path + ": nodes." + name + ": expected the name of a device");
    }
    plan.nodes.push_back({name, device.get<std::string>()});
    plan.devices.push_back(plan.nodes.back().device);
  }
  return plan;
}

Plan read_split(const std::string& path) {
  std::string directory;
  const Manifest manifest = require(read_manifest(path, directory));
  Plan plan{{}, manifest.devices, true};
  for (const ManifestStage& stage : manifest.stages) {
    const std::string file = directory + "/" + stage.file;
    for (ModelNode& node : require(model_nodes(file))) {
      // What reads nothing may be folded as a whole.
      plan.nodes.push_back({std::move(node.name), manifest.devices[stage.device], "",
                            stage.inputs.empty() ? "" : stage.file, std::move(node.outputs)});
    }
  }
  return plan;
}

Plan read_plan(const VerifyOptions& options) {
  std::error_code error;
  const bool is_manifest_name =
      std::filesystem::path(options.plan).filename() == "manifest.json";  // also a broken one
  if (is_manifest_name || std::filesystem::is_directory(options.plan, error)) {
    refuse_unused(options, "a split model");
    return read_split(options.plan);
  }
  const std::string file = input_path(options.plan);
  Result<Json> tree = tree_of(file);
  if (tree.ok() && is_names(*tree)) {
    refuse_unused(options, "names of nodes");
    return read_names(*tree, options.plan);
  }
  if (tree.ok() && is_manifest(file)) {
    refuse_unused(options, "a split model");
    if (file == options.plan) return read_split(options.plan);
    fail_without_stages();
  }
  const Status unread = tree.ok() ? Status() : tree.status();
  tree = Json();
  Result<PlacementSpec> read = read_placement(file);
  if (!read.ok() && !unread.ok() && holds_json(file)) require(unread.at(options.plan));
  const PlacementSpec placement = require(std::move(read));
  const bool is_model = !options.graph.empty() && is_onnx_input(options.graph);
  if (const std::string& model = is_model ? options.graph : options.model; !model.empty()) {
    const auto placed = placed_model(input_path(model), placement, model_settings(options.import));
    return named(require(placed));
  }
  if (options.graph.empty()) {
    throw Failure(kBadUsage, options.plan +
                                 ": a placement has no names of nodes: --model "
                                 "MODEL.onnx or --graph GRAPH");
  }
  const Graph graph = load_graph(options.graph, options.import);
  const auto placed = placed_graph(placement, graph);
  if (!placed.ok()) require(placed.status().at(options.plan));
  return named(*placed);
}

void print_json_report(const Verification& result, const std::string& failure) {
  Json differences = Json::array();
  for (const Difference& d : result.differences) {
    differences.push_back(
        {{"node", d.node}, {"op", d.op}, {"device", d.device}, {"provider", d.provider}});
  }
  Json report{{"as_planned", result.as_planned}, {"compiled", result.compiled},
              {"not_seen", result.not_seen},     {"by_engine", result.by_engine},
              {"unknown", result.unknown},       {"differences", std::move(differences)},
              {"not_run", result.not_run}};
  if (!failure.empty()) {  // as of every failure
    report["error"] = failure;
    report["status"] = "not as planned";
    report["exit_status"] = int{kNoFeasiblePlacement};
  }
  print_json(report);
}

void print_text_report(const Verification& result) {
  std::string text;
  if (!result.differences.empty()) {
    Table table({{"node"}, {"operator"}, {"planned on"}, {"ran on"}});
    for (const Difference& d : result.differences) {
      table.add_row({d.node, d.op, d.device, d.provider});
    }
    text = table.render() + "\n";
  }
  text += fmt::format("{} ran as planned, {} did not", plural(result.as_planned, "node"),
                      format_count(result.differences.size()));
  if (result.compiled > 0) {
    text += fmt::format("; {} compiled of several", plural(result.compiled, "node"));
  }
  if (result.not_seen > 0) {
    text += fmt::format("; {} not in the record: fused or folded", format_count(result.not_seen));
  }
  if (result.by_engine > 0) {
    text += fmt::format("; {} of the engine's own", format_count(result.by_engine));
  }
  if (result.unknown > 0) text += fmt::format("; {} unknown", format_count(result.unknown));
  if (!result.not_run.empty()) {
    text += fmt::format("; {} not run", plural(result.not_run.size(), "stage"));
  }
  print(text + "\n");
}

// "2 nodes did not run as planned; 1 stage not run: ..."; "" if all is as planned.
std::string failure_of(const Verification& result) {
  constexpr size_t kShown = 20;
  std::string text, stages;
  if (!result.differences.empty()) {
    text = fmt::format("{} did not run as planned", plural(result.differences.size(), "node"));
  }
  if (result.unknown > 0) {
    text += fmt::format(
        "{}{} that ran {} a name of the engine's, which gives what it fuses others: --model "
        "MODEL.onnx beside a placement tells which of its nodes these are",
        text.empty() ? "" : "; ", plural(result.unknown, "node"),
        result.unknown == 1 ? "has" : "have");
  }
  if (result.not_run.empty()) return text;
  for (size_t i = 0; i < std::min(kShown, result.not_run.size()); ++i) {
    stages += (i > 0 ? ", " : "") + result.not_run[i];
  }
  if (result.not_run.size() > kShown) {
    stages += fmt::format(" and {} more", format_count(result.not_run.size() - kShown));
  }
  return fmt::format("{}{} not run: no record has a node of {}", text.empty() ? "" : text + "; ",
                     plural(result.not_run.size(), "stage"), stages);
}

// Whether some provider may be meant: a name of one, also one that we do not know but that has the
// engine's ending, or of the devices that one runs ("gpu").
bool may_be_provider(const std::string& name) {
  const auto serves = [&](const Provider& p) { return provider_serves(p.listed, name); };
  return name.ends_with("ExecutionProvider") || std::ranges::any_of(providers(), serves);
}

// By device of the plan, as far as they are given.
std::map<std::string, std::string> providers_of(const VerifyOptions& options, const Plan& plan) {
  const auto values = by_device({plan.devices}, options.providers, "--provider");
  std::map<std::string, std::string> providers;
  for (size_t d = 0; d < values.size(); ++d) {
    if (values[d].empty()) continue;
    if (!may_be_provider(values[d])) {
      throw Failure(kBadUsage, fmt::format("--provider: there is no provider {}; there are {}",
                                           in_quotes(values[d]), provider_names()));
    }
    providers[plan.devices[d]] = values[d];
  }
  return providers;
}

void verify_record(const VerifyOptions& options) {
  const Plan plan = read_plan(options);
  const auto providers = providers_of(options, plan);
  std::vector<Profile> records;
  ProfileLimits limits;
  limits.may_lack_nodes = true;
  std::set<std::string> read;
  for (const std::string& file : options.records) {
    const std::string path = input_path(file);
    std::error_code error;
    const bool fresh = read.insert(std::filesystem::weakly_canonical(path, error).string()).second;
    if (fresh) records.push_back(require(read_profile(path, limits)));
  }
  const Verification result = require(verify_run(plan.nodes, records, providers, plan.is_split));
  if (result.as_planned == 0 && result.differences.empty()) {
    throw Failure(kBadInputFile, options.records.front() + ": names no node of " + options.plan +
                                     "; expected a record of a run of that plan");
  }
  const std::string failure = failure_of(result);
  if (options.common.json) {
    print_json_report(result, failure);
  } else {
    print_text_report(result);
  }
  if (failure.empty()) return;
  print_due();
  throw Failure(kNoFeasiblePlacement, failure);
}

void run_verify(const VerifyOptions& options) {
  if (!options.public_key.empty()) {
    if (!options.records.empty()) throw Failure(kBadUsage, "--public-key takes one policy");
    refuse_unused(options, "a policy");
    if (!options.providers.empty()) throw Failure(kBadUsage, "--public-key takes no --provider");
    return verify_signature(options.plan, options.name, options.public_key, options.signature,
                            options.common.json);
  }
  if (options.records.empty()) {
    throw Failure(kBadUsage,
                  "verify: expected the record of a run after the plan, or "
                  "--public-key FILE for the signature of a policy");
  }
  verify_record(options);
}

}  // namespace

#ifndef PLACETO_HAVE_SODIUM
void verify_signature(const std::string&, const std::string&, const std::string&,
                      const std::string&, bool) {
  throw Failure(kBadUsage,
                "this placeto was built without libsodium and checks no signatures "
                "(Debian: libsodium-dev)");
}
#endif

void add_verify(Program& program) {
  Command& command =
      program.add("verify", "Check where a plan really ran, or the signature of a policy");
  auto options = std::make_shared<VerifyOptions>();
  command.argument("PLAN", options->plan, "Placement, names, split model; or policy file")
      .required();
  command.arguments("RECORD", options->records, "Profiles that the engine wrote");
  command.option("--model", "MODEL", options->model, "The ONNX model that was placed");
  command.option("-g,--graph", "GRAPH", options->graph, "The graph that was placed");
  add_provider(command, options->providers);
  add_model_settings(command, options->import);
  command.option("-k,--public-key", "FILE", options->public_key,
                 "Public key of who signed a policy");
  command.option("--signature", "FILE", options->signature, "Signature, POLICY.sig if not given")
      .only_with("--public-key");
  command
      .option("--name", "NAME", options->name,
              "Name under which a policy was signed, that of the file if not given")
      .proposes_words({})
      .only_with("--public-key");
  add_common(command, options->common);
  command.footer(kVerifyExamples);
  command.action([options] { run_verify(*options); });
}

}  // namespace placeto::cli
