#include "tools/costs/profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/costs/statistics.h"
#include "tools/io/bounded_json.h"

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
  std::unordered_map<std::string, size_t> latest;  // of each name
  std::vector<DeviceCall> calls;
  std::vector<Event> runs;
};

constexpr std::string_view kKernelTime = "_kernel_time";
constexpr double kMaxTime = 1e15;  // us: some thirty years

Status bad_event(size_t i, const std::string& what) {
  return Status::bad_input("event " + std::to_string(i) + ": " + what);
}

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
  std::unordered_map<std::string, std::vector<NodeEvent*>> launches;
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
      profile.nodes.push_back(
          {node.name, node.op, node.provider, node.index, node.output_bytes, 0});
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

// ONNX Runtime writes names of nodes as they are, without escapes: for readers of JSON a quote in
// one ends the string, and "\b" is another character. Its events are told by their first words, and
// strings with such names by what stands before and behind them.
constexpr std::string_view kEngineEvent = "{\"cat\" : \"";
struct RawString {
  std::string_view before;
  bool (*ends)(std::string_view rest);  // which begins with a quote
};

bool starts_with_field(std::string_view rest) {
  if (!rest.starts_with("\",\"")) return false;
  rest.remove_prefix(3);
  const size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
  return end != 0 && end != rest.npos && rest.substr(end).starts_with("\" : ");
}

constexpr RawString kRawStrings[] = {
    {"\"name\" :", [](std::string_view rest) { return rest.starts_with("\",\"args\" : {"); }},
    {"\"parent_name\" : ",
     [](std::string_view rest) {
       return rest.starts_with("\"}},\n") || rest.starts_with("\"}}\n") || starts_with_field(rest);
     }},
};

std::string escaped(std::string_view raw) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : raw) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20) {
      (text += "\\u00") += {kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text;
}

// JSON by events, so that no document of the whole file is built and a cut file is readable. Depth
// and sizes are bounded by what an event holds.
class Reader {
 public:
  Reader(std::string_view text, const ProfileLimits& limits) : text_(text), limits_(limits) {}

  Status run(Events& events) {
    skip_space();
    if (peek() != '[') {
      return Status::bad_input(
          "does not begin with '[', expected a list of events as ONNX Runtime "
          "writes it");
    }
    ++at_;
    for (size_t i = 0;; ++i) {
      skip_space();
      if (peek() == ',') ++at_, skip_space();
      if (at_ >= text_.size() || peek() == ']') return {};
      if (i >= limits_.max_events) {
        return Status::bad_input("has more than " + std::to_string(limits_.max_events) + " events");
      }
      const size_t begin = at_;
      if (!skip_object()) {
        if (at_ >= text_.size() && i > 0) return {};  // cut off
        return bad_event(i, "is not an object, expected an event of a profile");
      }
      const auto event = parse_bounded<nlohmann::json>(read_since(begin), 100'000);
      if (!event.ok()) return bad_event(i, event.status().message());
      if (Status s = add_event(*event, i, events); !s.ok()) return s;
    }
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  // With escapes where the engine left them out.
  std::string_view read_since(size_t begin) {
    if (raw_.empty()) return text_.substr(begin, at_ - begin);
    repaired_.clear();
    for (const auto& [from, to] : raw_) {
      repaired_ += text_.substr(begin, from - begin);
      repaired_ += escaped(text_.substr(from, to - from));
      begin = to;
    }
    return repaired_ += text_.substr(begin, at_ - begin);
  }
  // To the quote that ends a string without escapes, or to the end of the text; false if none such
  // begins here.
  bool skip_raw_string(size_t event) {
    const std::string_view before = text_.substr(event, at_ - event);
    for (const RawString& raw : kRawStrings) {
      if (!before.ends_with(raw.before)) continue;
      const size_t begin = at_ + 1;
      for (at_ = begin; (at_ = text_.find('"', at_)) != text_.npos; ++at_) {
        if (raw.ends(text_.substr(at_))) break;
      }
      at_ = std::min(at_, text_.size());
      raw_.emplace_back(begin, at_);
      return true;
    }
    return false;
  }
  // Over one object, by its braces; false if it does not end or is none.
  bool skip_object() {
    constexpr int kMaxDepth = 32;
    raw_.clear();
    if (peek() != '{') return false;
    const size_t begin = at_;
    const bool by_engine = text_.substr(at_).starts_with(kEngineEvent);
    int depth = 0;
    bool in_string = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (in_string) {
        if (c == '\\') ++at_;
        if (c == '"') in_string = false;
        continue;
      }
      if (c == '"' && by_engine && skip_raw_string(begin)) continue;
      if (c == '"') in_string = true;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (depth > kMaxDepth) return false;
      if (depth == 0) return ++at_, true;
    }
    return false;
  }

  std::string_view text_;
  const ProfileLimits& limits_;
  size_t at_ = 0;
  std::vector<std::pair<size_t, size_t>> raw_;  // of the last object: strings without escapes
  std::string repaired_;
};

}  // namespace

double Profile::total_us() const {
  double total = 0;
  for (const ProfiledNode& node : nodes) total += node.median_us;
  return total;
}

Result<Profile> parse_profile(std::string_view text, const ProfileLimits& limits) {
  Events events;
  if (Status s = Reader(text, limits).run(events); !s.ok()) return s;
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
  auto profile =
      parse_profile({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, limits);
  return profile.ok() ? std::move(profile) : profile.status().at(path);
}

}  // namespace placeto
