#include "tools/engine/manifest_reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/base/limits.h"
#include "runtime/format/file.h"
#include "runtime/format/placement.h"
#include "runtime/graph/text.h"
#include "tools/io/bounded_json.h"
#include "tools/io/element_names.h"
#include "tools/io/json_scanner.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::json;

constexpr uint64_t kMaxManifestBytes = 256 << 20;
constexpr size_t kMostValues = 8'000'000;

Status expected(const std::string& where, const char* what) {
  return Status::bad_input(where + ": expected " + what);
}

Status read_text(const Json& object, const char* key, const std::string& where, std::string& out) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_string()) return expected(where + "." + key, "a string");
  out = it->get<std::string>();
  return {};
}

// A list, or nullptr with the status set.
const Json* list_of(const Json& object, const char* key, const std::string& where, Status& status) {
  const auto it = object.find(key);
  if (it != object.end() && it->is_array()) return &*it;
  status = expected(where + "." + key, "a list");
  return nullptr;
}

std::string entry(const std::string& where, const char* list, size_t i) {
  return where + "." + list + "[" + std::to_string(i) + "]";
}

bool is_index(const Json& value, size_t count) {
  return value.is_number_unsigned() && value.get<uint64_t>() < count;
}

Status read_indices(const Json& object, const char* key, const std::string& where, size_t count,
                    std::vector<uint32_t>& out) {
  Status status;
  const Json* list = list_of(object, key, where, status);
  if (list == nullptr) return status;
  for (const Json& value : *list) {
    if (!is_index(value, count)) {
      return expected(entry(where, key, out.size()), "the number of a stage");
    }
    out.push_back(value.get<uint32_t>());
  }
  return {};
}

Status read_tensors(const Json& object, const char* key, const std::string& where, size_t stages,
                    std::vector<ManifestTensor>& out) {
  Status status;
  const Json* list = list_of(object, key, where, status);
  if (list == nullptr) return status;
  for (const Json& value : *list) {
    const std::string here = entry(where, key, out.size());
    ManifestTensor tensor;
    if (!value.is_object()) return expected(here, "an object");
    if (Status s = read_text(value, "name", here, tensor.name); !s.ok()) return s;
    if (const auto stage = value.find("stage"); stage != value.end()) {
      if (!is_index(*stage, stages)) return expected(here + ".stage", "the number of a stage");
      tensor.stage = stage->get<uint32_t>();
    }
    out.push_back(std::move(tensor));
  }
  return {};
}

// A number of microseconds that need not be there.
Status read_time(const Json& object, const char* key, const std::string& where, double& out) {
  const auto it = object.find(key);
  if (it == object.end()) return {};
  if (it->is_number()) out = it->get<double>();
  if (it->is_number() && std::isfinite(out) && out >= 0) return {};
  return expected(where + "." + key, "microseconds that are not negative");
}

Status read_device(const Json& object, const std::string& where, const Manifest& manifest,
                   ManifestStage& stage) {
  std::string name;
  if (Status s = read_text(object, "device", where, name); !s.ok()) return s;
  const auto it = std::find(manifest.devices.begin(), manifest.devices.end(), name);
  if (it == manifest.devices.end()) {
    return Status::bad_input(where + ".device: " + in_quotes(name) + " is not in \"devices\"");
  }
  stage.device = static_cast<uint32_t>(it - manifest.devices.begin());
  return {};
}

Status read_stage(const Json& object, const std::string& where, const Manifest& manifest,
                  size_t stages, ManifestStage& stage) {
  if (!object.is_object()) return expected(where, "an object");
  if (Status s = read_text(object, "file", where, stage.file); !s.ok()) return s;
  const bool has_nul = stage.file.find('\0') != std::string::npos;
  if (stage.file.empty() || stage.file.find('/') != std::string::npos || has_nul) {
    return expected(where + ".file", "the name of a file beside the manifest");
  }
  if (Status s = read_device(object, where, manifest, stage); !s.ok()) return s;
  if (const auto nodes = object.find("nodes");
      nodes != object.end() && is_index(*nodes, 1u << 31)) {
    stage.nodes = nodes->get<uint32_t>();
  }
  std::vector<ManifestTensor> outputs;
  Status s = read_tensors(object, "inputs", where, stages, stage.inputs);
  if (s.ok()) s = read_tensors(object, "outputs", where, stages, outputs);
  if (s.ok()) s = read_indices(object, "after", where, stages, stage.after);
  if (s.ok()) s = read_time(object, "predicted_us", where, stage.predicted_us);
  if (s.ok()) s = read_time(object, "predicted_start_us", where, stage.predicted_start_us);
  for (ManifestTensor& output : outputs) stage.outputs.push_back(std::move(output.name));
  return s;
}

// What the caller and each stage make, by name: manifests of thousands of tensors are searched once
// for each.
struct Makers {
  explicit Makers(const Manifest& manifest) : stages(manifest.stages.size()) {
    for (const ManifestTensor& input : manifest.inputs) inputs.insert(input.name);
    for (size_t s = 0; s < stages.size(); ++s) {
      stages[s].insert(manifest.stages[s].outputs.begin(), manifest.stages[s].outputs.end());
    }
  }

  std::set<std::string_view> inputs;
  std::vector<std::set<std::string_view>> stages;
};

Status check_maker(const Makers& makers, const ManifestTensor& tensor, const std::string& where) {
  if (tensor.stage == kFromCaller) {
    if (makers.inputs.contains(tensor.name)) return {};
    return Status::bad_input(where + ": " + in_quotes(tensor.name) +
                             " is neither an input of the model nor made by a stage");
  }
  if (makers.stages[tensor.stage].contains(tensor.name)) return {};
  return Status::bad_input(where + ": stage " + std::to_string(tensor.stage) + " does not make " +
                           in_quotes(tensor.name));
}

// The memory of a tensor belongs to one maker: the caller, or a stage.
Status check_one_maker(const Manifest& manifest) {
  std::set<std::string_view> inputs, made;
  for (const ManifestTensor& input : manifest.inputs) {
    if (inputs.insert(input.name).second) continue;
    return Status::bad_input("manifest.inputs: " + in_quotes(input.name) + " is there twice");
  }
  for (size_t s = 0; s < manifest.stages.size(); ++s) {
    for (const std::string& output : manifest.stages[s].outputs) {
      const bool is_input = inputs.contains(output);
      if (!is_input && made.insert(output).second) continue;
      return Status::bad_input(entry("manifest", "stages", s) + ".outputs: " + in_quotes(output) +
                               (is_input ? " is an input of the model" : " is made twice") +
                               ", expected tensors that nobody else makes");
    }
  }
  return {};
}

// Every stage once, after those that it reads from.
Status check_order(const Manifest& manifest) {
  std::vector<bool> done(manifest.stages.size(), false);
  for (const uint32_t s : manifest.order) {
    if (done[s]) return Status::bad_input("order: stage " + std::to_string(s) + " comes twice");
    const ManifestStage& stage = manifest.stages[s];
    const auto ready = [&](uint32_t needed) { return done[needed]; };
    bool in_order = std::all_of(stage.after.begin(), stage.after.end(), ready);
    for (const ManifestTensor& input : stage.inputs) {
      in_order = in_order && (input.stage == kFromCaller || ready(input.stage));
    }
    if (!in_order) {
      return Status::bad_input("order: stage " + std::to_string(s) +
                               " comes before one that it reads from");
    }
    done[s] = true;
  }
  if (manifest.order.size() == manifest.stages.size()) return {};
  return Status::bad_input("order: expected every stage once");
}

Status check(const Manifest& manifest) {
  if (Status s = check_one_maker(manifest); !s.ok()) return s;
  const Makers makers(manifest);
  for (size_t s = 0; s < manifest.stages.size(); ++s) {
    for (const ManifestTensor& input : manifest.stages[s].inputs) {
      if (Status bad = check_maker(makers, input, entry("manifest", "stages", s)); !bad.ok()) {
        return bad;
      }
    }
  }
  for (const ManifestTensor& output : manifest.outputs) {
    if (Status s = check_maker(makers, output, "manifest.outputs"); !s.ok()) return s;
  }
  return check_order(manifest);
}

Status read_devices(const Json& object, Manifest& manifest) {
  Status status;
  const Json* list = list_of(object, "devices", "manifest", status);
  if (list == nullptr) return status;
  for (const Json& name : *list) {
    if (!name.is_string()) {
      return expected(entry("manifest", "devices", manifest.devices.size()), "a string");
    }
    if (manifest.devices.size() == Limits().max_devices) {
      return expected("manifest.devices", "at most 1024 names");
    }
    manifest.devices.push_back(name.get<std::string>());
  }
  if (manifest.devices.empty()) return expected("manifest.devices", "at least one name");
  return {};
}

Status read_stages(const Json& object, Manifest& manifest) {
  Status status;
  const Json* list = list_of(object, "stages", "manifest", status);
  if (list == nullptr) return status;
  if (list->empty()) return expected("manifest.stages", "at least one stage");
  manifest.stages.resize(list->size());
  for (size_t s = 0; s < list->size(); ++s) {
    status = read_stage((*list)[s], entry("manifest", "stages", s), manifest, list->size(),
                        manifest.stages[s]);
    if (!status.ok()) return status;
  }
  return {};
}

void read_axis(const Json& extent, TensorInfo& info) {
  info.shape.push_back(extent.is_number_unsigned() ? static_cast<int64_t>(extent.get<uint64_t>())
                                                   : -1);
  info.symbols.push_back(extent.is_string() ? extent.get<std::string>() : "");
}

// Types and shapes of the model's inputs, which need not be there.
void read_declared(const Json& object, Manifest& manifest) {
  for (const Json& input : object["inputs"]) {
    TensorInfo info;
    info.name = input["name"].get<std::string>();
    const auto shape = input.find("shape"), type = input.find("type");
    if (shape == input.end() || !shape->is_array()) {
      manifest.has_shapes = false;
    } else {
      for (const Json& extent : *shape) read_axis(extent, info);
      if (type != input.end() && type->is_string()) {
        info.element = static_cast<Element>(numpy_named(type->get_ref<const std::string&>()));
      }
    }
    manifest.declared.push_back(std::move(info));
  }
}

// Numbers of free dimensions, which need not be there.
Status read_dims(const Json& object, Manifest& manifest) {
  const auto dims = object.find("dims");
  if (dims == object.end()) return {};
  if (!dims->is_object()) return expected("manifest.dims", "an object");
  for (const auto& [name, value] : dims->items()) {
    const bool whole = value.is_number_unsigned();
    if (!whole || value.get<uint64_t>() == 0 || value.get<uint64_t>() > kMaxExtent) {
      return expected("manifest.dims." + name, "a whole number from 1 to 2147483648");
    }
    manifest.dims.push_back({name, value.get<uint64_t>(), true});
  }
  return {};
}

// Values of inputs, which need not be there.
Status read_set(const Json& object, Manifest& manifest) {
  const auto set = object.find("set");
  if (set == object.end()) return {};
  if (!set->is_object()) return expected("manifest.set", "an object");
  for (const auto& [name, value] : set->items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    auto setting = parse_input_setting(name + "=" + text);
    if (text.find('=') != std::string::npos || !setting.ok()) {
      return expected("manifest.set." + name,
                      "a text with true, false, a number, or numbers with commas between them");
    }
    manifest.set.push_back(*std::move(setting));
  }
  return {};
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view text) {
  const Result<Json> parsed = parse_bounded<Json>(text, kMostValues);
  if (!parsed.ok()) return parsed.status();
  const Json& object = *parsed;
  if (!object.is_object()) {
    return Status::bad_input("is not a JSON object, expected the manifest of a split model");
  }
  const auto version = object.find("format_version");
  if (version == object.end() || !version->is_number_unsigned() || version->get<uint64_t>() != 1) {
    return expected("manifest.format_version", "1");
  }
  Manifest manifest;
  Status s = read_text(object, "model", "manifest", manifest.model);
  if (s.ok()) s = read_text(object, "graph", "manifest", manifest.graph);
  if (s.ok()) s = read_text(object, "topology", "manifest", manifest.topology);
  if (s.ok()) s = read_devices(object, manifest);
  if (s.ok()) s = read_stages(object, manifest);
  const size_t stages = manifest.stages.size();
  if (s.ok()) s = read_tensors(object, "inputs", "manifest", 0, manifest.inputs);
  if (s.ok()) s = read_tensors(object, "outputs", "manifest", stages, manifest.outputs);
  if (s.ok()) s = read_indices(object, "order", "manifest", stages, manifest.order);
  if (s.ok()) {
    s = read_time(object, "predicted_makespan_us", "manifest", manifest.predicted_makespan_us);
  }
  if (s.ok()) s = read_time(object, "predicted_whole_us", "manifest", manifest.predicted_whole_us);
  if (s.ok()) s = read_dims(object, manifest);
  if (s.ok()) s = read_set(object, manifest);
  if (s.ok()) read_declared(object, manifest);
  if (s.ok()) s = check(manifest);
  if (!s.ok()) return s;
  return manifest;
}

bool holds_json(const std::string& path) {
  std::string begin(4096, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  return looks_like_json(begin);
}

static fs::path manifest_file(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) ? path / "manifest.json" : path;
}

bool is_manifest(const std::string& path) {
  const auto bytes = read_file(manifest_file(path).string(), kMaxManifestBytes);
  if (!bytes.ok() || !looks_like_json(as_text(*bytes))) return false;
  const Result<Json> tree = parse_bounded<Json>(as_text(*bytes), kMostValues);
  return tree.ok() && tree->is_object() && tree->contains("model") && tree->contains("stages");
}

Result<Manifest> read_manifest(const std::string& path, std::string& directory) {
  const fs::path file = manifest_file(path);
  const auto bytes = read_file(file.string(), kMaxManifestBytes);
  if (!bytes.ok()) return bytes.status();
  auto manifest = parse_manifest(as_text(*bytes));
  if (!manifest.ok()) return manifest.status().at(file.string());
  directory = file.has_parent_path() ? file.parent_path().string() : ".";
  return manifest;
}

Manifest whole_model(const std::string& file, const std::string& device) {
  Manifest manifest;
  manifest.model = file;
  manifest.devices = {device};
  manifest.stages.resize(1);
  manifest.stages[0].file = file;
  manifest.order = {0};
  return manifest;
}

}  // namespace placeto
