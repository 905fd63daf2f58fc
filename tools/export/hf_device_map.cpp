// device_map of Hugging Face Accelerate: https://huggingface.co/docs/accelerate, "Big Model
// Inference": a dictionary from module names to devices, where an entry covers all modules below.
#include <map>
#include <nlohmann/json.hpp>

#include "runtime/graph/text.h"
#include "tools/devices/device_settings.h"
#include "tools/export/module_names.h"
#include "tools/io/json_escapes.h"

namespace placeto {
namespace {

using Json = nlohmann::ordered_json;

struct Members {
  const PlacedNode* first = nullptr;
  const PlacedNode* other = nullptr;  // the first on another device than that
};

// What is below or at a module. Accelerate wants a device for every parameter, and some are seen at
// no node: a few numbers may as well be axes or a scale, and tied weights are at another module's
// node. So nodes without weights count, too, but only where there are no others.
struct Module {
  std::map<std::string, Module> children;
  Members weighted, all;
  bool direct = false;  // an operator with weights of the module itself, not of one below
  const Members& members() const { return weighted.first != nullptr ? weighted : all; }
};

void note_node(Members& members, const PlacedNode& node) {
  if (members.first == nullptr) members.first = &node;
  if (members.other == nullptr && node.device != members.first->device) members.other = &node;
}

// False if the node's name has no module path.
bool add(Module& root, const PlacedNode& node, Members Module::*members) {
  std::string rest = module_path(node.name);
  if (rest.empty()) return false;
  Module* module = &root;
  note_node(root.*members, node);
  while (!rest.empty()) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    module = &module->children[rest.substr(0, dot)];
    note_node(module->*members, node);
    rest.erase(0, dot + 1);
  }
  module->direct |= members == &Module::weighted;
  return true;
}

Status collect(const Module& module, const std::string& path, bool is_block,
               const std::vector<Json>& devices, Json& map) {
  const Members& members = module.members();
  const bool is_weighted = &members == &module.weighted;
  const bool is_whole = is_block || module.children.empty() || module.direct;
  if (members.other == nullptr || (is_whole && !is_weighted)) {
    map[path] = devices[members.first->device];
    return {};
  }
  if (is_whole) {
    return Status::invalid("node " + placeto::in_quotes(members.other->name) +
                           " does not fit: module " + placeto::in_quotes(path) +
                           " is divided between devices (" +
                           placeto::in_quotes(members.first->name) +
                           " is on another); expected whole modules on one device");
  }
  for (const auto& [name, child] : module.children) {
    const std::string below = path.empty() ? name : path + "." + name;
    if (Status s = collect(child, below, is_number(name), devices, map); !s.ok()) return s;
  }
  return {};
}

// "cpu", or the number of the GPU.
Result<std::vector<Json>> device_names(const Placed& placed, std::span<const std::string> given) {
  std::vector<Json> names(placed.devices.size());
  const std::vector<bool> used = used_devices(placed);
  for (size_t d = 0; d < names.size(); ++d) {
    const std::string& device = placed.devices[d];
    std::string name = given.empty() ? "" : given[d];
    if (name.empty() && kind_in_name(device) == "cpu") name = "cpu";
    if (name.empty() && device == "gpu") name = "0";
    if (name.empty() && device.starts_with("gpu:") && is_number(device.substr(4))) {
      name = device.substr(4);
    }
    if (name.empty() && used[d]) {
      return Status::invalid("there is no counterpart of device " + placeto::in_quotes(device) +
                             ": give one with --engine-device " + device + "=NAME");
    }
    names[d] = is_number(name) && name.size() < 9 ? Json(std::stoi(name)) : Json(name);
  }
  return names;
}

}  // namespace

Result<std::string> hf_device_map(const Placed& placed, std::span<const std::string> given) {
  const Result<std::vector<Json>> devices = device_names(placed, given);
  if (!devices.ok()) return devices.status();
  Module root;
  for (const PlacedNode* node : nodes_with_weights(placed)) {
    if (add(root, *node, &Module::weighted)) continue;
    return Status::invalid("node " + placeto::in_quotes(node->name) +
                           " does not fit: its name has no module path, expected one like "
                           "'/model/layers.0/mlp/fc1/MatMul'");
  }
  for (const PlacedNode& node : placed.nodes) add(root, node, &Module::all);
  Json map = Json::object();
  if (root.members().first == nullptr) return map.dump(2) + "\n";
  if (Status s = collect(root, "", false, *devices, map); !s.ok()) return s;
  return with_escapes(map.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace placeto
