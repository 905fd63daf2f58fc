#include "tools/cli/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "runtime/format/file.h"
#include "tools/cli/common.h"
#include "tools/io/shipped.h"

namespace placeto::cli {
namespace {

using Names = std::set<std::string>;
using Operators = std::map<std::string, Names>;  // by domain

struct Prices {
  std::vector<std::string> kinds;  // empty: every other
  double stage_us = 0, cut_us = 0, cut_bytes_per_us = 0;
};

struct Provider {
  bool runs_all = false;
  Operators operators;
};

// Reads a description; every failure names the place.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& where, const std::string& what) const {
    throw Failure(kBadInputFile, fmt::format("{}: {}: {}", path_, where, what));
  }

  const Json& object(const Json& json, const std::string& where, const Names& fields) const {
    if (!json.is_object()) fail(where, "expected an object");
    for (const auto& [key, _] : json.items()) {
      if (!fields.contains(key)) fail(where, fmt::format("unknown field '{}'", key));
    }
    return json;
  }
  std::string text(const Json& json, const char* field, const std::string& where) const {
    const auto found = json.find(field);
    if (found == json.end()) return {};
    if (!found->is_string()) fail(where + "." + field, "expected text");
    return found->get<std::string>();
  }
  double number(const Json& json, const char* field, const std::string& where) const {
    const auto found = json.find(field);
    if (found == json.end()) return 0;
    const bool valid =
        found->is_number() && found->get<double>() >= 0 && found->get<double>() < 1e15;
    if (!valid) fail(where + "." + field, "expected a number that is not negative");
    return found->get<double>();
  }
  std::vector<std::string> texts(const Json& json, const std::string& where) const {
    if (!json.is_array()) fail(where, "expected a list of names");
    std::vector<std::string> list;
    for (const Json& entry : json) {
      if (!entry.is_string()) fail(where, "expected a list of names");
      list.push_back(entry.get<std::string>());
    }
    return list;
  }
  std::vector<std::string> texts(const Json& json, const char* field,
                                 const std::string& where) const {
    const auto found = json.find(field);
    if (found == json.end()) return {};
    return texts(*found, where + "." + field);
  }
  Operators operators(const Json& json, const std::string& where) const {
    if (!json.is_object()) fail(where, "expected an object: a list of operators for each domain");
    Operators all;
    for (const auto& [domain, list] : json.items()) {
      const std::vector<std::string> names = texts(list, where + "." + domain);
      all[domain] = {names.begin(), names.end()};
    }
    return all;
  }

 private:
  std::string path_;
};

std::string description_text(const std::string& name) {
  std::string names;
  for (const shipped::File& file : shipped::engines()) {
    if (file.name == name) return {file.bytes.begin(), file.bytes.end()};
    names += (names.empty() ? "" : ", ") + std::string(file.name);
  }
  std::error_code error;
  if (!std::filesystem::exists(name, error)) {
    throw Failure(kBadInputFile,
                  name + ": no such file, and no built-in engine; there are " + names);
  }
  const auto bytes = require(read_file(name, 1u << 24));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

struct Engine::Description {
  std::string name;
  std::optional<Execution> execution;
  double tolerance = 0;
  std::vector<Prices> prices;
  std::map<std::string, Provider> providers;
  Operators operators;
  Names with_readers, with_makers;
  std::vector<std::vector<std::string>> chains;

  explicit Description(const std::string& source) {
    const Json json = Json::parse(description_text(source), nullptr, false);
    const Reader reader(source);
    if (json.is_discarded()) reader.fail("file", "expected a JSON object");
    reader.object(json, "engine",
                  {"format_version", "name", "version", "execution", "tolerance", "prices",
                   "providers", "operators", "whole"});
    if (json.value("format_version", 0) != 1) reader.fail("format_version", "expected 1");
    name = reader.text(json, "name", "engine");
    read_execution(reader, reader.text(json, "execution", "engine"));
    if (const auto found = json.find("tolerance"); found != json.end()) {
      reader.object(*found, "tolerance", {"value", "source"});
      tolerance = reader.number(*found, "value", "tolerance");
    }
    if (const auto found = json.find("prices"); found != json.end()) read_prices(reader, *found);
    if (const auto found = json.find("providers"); found != json.end()) {
      read_providers(reader, *found);
    }
    if (const auto found = json.find("operators"); found != json.end()) {
      operators = reader.operators(*found, "operators");
    }
    if (const auto found = json.find("whole"); found != json.end()) read_whole(reader, *found);
  }

  void read_execution(const Reader& reader, const std::string& text) {
    const std::map<std::string, Execution> known{{"parallel", Execution::kParallel},
                                                 {"serial", Execution::kSerial},
                                                 {"staged", Execution::kStaged}};
    if (text.empty()) return;
    const auto found = known.find(text);
    if (found == known.end()) reader.fail("execution", "expected parallel, serial, staged or \"\"");
    execution = found->second;
  }

  void read_prices(const Reader& reader, const Json& list) {
    if (!list.is_array()) reader.fail("prices", "expected a list");
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string where = fmt::format("prices[{}]", i);
      reader.object(list[i], where, {"kinds", "stage_us", "cut_us", "cut_bytes_per_us", "source"});
      prices.push_back({reader.texts(list[i], "kinds", where),
                        reader.number(list[i], "stage_us", where),
                        reader.number(list[i], "cut_us", where),
                        reader.number(list[i], "cut_bytes_per_us", where)});
    }
  }

  void read_providers(const Reader& reader, const Json& list) {
    if (!list.is_object()) reader.fail("providers", "expected an object");
    for (const auto& [key, json] : list.items()) {
      const std::string where = "providers." + key;
      reader.object(json, where, {"engine_name", "source", "note", "operators"});
      Provider& provider = providers[key];
      const auto found = json.find("operators");
      provider.runs_all = found == json.end();
      if (!provider.runs_all) {
        provider.operators = reader.operators(*found, where + ".operators");
      }
    }
  }

  void read_whole(const Reader& reader, const Json& json) {
    reader.object(json, "whole", {"source", "with_readers", "with_makers", "chains"});
    const auto readers = reader.texts(json, "with_readers", "whole");
    const auto makers = reader.texts(json, "with_makers", "whole");
    with_readers = {readers.begin(), readers.end()};
    with_makers = {makers.begin(), makers.end()};
    const auto found = json.find("chains");
    if (found == json.end()) return;
    if (!found->is_array()) reader.fail("whole.chains", "expected a list of lists");
    for (const Json& chain : *found) chains.push_back(reader.texts(chain, "whole.chains"));
  }

  // Of a graph's operator, which may name its domain: "com.microsoft:Attention".
  enum class Answer { kRuns, kLacks, kUnknown };
  Answer ask(const Provider& provider, const std::string& op) const {
    if (provider.runs_all) return Answer::kRuns;
    const size_t colon = op.rfind(':');
    const std::string type = colon == std::string::npos ? op : op.substr(colon + 1);
    for (const auto& [domain, names] : provider.operators) {
      if (names.contains(type)) return Answer::kRuns;
    }
    for (const auto& [domain, names] : operators) {
      const bool listed = provider.operators.contains(domain);
      if (listed && names.contains(type)) return Answer::kLacks;
    }
    // Known to another provider in a domain whose every operator this one lists.
    for (const auto& [_, other] : providers) {
      for (const auto& [domain, names] : other.operators) {
        if (names.contains(type) && provider.operators.contains(domain)) return Answer::kLacks;
      }
    }
    return Answer::kUnknown;
  }
};

void add_engine(Command& command, EngineOptions& options) {
  std::vector<std::string> names;
  for (const shipped::File& file : shipped::engines()) names.emplace_back(file.name);
  command
      .option(
          "--engine", "ENGINE", options.name,
          "Place for that engine: its execution, its prices, what it can run (a name or a file)")
      .proposes(names);
  command
      .list("--provider", "DEVICE=NAME", options.providers,
            "The engine's provider on a device (gpu:0=cuda) or on all of a kind (gpu=cuda)")
      .only_with("--engine");
}

Engine::Engine(const EngineOptions& options) : providers_(options.providers) {
  if (options.name.empty()) return;
  description_ = std::make_unique<Description>(options.name);
  choice_.tolerance = description_->tolerance;
}
Engine::~Engine() = default;

void Engine::change(TopologySpec& topology) {
  if (!description_) return;
  if (description_->execution) topology.execution = *description_->execution;
  for (DeviceSpec& device : topology.devices) {
    if (device.stage_us != 0 || device.cut_us != 0 || device.cut_bytes_per_us != 0) continue;
    const Prices* chosen = nullptr;
    for (const Prices& prices : description_->prices) {
      const auto& kinds = prices.kinds;
      const bool named = std::find(kinds.begin(), kinds.end(), device.kind) != kinds.end();
      if (named || (kinds.empty() && chosen == nullptr)) chosen = &prices;
      if (named) break;
    }
    if (chosen == nullptr) continue;
    device.stage_us = chosen->stage_us;
    device.cut_us = chosen->cut_us;
    device.cut_bytes_per_us = chosen->cut_bytes_per_us;
  }
}

namespace {

// "Loop (1), NonMaxSuppression (2)".
std::string counts_text(const std::map<std::string, uint32_t>& counts) {
  std::string text;
  for (const auto& [op, count] : counts) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", op, count);
  }
  return text;
}

// The provider of each device: "" where none is named.
std::vector<std::string> providers_of(const std::vector<std::string>& options,
                                      const Topology& topology) {
  std::vector<std::string> providers(topology.device_count());
  for (uint32_t d = 0; d < topology.device_count(); ++d) {
    if (topology.device(d).kind == "cpu") providers[d] = "cpu";
  }
  for (const std::string& option : options) {
    const size_t equal = option.rfind('=');
    if (equal == std::string::npos) {
      throw Failure(kBadUsage, fmt::format("--provider: '{}' is not DEVICE=NAME", option));
    }
    const std::string where = option.substr(0, equal);
    bool found = false;
    for (uint32_t d = 0; d < topology.device_count(); ++d) {
      if (topology.device(d).name != where && topology.device(d).kind != where) continue;
      providers[d] = option.substr(equal + 1);
      found = true;
    }
    if (!found) {
      throw Failure(kBadUsage,
                    fmt::format("--provider: the topology has no device or kind '{}'", where));
    }
  }
  return providers;
}

void keep_together(uint32_t node, uint32_t other, Rules& rules) {
  rules.colocate.push_back({node, other});
}

// The only reader of all that the node makes; nothing if there are several or none.
std::optional<uint32_t> only_reader(const Graph& graph, uint32_t node) {
  std::optional<uint32_t> reader;
  for (const OutEdge& e : graph.out_edges(node)) {
    if (reader && *reader != e.target) return std::nullopt;
    reader = e.target;
  }
  return reader;
}

}  // namespace

void Engine::restrict(const Graph& graph, const Topology& topology, Rules& rules) {
  if (!description_) return;
  const Description& engine = *description_;
  const std::vector<std::string> providers = providers_of(providers_, topology);
  std::map<std::string, std::map<std::string, uint32_t>> lacked, unknown;
  for (uint32_t d = 0; d < topology.device_count(); ++d) {
    if (providers[d].empty()) continue;
    const auto provider = engine.providers.find(providers[d]);
    if (provider == engine.providers.end()) {
      if (providers[d] == "cpu") continue;
      std::string names;
      for (const auto& [name, _] : engine.providers) names += (names.empty() ? "" : ", ") + name;
      throw Failure(kBadUsage,
                    fmt::format("--provider: engine '{}' has no provider '{}'; it has {}",
                                engine.name, providers[d], names.empty() ? "none" : names));
    }
    const std::string where = providers[d] + " on " + topology.device(d).name;
    for (uint32_t v = 0; v < graph.node_count(); ++v) {
      const std::string& op = graph.node(v).op;
      const auto answer = engine.ask(provider->second, op);
      if (answer == Description::Answer::kLacks) {
        rules.forbids.push_back({v, d});
        ++lacked[where][op];
      } else if (answer == Description::Answer::kUnknown) {
        ++unknown[where][op.empty() ? "(no operator named)" : op];
      }
    }
  }
  for (const auto& [where, counts] : lacked) {
    choice_.notes.push_back(where + " lacks " + counts_text(counts) + ": not placed there");
  }
  for (const auto& [where, counts] : unknown) {
    choice_.notes.push_back("whether " + where + " runs " + counts_text(counts) +
                            " is not known: allowed");
  }
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const std::string& op = graph.node(v).op;
    // One that several operators read is not kept with all of them: through such tensors whole
    // networks would hang together. What makes a weight is copied to all that read it.
    const bool of_weight = graph.in_edges(v).empty();
    if (engine.with_readers.contains(op) && (of_weight || only_reader(graph, v))) {
      for (const OutEdge& e : graph.out_edges(v)) keep_together(v, e.target, rules);
    }
    if (engine.with_makers.contains(op)) {
      for (const InEdge& e : graph.in_edges(v)) keep_together(v, e.source, rules);
    }
    for (const std::vector<std::string>& chain : engine.chains) {
      uint32_t last = v;
      for (size_t i = 0; i + 1 < chain.size() && graph.node(last).op == chain[i]; ++i) {
        const auto reader = only_reader(graph, last);
        if (!reader || graph.node(*reader).op != chain[i + 1]) break;
        keep_together(last, *reader, rules);
        last = *reader;
      }
    }
  }
}

}  // namespace placeto::cli
