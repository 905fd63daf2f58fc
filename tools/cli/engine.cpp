#include "tools/cli/engine.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/cli/by_device.h"
#include "tools/cli/common.h"
#include "tools/cli/foreign_model.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/topologies.h"

namespace placeto::cli {

void add_engine(Command& command, EngineOptions& options) {
  command
      .option(
          "--engine", "ENGINE", options.name,
          "Place for that engine: its execution, its prices, what it can run (a name or a file)")
      .proposes(EngineDescription::names());
  add_provider(command, options.providers).only_with("--engine");
}

Option& add_recorded_engine(Command& command, std::string& name) {
  return command
      .option("--engine", "ENGINE", name,
              "As that engine executes, instead of the one that it was placed for; none: as the "
              "topology says")
      .proposes([] {
        std::vector<std::string> names = EngineDescription::names();
        names.push_back("none");
        return names;
      }());
}

std::optional<EngineDescription> find_engine(const std::string& path) {
  if (!EngineDescription::is_built_in(path)) {
    constexpr uint64_t kMostBytes = 1u << 24;
    const auto bytes = read_file(input_path(path), kMostBytes);
    if (!bytes.ok()) return std::nullopt;  // who reads it as something else says so
    const std::string_view text = as_text(*bytes);
    if (!EngineDescription::is_description(text)) return std::nullopt;
    return require(EngineDescription::parse(text, path));
  }
  return require(EngineDescription::load(path));
}

Engine::Engine(const EngineOptions& options) : providers_(options.providers) {
  if (options.name.empty()) return;
  const bool built_in = EngineDescription::is_built_in(options.name);
  const std::string file = built_in ? options.name : input_path(options.name);
  Result<EngineDescription> description = EngineDescription::load(file);
  std::error_code error;
  if (!description.ok() && !std::filesystem::exists(options.name, error)) {
    const std::string close = suggestion(options.name, EngineDescription::names());
    if (!close.empty()) {
      throw Failure(kBadInputFile, options.name + ": no such file, and no built-in engine" + close);
    }
  }
  if (!description.ok()) refuse_own_file(file, "the description of an engine");
  description_ = require(std::move(description));
  choice_.tolerance = description_->tolerance();
}

Topology Engine::load(const std::string& path) const {
  Topology topology = load_topology(path);
  if (!description_) return topology;
  TopologySpec spec = topology.spec();
  description_->change(spec);
  Result<Topology> changed = Topology::build(std::move(spec));
  if (!changed.ok()) require(changed.status().at(path));
  return std::move(*changed);
}

void Engine::restrict(const Graph& graph, const Topology& topology, Rules& rules) {
  if (!description_) return;
  const Status fits = description_->restrict(graph, topology, providers_, rules, choice_.notes);
  if (!fits.ok()) require(fits.at("--provider"));
}

Failure Engine::with_notes(const Failure& failure) const {
  std::string text = failure.what();
  for (const std::string& note : choice_.notes.lacked) text += "; " + note;
  return {failure.status, text, failure.word};
}

}  // namespace placeto::cli
