// device_map of Hugging Face Accelerate: https://huggingface.co/docs/accelerate, "Big Model
// Inference": a dictionary from module names to devices, where an entry covers all modules below.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/text.h"
#include "tools/export/engine_devices.h"
#include "tools/export/module_names.h"
#include "tools/io/json_escapes.h"
#include "tools/io/json_text.h"

namespace placeto {
namespace {

using Json = nlohmann::ordered_json;

// A node at its module. They are sorted by module, so that what is below one, or at it, is a range:
// a tree of modules would take a hundred bytes for one of a name.
struct Member {
  std::string path;
  const PlacedNode* node = nullptr;
  // Accelerate wants a device for every parameter, and some are seen at no node: a few numbers may
  // as well be axes or a scale, and tied weights are at another module's node. So nodes without
  // weights count, too, but only where there are no others.
  bool weighted = false;
};
using Members = std::span<const Member>;

// By the names on the path, one after the other.
bool is_before(const Member& a, const Member& b) {
  const auto rank = [](char c) { return c == '.' ? 0 : 1 + static_cast<unsigned char>(c); };
  return std::lexicographical_compare(a.path.begin(), a.path.end(), b.path.begin(), b.path.end(),
                                      [&](char x, char y) { return rank(x) < rank(y); });
}

struct FirstNodes {
  const PlacedNode* first = nullptr;
  const PlacedNode* other = nullptr;  // the first on another device than that
};

// The first ones as they are placed. Those with weights alone, or all.
FirstNodes nodes_of(Members range, bool weighted) {
  FirstNodes nodes;
  const auto take_first = [&](const PlacedNode*& first, const auto& is_wanted) {
    for (const Member& member : range) {
      if ((weighted && !member.weighted) || !is_wanted(*member.node)) continue;
      if (first == nullptr || member.node < first) first = member.node;
    }
  };
  take_first(nodes.first, [](const PlacedNode&) { return true; });
  if (nodes.first == nullptr) return nodes;
  take_first(nodes.other, [&](const PlacedNode& n) { return n.device != nodes.first->device; });
  return nodes;
}

// Of what is below a module whose path has so many bytes, the part that begins with one child of
// it.
Members first_child(Members below, size_t length, size_t& child_length) {
  const std::string& path = below.front().path;
  const size_t begin = length == 0 ? 0 : length + 1;
  child_length = std::min(path.find('.', begin), path.size());
  const std::string_view name = std::string_view(path).substr(begin, child_length - begin);
  size_t count = 1;
  for (; count < below.size(); ++count) {
    const std::string_view other = std::string_view(below[count].path).substr(begin);
    if (other.substr(0, other.find('.')) != name) break;
  }
  return below.first(count);
}

// `range`: what is below a module, or at it; the first `length` bytes of each path are its.
Status collect(Members range, size_t length, bool is_block, const std::vector<Json>& devices,
               Json::object_t& map) {
  const FirstNodes weighted = nodes_of(range, true);
  const bool is_weighted = weighted.first != nullptr;
  const FirstNodes nodes = is_weighted ? weighted : nodes_of(range, false);
  bool direct = false;  // an operator with weights of the module itself, not of one below
  Members below = range;
  for (; !below.empty() && below.front().path.size() == length; below = below.subspan(1)) {
    direct |= below.front().weighted;
  }
  const bool is_whole = is_block || below.empty() || direct;
  const std::string path = range.front().path.substr(0, length);
  if (nodes.other == nullptr || (is_whole && !is_weighted)) {
    map.push_back({path, devices[nodes.first->device]});
    return {};
  }
  if (is_whole) {
    return Status::invalid("node " + placeto::in_quotes(nodes.other->name) +
                           " does not fit: module " + placeto::in_quotes(path) +
                           " is divided between devices (" + placeto::in_quotes(nodes.first->name) +
                           " is on another); expected whole modules on one device");
  }
  while (!below.empty()) {
    size_t child_length = 0;
    const Members child = first_child(below, length, child_length);
    const size_t begin = length == 0 ? 0 : length + 1;
    const bool is_numbered = is_number(child.front().path.substr(begin, child_length - begin));
    if (Status s = collect(child, child_length, is_numbered, devices, map); !s.ok()) return s;
    below = below.subspan(child.size());
  }
  return {};
}

// "" where a name has none.
std::string module_of(const std::string& name) {
  std::string path = module_path(name);
  path.erase(0, std::min(path.find_first_not_of('.'), path.size()));
  if (path.ends_with('.')) path.pop_back();
  return path;
}

// "cpu", or the number of the GPU.
Json device_entry(const std::string& name) {
  return is_number(name) && name.size() < 9 ? Json(std::stoi(name)) : Json(name);
}

}  // namespace

Result<std::string> hf_device_map(const Placed& placed, std::span<const std::string> given) {
  const auto names = numbered_devices(placed, given, "cpu", "", "counterpart of");
  if (!names.ok()) return names.status();
  std::vector<Json> devices;
  for (const std::string& name : *names) devices.push_back(device_entry(name));
  std::vector<Member> members;
  for (const PlacedNode& node : placed.nodes) members.push_back({module_of(node.name), &node});
  for (const PlacedNode* node : nodes_with_weights(placed)) {
    Member& member = members[static_cast<size_t>(node - placed.nodes.data())];
    member.weighted = true;
    if (!member.path.empty()) continue;
    return Status::invalid("node " + placeto::in_quotes(node->name) +
                           " does not fit: its name has no module path, expected one like "
                           "'/model/layers.0/mlp/fc1/MatMul'");
  }
  std::erase_if(members, [](const Member& member) { return member.path.empty(); });
  std::sort(members.begin(), members.end(), is_before);
  Json map = Json::object();
  auto& entries = map.get_ref<Json::object_t&>();
  if (!members.empty()) {
    if (Status s = collect(members, 0, false, devices, entries); !s.ok()) return s;
  }
  return with_escapes(json_text(map, 2)) + "\n";
}

}  // namespace placeto
