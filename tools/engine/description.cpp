#include "tools/engine/description.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/io/bounded_json.h"
#include "tools/io/element_names.h"
#include "tools/io/shipped.h"
#include "tools/io/topology_words.h"

namespace placeto {

using Json = nlohmann::ordered_json;

static const std::set<std::string> kFields = {"format_version", "name",   "version", "execution",
                                              "tolerance",      "prices", "types",   "providers",
                                              "operators",      "whole"};

// Reads a description. The first thing that is wrong is kept, with its place; what is read after
// that does not matter.
class DescriptionReader {
 public:
  Status status;

  void read(const Json& json, EngineDescription& to) {
    if (!object(json, "engine", kFields)) return;
    const auto version = json.find("format_version");
    if (version == json.end() || *version != 1) fail("format_version", "expected 1");
    to.name_ = text(json, "name", "engine");
    to.version_ = text(json, "version", "engine");
    to.execution_ = execution(text(json, "execution", "engine"));
    if (const auto found = json.find("tolerance"); found != json.end()) {
      if (object(*found, "tolerance", {"value", "source"})) {
        to.tolerance_ = number(*found, "value", "tolerance");
      }
    }
    if (const auto found = json.find("prices"); found != json.end()) prices(*found, to);
    if (const auto found = json.find("types"); found != json.end()) name_types(*found);
    if (const auto found = json.find("providers"); found != json.end()) providers(*found, to);
    if (const auto found = json.find("operators"); found != json.end()) operators(*found, to);
    if (const auto found = json.find("whole"); found != json.end()) whole(*found, to);
  }

 private:
  using Names = EngineDescription::Names;

  void fail(const std::string& where, const std::string& what) {
    if (status.ok()) status = Status::bad_input(where + ": " + what);
  }

  bool object(const Json& json, const std::string& where, const Names& fields) {
    if (!json.is_object()) return fail(where, "expected an object"), false;
    for (const auto& [key, _] : json.items()) {
      if (!fields.contains(key)) return fail(where, "unknown field '" + key + "'"), false;
    }
    return true;
  }
  std::string text(const Json& json, const char* field, const std::string& where) {
    const auto found = json.find(field);
    if (found == json.end()) return {};
    if (!found->is_string()) return fail(where + "." + field, "expected text"), "";
    return found->get<std::string>();
  }
  double number(const Json& json, const char* field, const std::string& where) {
    const auto found = json.find(field);
    if (found == json.end()) return 0;
    const bool valid =
        found->is_number() && found->get<double>() >= 0 && found->get<double>() < 1e15;
    if (valid) return found->get<double>();
    return fail(where + "." + field, "expected a number that is not negative"), 0;
  }
  std::vector<std::string> texts(const Json& json, const std::string& where) {
    std::vector<std::string> list;
    const bool valid = json.is_array() && std::all_of(json.begin(), json.end(),
                                                      [](const Json& j) { return j.is_string(); });
    if (!valid) return fail(where, "expected a list of names"), list;
    for (const Json& entry : json) list.push_back(entry.get<std::string>());
    return list;
  }
  std::vector<std::string> texts(const Json& json, const char* field, const std::string& where) {
    const auto found = json.find(field);
    if (found == json.end()) return {};
    return texts(*found, where + "." + field);
  }
  void operators(const Json& json, EngineDescription& to) {
    if (!json.is_object()) return fail("operators", "expected a list of operators per domain");
    for (const auto& [domain, list] : json.items()) {
      const std::vector<std::string> names = texts(list, "operators." + domain);
      to.operators_[domain] = {names.begin(), names.end()};
    }
  }

  // "float int64 real": types, and names that "types" has for several. "": any type.
  TypeSet types(const Json& json, const std::string& where) {
    if (!json.is_string()) return fail(where, "expected text: types with spaces between"), 0;
    std::istringstream words(json.get<std::string>());
    TypeSet types = 0;
    for (std::string word; words >> word;) {
      const auto several = types_.find(word);
      const int32_t type = element_named(word);
      if (several == types_.end() && type == 0) {
        fail(where, in_quotes(word) + " is no type of elements, and no name that 'types' has");
      }
      types |= several != types_.end() ? several->second : TypeSet{1} << type;
    }
    return types == 0 ? kAnyType : types;
  }
  void name_types(const Json& json) {
    if (!json.is_object()) return fail("types", "expected an object: names for types");
    for (const auto& [name, list] : json.items()) {
      const std::string where = "types." + name;
      if (element_named(name) != 0) return fail(where, "is itself a type of elements");
      types_[name] = types(list, where);
    }
  }

  // [7, 12], or [13]: and all that follow.
  void versions(const Json& json, const std::string& where, Kernel& kernel) {
    const auto version = [](const Json& j) {
      return j.is_number_unsigned() && j.get<uint64_t>() >= 1 && j.get<uint64_t>() <= 1'000'000;
    };
    const bool valid = json.is_array() && (json.size() == 1 || json.size() == 2) &&
                       std::all_of(json.begin(), json.end(), version) &&
                       json.front().get<uint64_t>() <= json.back().get<uint64_t>();
    if (!valid) return fail(where, "expected [FIRST, LAST] or [FIRST], versions from 1");
    kernel.first = json[0].get<uint32_t>();
    if (json.size() == 2) kernel.last = json[1].get<uint32_t>();
  }
  Kernel kernel(const Json& json, const std::string& where) {
    Kernel kernel;
    if (!object(json, where, {"opset", "types"})) return kernel;
    if (const auto found = json.find("opset"); found != json.end()) {
      versions(*found, where + ".opset", kernel);
    }
    const auto found = json.find("types");
    if (found == json.end()) return kernel;
    if (!found->is_array()) return fail(where + ".types", "expected a list, by input"), kernel;
    for (size_t i = 0; i < found->size(); ++i) {
      kernel.inputs.push_back(types((*found)[i], where + ".types[" + std::to_string(i) + "]"));
    }
    return kernel;
  }
  // Operators by name alone, or by name with their kernels.
  KernelTable table(const Json& json, const std::string& where) {
    KernelTable table;
    if (json.is_array()) {
      for (const std::string& op : texts(json, where)) table[op];
      return table;
    }
    if (!json.is_object()) {
      return fail(where, "expected a list of operators, or an object with their kernels"), table;
    }
    for (const auto& [op, list] : json.items()) {
      const std::string place = where + "." + op;
      if (!list.is_array()) return fail(place, "expected a list of kernels"), table;
      for (size_t i = 0; i < list.size(); ++i) {
        table[op].push_back(kernel(list[i], place + "[" + std::to_string(i) + "]"));
      }
      table[op];
    }
    return table;
  }
  std::map<std::string, KernelTable> tables(const Json& json, const std::string& where) {
    std::map<std::string, KernelTable> all;
    if (!json.is_object()) return fail(where, "expected an object: operators per domain"), all;
    for (const auto& [domain, list] : json.items()) all[domain] = table(list, where + "." + domain);
    return all;
  }

  std::optional<Execution> execution(const std::string& text) {
    const std::optional<Execution> named = execution_named(text);
    if (!named && !text.empty()) fail("execution", "expected " + execution_names() + " or \"\"");
    return named;
  }

  void prices(const Json& list, EngineDescription& to) {
    if (!list.is_array()) return fail("prices", "expected a list");
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string where = "prices[" + std::to_string(i) + "]";
      if (!object(list[i], where, {"kinds", "stage_us", "cut_us", "cut_bytes_per_us", "source"})) {
        return;
      }
      to.prices_.push_back({texts(list[i], "kinds", where), number(list[i], "stage_us", where),
                            number(list[i], "cut_us", where),
                            number(list[i], "cut_bytes_per_us", where)});
    }
  }

  void providers(const Json& list, EngineDescription& to) {
    if (!list.is_object()) return fail("providers", "expected an object");
    for (const auto& [key, json] : list.items()) {
      const std::string where = "providers." + key;
      if (!object(json, where, {"engine_name", "source", "note", "operators"})) return;
      EngineDescription::Provider& provider = to.providers_[key];
      const auto found = json.find("operators");
      provider.runs_all = found == json.end();
      if (!provider.runs_all) provider.operators = tables(*found, where + ".operators");
    }
  }

  void whole(const Json& json, EngineDescription& to) {
    if (!object(json, "whole", {"source", "with_readers", "with_makers", "chains"})) return;
    const auto readers = texts(json, "with_readers", "whole");
    const auto makers = texts(json, "with_makers", "whole");
    to.with_readers_ = {readers.begin(), readers.end()};
    to.with_makers_ = {makers.begin(), makers.end()};
    const auto found = json.find("chains");
    if (found == json.end()) return;
    if (!found->is_array()) return fail("whole.chains", "expected a list of lists");
    for (const Json& chain : *found) to.chains_.push_back(texts(chain, "whole.chains"));
  }

  std::map<std::string, TypeSet> types_;  // what one name stands for
};

Result<EngineDescription> EngineDescription::parse(std::string_view text, const std::string& name) {
  const Result<Json> json = parse_bounded<Json>(text, 1'000'000);
  if (!json.ok()) return json.status().at(name);
  EngineDescription description;
  DescriptionReader reader;
  reader.read(*json, description);
  if (!reader.status.ok()) return reader.status.at(name);
  return description;
}

bool EngineDescription::is_description(std::string_view text) {
  const Result<Json> json = parse_bounded<Json>(text, 1'000'000);
  if (!json.ok() || !json->is_object() || json->contains("chosen")) return false;  // tune.json
  if (json->contains("providers") || json->contains("prices") || json->contains("whole")) {
    return true;
  }
  // All that is there is an engine's, and more of it than any file has.
  size_t common = 0;
  for (const auto& [key, _] : json->items()) {
    if (!kFields.contains(key)) return false;
    common += key == "format_version" || key == "name" ? 1 : 0;
  }
  return json->contains("format_version") && json->size() > common;
}

std::vector<std::string> EngineDescription::names() {
  std::vector<std::string> names;
  for (const auto& file : shipped::engines()) names.emplace_back(file.name);
  return names;
}

bool EngineDescription::is_built_in(std::string_view name) {
  return shipped::find(shipped::engines(), name) != nullptr;
}

Result<EngineDescription> EngineDescription::load(const std::string& name) {
  std::string known;
  for (const auto& file : shipped::engines()) {
    if (file.name == name) return parse(as_text(file.bytes), name);
    known += (known.empty() ? "" : ", ") + std::string(file.name);
  }
  std::error_code error;
  if (!std::filesystem::exists(name, error)) {
    return Status::io(name + ": no such file, and no built-in engine; there are " + known);
  }
  constexpr uint64_t kMostBytes = 1u << 24;
  const auto bytes = read_file(name, kMostBytes);
  if (!bytes.ok()) return bytes.status();
  return parse(as_text(*bytes), name);
}

void EngineDescription::change(TopologySpec& topology) const {
  if (execution_) topology.execution = *execution_;
  for (DeviceSpec& device : topology.devices) {
    if (device.stage_us != 0 || device.cut_us != 0 || device.cut_bytes_per_us != 0) continue;
    const Prices* chosen = nullptr;
    for (const Prices& prices : prices_) {
      const auto& kinds = prices.kinds;
      const bool named = std::find(kinds.begin(), kinds.end(), device.kind) != kinds.end();
      if (named || (kinds.empty() && chosen == nullptr)) chosen = &prices;
      if (named) break;
    }
    if (chosen == nullptr) continue;
    device.stage_us = chosen->stage_us;
    device.cut_us = chosen->cut_us;
    device.cut_bytes_per_us = chosen->cut_bytes_per_us;
    device.prices_source = Source::kGuess;  // wherever they were measured, not on this machine
  }
}

}  // namespace placeto
