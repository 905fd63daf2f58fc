#include "tools/costs/tensorrt_profile.h"

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/graph/text.h"
#include "tools/io/bounded_json.h"

namespace placeto {
namespace {

using nlohmann::json;

constexpr size_t kMostValues = 20'000'000;
constexpr double kMostMs = 1e12;  // some thirty years
constexpr std::string_view kSpace = " \t\r\n";
// Layers that change the layout of a tensor, called after the nodes beside them.
constexpr std::string_view kCopies[] = {"Reformatting CopyNode", "[HostToDeviceCopy",
                                        "[DeviceToHostCopy"};

Status bad_entry(size_t i, const std::string& what) {
  return Status::bad_input("entry " + std::to_string(i) + ": " + what);
}

bool is_copy(std::string_view name) {
  for (const std::string_view copy : kCopies) {
    if (name.starts_with(copy)) return true;
  }
  return false;
}

Status read_layer(const json& entry, size_t i, ProfiledNode& node) {
  if (!entry.is_object()) return bad_entry(i, "is not an object, expected a layer");
  const auto name = entry.find("name");
  if (name == entry.end() || !name->is_string()) {
    return bad_entry(i, "has no text \"name\", expected that of a layer");
  }
  node.name = name->get<std::string>();
  const char* key = entry.contains("medianMs") ? "medianMs" : "averageMs";
  const auto ms = entry.find(key);
  if (ms == entry.end() || !ms->is_number()) {
    return bad_entry(i, "has no number \"medianMs\" or \"averageMs\", expected milliseconds");
  }
  const double value = ms->get<double>();
  if (!(value >= 0 && value <= kMostMs)) {
    return bad_entry(i, std::string("\"") + key + "\" is " + number_text(value) +
                            ", expected milliseconds that are not negative");
  }
  node.median_us = value * 1000;
  node.index = kNoIndex;
  node.naming = is_copy(node.name) ? Naming::kNone : Naming::kJoined;
  return {};
}

}  // namespace

bool looks_like_tensorrt_profile(std::string_view text) {
  const auto skip = [&text](char c) {
    const size_t at = text.find_first_not_of(kSpace);
    if (at == std::string_view::npos || text[at] != c) return false;
    text.remove_prefix(at + 1);
    return true;
  };
  if (!skip('[') || !skip('{')) return false;
  const size_t at = text.find_first_not_of(kSpace);
  return at != std::string_view::npos && text.substr(at).starts_with("\"count\"");
}

Result<Profile> parse_tensorrt_profile(std::string_view text) {
  const auto list = parse_bounded<json>(text, kMostValues);
  if (!list.ok()) return list.status();
  if (!list->is_array() || list->empty() || !list->front().is_object()) {
    return Status::bad_input("is no list of layers, expected one as trtexec writes it");
  }
  const auto count = list->front().find("count");
  if (count == list->front().end() || !count->is_number_unsigned() ||
      count->get<uint64_t>() - 1 >= kNoIndex) {
    return bad_entry(0, "has no \"count\", expected the number of runs, 1 or more");
  }
  Profile profile;
  profile.runs = count->get<uint32_t>();
  for (size_t i = 1; i < list->size(); ++i) {
    ProfiledNode node;
    if (Status s = read_layer((*list)[i], i, node); !s.ok()) return s;
    profile.nodes.push_back(std::move(node));
  }
  if (profile.nodes.empty()) {
    return Status::bad_input("holds no layer, expected a profile as trtexec writes it");
  }
  return profile;
}

}  // namespace placeto
