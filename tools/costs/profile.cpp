#include "tools/costs/profile.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/costs/profile_events.h"
#include "tools/costs/statistics.h"

namespace placeto {
namespace {

struct Event {
  double begin = 0, duration = 0;
  double end() const { return begin + duration; }
};

struct NodeEvent : Event {
  std::string name, op, provider;
  uint32_t index = kNoIndex;
  uint64_t output_bytes = 0;
  std::vector<int64_t> shape;
  std::optional<double> kernels_us;  // on the device, where the provider says

  // Of a provider that runs beside the host, `duration` is that of the launch.
  double us() const { return kernels_us.value_or(duration); }
};

// Work on a device whose times are the host's, without the node's event beside it.
struct DeviceCall : Event {
  std::string node;
};

struct Events {
  std::vector<NodeEvent> nodes;
  std::map<std::string, size_t> latest;  // of each name
  std::vector<DeviceCall> calls;
  std::vector<Event> runs;
};

constexpr std::string_view kKernelTime = "_kernel_time";
constexpr double kMaxTime = 1e15;  // us: some thirty years

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

// A number that the engine writes as text; `fallback` if there is none.
template <class T>
T number_of(const nlohmann::json& args, const char* key, T fallback) {
  const std::string text = text_of(args, key);
  T value = fallback;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : fallback;
}

// Of "output_type_shape": [{"float": [1, 32]}, ...]; empty if it is none.
std::vector<int64_t> first_shape(const nlohmann::json& args) {
  const auto outputs = args.find("output_type_shape");
  if (outputs == args.end() || !outputs->is_array() || outputs->empty()) return {};
  const nlohmann::json& first = outputs->front();
  if (!first.is_object() || first.empty() || !first.front().is_array()) return {};
  std::vector<int64_t> shape;
  for (const nlohmann::json& axis : first.front()) {
    if (!axis.is_number_integer()) return {};
    shape.push_back(axis.get<int64_t>());
  }
  return shape;
}

Status read_time(const nlohmann::json& event, size_t i, const char* key, double& value) {
  const auto it = event.find(key);
  if (it == event.end() || !it->is_number()) {
    return bad_event(i, std::string("has no number \"") + key + "\", expected microseconds");
  }
  value = it->get<double>();
  if (!(value >= 0 && value <= kMaxTime)) {
    return bad_event(i, std::string("\"") + key + "\" is " + number_text(value) +
                            ", expected microseconds that are not negative");
  }
  return {};
}

Status read_times(const nlohmann::json& event, size_t i, Event& out) {
  if (Status s = read_time(event, i, "ts", out.begin); !s.ok()) return s;
  return read_time(event, i, "dur", out.duration);
}

// The node that launched a kernel: of that name in "parent_name", or, in older versions, the
// one before it in the list. Null for copies outside of any.
NodeEvent* launched_by(const nlohmann::json& args, Events& events) {
  const std::string parent = text_of(args, "parent_name"), op = text_of(args, "op_name");
  if (parent.ends_with(kKernelTime)) {
    const auto at = events.latest.find(parent.substr(0, parent.size() - kKernelTime.size()));
    return at == events.latest.end() ? nullptr : &events.nodes[at->second];
  }
  if (!parent.empty() || op.empty() || events.nodes.empty()) return nullptr;
  return events.nodes.back().op == op ? &events.nodes.back() : nullptr;
}

// Kernels follow the node that launched them. When one began is not asked for: the device's clock
// is another one.
Status add_kernel(const nlohmann::json& event, size_t i, Events& events) {
  const auto args = event.find("args");
  if (args == event.end() || !args->is_object()) return {};
  NodeEvent* node = launched_by(*args, events);
  if (node == nullptr) return {};
  double us = 0;
  if (Status s = read_time(event, i, "dur", us); !s.ok()) return s;
  node->kernels_us = node->kernels_us.value_or(0) + us;
  return {};
}

// What WebGPU ran, "NODE&OPERATOR&PROGRAM": a name of a node may hold an ampersand, the others not.
// Without a time that can be, as of a clock that starts anew, it counts for nothing.
void add_call(const nlohmann::json& event, size_t i, const std::string& name, Events& events) {
  const size_t program = name.rfind('&');
  if (program == name.npos || program == 0) return;
  const size_t op = name.rfind('&', program - 1);
  DeviceCall call;
  if (op == name.npos || !read_times(event, i, call).ok()) return;
  call.node = name.substr(0, op);
  events.calls.push_back(std::move(call));
}

// Each call counts for the last event of its node that began before it.
void add_calls(Events& events) {
  std::map<std::string, std::vector<NodeEvent*>> launches;
  for (NodeEvent& node : events.nodes) launches[node.name].push_back(&node);
  const auto began_before = [](const NodeEvent* node, double time) { return node->begin <= time; };
  for (auto& [name, nodes] : launches) {
    std::sort(nodes.begin(), nodes.end(),
              [](const NodeEvent* a, const NodeEvent* b) { return a->begin < b->begin; });
  }
  for (const DeviceCall& call : events.calls) {
    const auto found = launches.find(call.node);
    if (found == launches.end()) continue;
    const auto& nodes = found->second;
    const auto after = std::lower_bound(nodes.begin(), nodes.end(), call.begin, began_before);
    if (after == nodes.begin()) continue;
    NodeEvent& node = **std::prev(after);
    node.kernels_us = node.kernels_us.value_or(0) + call.duration;
  }
}

Status add_event(const nlohmann::json& event, size_t i, Events& events) {
  if (!event.is_object()) return bad_event(i, "is not an object, expected an event of a profile");
  const std::string category = text_of(event, "cat"), name = text_of(event, "name");
  if (category == "Session" && name == "model_run") {
    Event run;
    if (Status s = read_times(event, i, run); !s.ok()) return s;
    events.runs.push_back(run);
    return {};
  }
  if (category == "Kernel") return add_kernel(event, i, events);
  if (category == "Api") {
    add_call(event, i, name, events);
    return {};
  }
  if (category != "Node" || !name.ends_with(kKernelTime)) return {};  // fences and the like
  NodeEvent node;
  if (Status s = read_times(event, i, node); !s.ok()) return s;
  node.name = name.substr(0, name.size() - kKernelTime.size());
  if (const auto args = event.find("args"); args != event.end() && args->is_object()) {
    node.op = text_of(*args, "op_name");
    node.provider = text_of(*args, "provider");
    node.index = number_of(*args, "node_index", kNoIndex);
    node.output_bytes = number_of(*args, "output_size", uint64_t{0});
    node.shape = first_shape(*args);
  }
  events.latest[node.name] = events.nodes.size();
  events.nodes.push_back(std::move(node));
  return {};
}

// Whether the operator runs others, as part of it. An old profile does not say which it is.
bool holds_graph(const NodeEvent& node) {
  constexpr std::string_view kHolders[] = {"",         "If",          "Loop",
                                           "Scan",     "BeamSearch",  "GreedySearch",
                                           "Sampling", "SequenceMap", "WhisperBeamSearch"};
  return std::find(std::begin(kHolders), std::end(kHolders), node.op) != std::end(kHolders);
}

bool is_inside(const NodeEvent& node, double end) {
  return node.begin < end && node.end() <= end;
}

// By beginning, an event before those inside it; then without those inside another one, which has
// their kernels, or without that one.
void drop_nested(const ProfileLimits& limits, std::vector<NodeEvent>& nodes) {
  std::stable_sort(nodes.begin(), nodes.end(), [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.duration > b.duration;
  });
  std::vector<NodeEvent> outer;
  double end = -1;
  size_t holder = 0;  // in outer, of what ends there
  for (size_t i = 0; i < nodes.size(); ++i) {
    NodeEvent& node = nodes[i];
    // Times are whole microseconds: neighbours touch, and short ones have no duration at all.
    if (is_inside(node, end)) {
      if (node.kernels_us) {
        outer[holder].kernels_us = outer[holder].kernels_us.value_or(0) + *node.kernels_us;
      }
      continue;
    }
    // Others run at the same time, where engines have threads for them.
    if (holds_graph(node)) {
      const bool holds_others = i + 1 < nodes.size() && is_inside(nodes[i + 1], node.end());
      if (holds_others && limits.has_node && !limits.has_node(node.name)) continue;
      end = std::max(end, node.end());
      holder = outer.size();
    }
    outer.push_back(std::move(node));
  }
  nodes = std::move(outer);
}

using Key = std::pair<std::string, uint32_t>;
Key key_of(const NodeEvent& node) {
  return {node.name, node.index};
}

// First event of each run. Without events of whole runs, a run begins when the first node comes
// again.
std::vector<size_t> run_starts(const Events& events) {
  std::vector<size_t> starts;
  if (!events.runs.empty()) {
    size_t at = 0;
    for (const Event& run : events.runs) {
      while (at < events.nodes.size() && events.nodes[at].begin < run.begin) ++at;
      if (at < events.nodes.size() && (starts.empty() || starts.back() != at)) starts.push_back(at);
    }
    if (!starts.empty()) return starts;
  }
  for (size_t i = 0; i < events.nodes.size(); ++i) {
    if (key_of(events.nodes[i]) == key_of(events.nodes[0])) starts.push_back(i);
  }
  return starts;
}

Profile summarize(const Events& events) {
  Profile profile;
  std::vector<size_t> starts = run_starts(events);
  profile.warm_up_dropped = starts.size() > 1;
  const size_t first = profile.warm_up_dropped ? 1 : 0;
  profile.runs = static_cast<uint32_t>(starts.size() - first);
  std::map<Key, size_t> place;
  std::vector<std::vector<double>> times;
  for (size_t i = starts[first]; i < events.nodes.size(); ++i) {
    const NodeEvent& node = events.nodes[i];
    const auto [it, fresh] = place.emplace(key_of(node), times.size());
    if (fresh) {
      times.emplace_back();
      profile.nodes.push_back({node.name, node.op, node.provider, node.index, node.output_bytes, 0,
                               Naming::kOne, node.shape});
    }
    times[it->second].push_back(node.us());
  }
  for (size_t i = 0; i < times.size(); ++i) profile.nodes[i].median_us = median(times[i]);
  std::vector<double> runs;
  for (const Event& run : events.runs) runs.push_back(run.duration);
  if (profile.warm_up_dropped && runs.size() > 1) runs.erase(runs.begin());
  profile.median_run_us = median(runs);
  return profile;
}

}  // namespace

Result<Profile> parse_profile(std::string_view text, const ProfileLimits& limits) {
  Events events;
  const auto take = [&](const nlohmann::json& event, size_t i) {
    return add_event(event, i, events);
  };
  if (Status s = for_each_event(text, limits.max_events, take); !s.ok()) return s;
  if (events.nodes.empty() && limits.may_lack_nodes && !events.runs.empty()) return Profile{};
  if (events.nodes.empty()) {
    return Status::bad_input(
        "holds no event of a node (\"cat\": \"Node\", \"name\": "
        "\"..._kernel_time\"), expected a profile of ONNX Runtime");
  }
  std::sort(events.runs.begin(), events.runs.end(),
            [](const Event& a, const Event& b) { return a.begin < b.begin; });
  add_calls(events);
  drop_nested(limits, events.nodes);
  return summarize(events);
}

Result<Profile> read_profile(const std::string& path, const ProfileLimits& limits) {
  const auto bytes = read_file(path, limits.max_bytes);
  if (!bytes.ok()) return bytes.status();
  return parse_profile(as_text(*bytes), limits).at(path);
}

}  // namespace placeto
