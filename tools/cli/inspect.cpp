// placeto inspect: what is in a file, whatever its kind.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/policy/guide.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/engine.h"
#include "tools/cli/foreign_model.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/inspect_kinds.h"
#include "tools/cli/inspect_model.h"
#include "tools/cli/methods.h"
#include "tools/cli/topologies.h"
#include "tools/io/read.h"
#include "tools/io/shipped.h"

namespace placeto::cli {
namespace {

using cli::describe;  // of every kind, beside those of files that are compiled as one with this
using cli::summarize;

constexpr const char* kInspectExamples = R"(Examples:
  placeto inspect graph.json
  placeto inspect topology.json
  placeto inspect placement.plpl --json
  placeto inspect policy.plpo
  placeto inspect default
  placeto inspect onnxruntime
  placeto inspect model.onnx --dim batch=1

The kind of file is told by its content.)";

struct InspectOptions {
  Common common;
  ModelOptions model;
  std::string file;
};

template <class T>
void show(const T& value, const Common& common) {
  if (common.json) {
    print_json(describe(value));
  } else {
    print(summarize(value));
  }
}

// Whether it names the policy that ships, and no file.
bool is_shipped_policy(const std::string& name) {
  std::error_code error;
  return name == kDefaultPolicy && !std::filesystem::exists(name, error);
}

void show_shipped_policy(const Common& common) {
  const auto policy = load_policy(kDefaultPolicy);
  if (policy) return show(*policy, common);
  throw Failure(kBadInputFile, "default: this placeto was built without a policy");
}

void run_inspect(const InspectOptions& options) {
  if (shipped::is_topology(options.file)) return show(load_topology(options.file), options.common);
  if (is_shipped_policy(options.file)) return show_shipped_policy(options.common);
  const std::string close = close_topology(options.file);
  if (!close.empty()) {
    throw Failure(kBadInputFile, options.file + ": no such file, and no built-in topology" + close);
  }
  refuse_foreign_model(options.file);
  if (is_onnx_input(options.file)) {
    return inspect_model(options.file, options.model, options.common);
  }
  if (options.model.any()) {
    throw Failure(kBadUsage,
                  options.file + ": is no ONNX model, so it takes no --dim, --set or --shape");
  }
  if (const auto engine = find_engine(options.file)) return show(*engine, options.common);
  AnySpec any = load_any(options.file);
  if (auto* graph = std::get_if<GraphSpec>(&any)) {
    show(require(Graph::build(std::move(*graph))), options.common);
  } else if (auto* topology = std::get_if<TopologySpec>(&any)) {
    show(require(Topology::build(std::move(*topology))), options.common);
  } else if (auto* policy = std::get_if<PolicyFile>(&any)) {
    auto loaded = Policy::load(policy->bytes, Policy::Bytes::kView, known_features());
    show(*require(std::move(loaded)), options.common);
  } else {
    show(std::get<PlacementSpec>(any), options.common);
  }
}

std::vector<std::string> names_to_propose() {
  std::vector<std::string> names = shipped::topology_names();
  for (std::string& engine : EngineDescription::names()) names.push_back(std::move(engine));
  names.emplace_back(kDefaultPolicy);
  return names;
}

}  // namespace

void add_inspect(Program& program) {
  Command& command = program.add(
      "inspect", "Show what a graph, model, topology, placement, policy or engine holds");
  auto options = std::make_shared<InspectOptions>();
  command
      .argument("FILE", options->file,
                "File to read, or name of a built-in topology or engine; 'default': the policy "
                "that ships")
      .required()
      .proposes(names_to_propose());
  add_model_settings(command, options->model);
  add_common(command, options->common);
  command.footer(kInspectExamples);
  command.action([options] { run_inspect(*options); });
}

}  // namespace placeto::cli
