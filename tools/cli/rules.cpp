#include "tools/cli/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "tools/cli/common.h"
#include "tools/cli/node_pattern.h"
#include "tools/devices/device_settings.h"

namespace placeto::cli {
namespace {

constexpr uint32_t kAmbiguous = 0xffffffffu;

class Resolver {
 public:
  Resolver(const Graph& graph, const Topology& topology) : graph_(graph), topology_(topology) {
    for (uint32_t v = 0; v < graph.node_count(); ++v) {
      const auto [it, is_new] = nodes_.try_emplace(graph.node(v).name, v);
      if (!is_new) it->second = kAmbiguous;
    }
  }

  std::optional<uint32_t> find_node(std::string_view text) const {
    const auto it = nodes_.find(text);
    if (it != nodes_.end() && !text.empty()) {
      if (it->second != kAmbiguous) return it->second;
      throw Failure(kBadUsage,
                    fmt::format("several nodes are named '{}': give the node's index", text));
    }
    return index(text, graph_.node_count());
  }

  std::optional<uint32_t> find_device(std::string_view text) const {
    const uint32_t device = topology_.find_device(text);
    if (device < topology_.device_count()) return device;
    return index(text, topology_.device_count());
  }

  uint32_t node(std::string_view option, std::string_view text) const {
    if (const auto found = find_node(text)) return *found;
    const std::string close = suggestion(text, node_names());
    throw Failure(kBadUsage, fmt::format("{}: the graph has no node '{}'{}", option, text,
                                         close.empty() ? "; expected a name, or an index below " +
                                                             format_count(graph_.node_count())
                                                       : close));
  }

  // The node of that name or index, or all nodes that the pattern matches; empty if there is none.
  std::vector<uint32_t> find_nodes(std::string_view text) const {
    if (const auto found = find_node(text)) return {*found};
    return is_node_pattern(text) ? matching_nodes(text, graph_) : std::vector<uint32_t>{};
  }

  std::vector<uint32_t> nodes(std::string_view option, std::string_view text) const {
    std::vector<uint32_t> found = find_nodes(text);
    if (!found.empty()) return found;
    if (!is_node_pattern(text)) return {node(option, text)};  // which says that there is none
    throw Failure(kBadUsage,
                  fmt::format("{}: the graph has no node that matches '{}'", option, text));
  }

  std::string expected_device(std::string_view device) const {
    constexpr size_t kShown = 8;
    std::vector<std::string> names = device_names(topology_.spec()).names;
    const std::string close = suggestion(device, names);
    if (!close.empty()) return close;
    if (names.size() > kShown) names[kShown - 1] = "...", names.resize(kShown);
    return fmt::format("; its devices are {}", fmt::join(names, ", "));
  }

  // NODES=DEVICE; either name may itself hold '='.
  void pairs(std::string_view option, std::string_view text,
             std::vector<Rules::NodeDevice>& rules) const {
    const size_t last = text.rfind('=');
    if (last == std::string_view::npos) {
      throw Failure(kBadUsage, fmt::format("{}: '{}' is not NODE=DEVICE", option, text));
    }
    for (size_t at = last; at != std::string_view::npos && at != 0; at = text.rfind('=', at - 1)) {
      const auto device = find_device(text.substr(at + 1));
      if (!device) continue;
      const std::vector<uint32_t> found = find_nodes(text.substr(0, at));
      for (const uint32_t v : found) rules.push_back({v, *device});
      if (!found.empty()) return;
    }
    const std::string_view device = text.substr(last + 1);
    if (!find_device(device)) {
      throw Failure(kBadUsage, fmt::format("{}: the topology has no device '{}'{}", option, device,
                                           expected_device(device)));
    }
    nodes(option, text.substr(0, last));
  }

 private:
  static std::optional<uint32_t> index(std::string_view text, uint32_t count) {
    uint64_t value = 0;
    if (!parse_count(text, value) || value >= count) return std::nullopt;
    return static_cast<uint32_t>(value);
  }

  std::vector<std::string> node_names() const {
    std::vector<std::string> names;
    for (const auto& [name, node] : nodes_) names.emplace_back(name);
    return names;
  }

  const Graph& graph_;
  const Topology& topology_;
  std::map<std::string_view, uint32_t> nodes_;
};

// Which --pin says what of a node, to name two options that exclude each other.
struct Said {
  size_t pin = 0;
  uint32_t device = 0;
};

[[noreturn]] void fail_to_agree(const Graph& graph, uint32_t node, const std::string& a,
                                const std::string& b) {
  throw Failure(kNoFeasiblePlacement,
                fmt::format("no feasible placement: {} and {} exclude each other for node {} '{}'",
                            a, b, node, graph.node(node).name));
}

void resolve_pins(const RuleOptions& options, const Resolver& resolver, const Graph& graph,
                  Rules& rules) {
  std::unordered_map<uint32_t, Said> pinned;
  const auto pin_text = [&](size_t pin) { return "--pin '" + options.pins[pin] + "'"; };
  for (size_t pin = 0; pin < options.pins.size(); ++pin) {
    size_t i = rules.pins.size();
    resolver.pairs("--pin", options.pins[pin], rules.pins);
    for (; i < rules.pins.size(); ++i) {
      const auto [node, device] = rules.pins[i];
      const Said& first = pinned.try_emplace(node, Said{pin, device}).first->second;
      if (first.device != device) fail_to_agree(graph, node, pin_text(first.pin), pin_text(pin));
    }
  }
  for (const std::string& text : options.forbids) {
    size_t i = rules.forbids.size();
    resolver.pairs("--forbid", text, rules.forbids);
    for (; i < rules.forbids.size(); ++i) {
      const auto pin = pinned.find(rules.forbids[i].node);
      if (pin == pinned.end() || pin->second.device != rules.forbids[i].device) continue;
      fail_to_agree(graph, pin->first, pin_text(pin->second.pin), "--forbid '" + text + "'");
    }
  }
}

}  // namespace

void add_rules(Command& command, RuleOptions& options) {
  command.heading("Rules");
  command.list("--pin", "NODES=DEVICE", options.pins, "Run the nodes on that device (repeatable)");
  command.list("--forbid", "NODES=DEVICE", options.forbids,
               "Keep the nodes off that device (repeatable)");
  command
      .list("--colocate", "A,B,...", options.colocate,
            "Keep these nodes on one device (repeatable; a name with a comma: its index)")
      .proposes_words({});
  command.share("--memory-headroom", options.memory_headroom,
                "Share of every device's memory to leave free", 0.999);
  add_objective(command, options.objective,
                "latency: shortest makespan; throughput: smallest bottleneck");
  command.heading("");
}

void add_objective(Command& command, Objective& objective, const std::string& help) {
  const auto set = [&objective](const std::string& text) {
    objective = text == "throughput" ? Objective::kThroughput : Objective::kLatency;
    return std::string();
  };
  command.custom("--objective", "latency|throughput", help, set).one_of({"latency", "throughput"});
}

Rules resolve_rules(const RuleOptions& options, const Graph& graph, const Topology& topology) {
  Rules rules;
  rules.memory_headroom = options.memory_headroom;
  rules.objective = options.objective;
  if (options.pins.empty() && options.forbids.empty() && options.colocate.empty()) return rules;

  const Resolver resolver(graph, topology);
  resolve_pins(options, resolver, graph, rules);
  for (const std::string& text : options.colocate) {
    std::vector<uint32_t> together;
    for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = text.find(',', begin);
      const size_t length = end == std::string::npos ? end : end - begin;
      for (const uint32_t v :
           resolver.nodes("--colocate", std::string_view(text).substr(begin, length))) {
        together.push_back(v);
      }
    }
    rules.colocate.push_back(std::move(together));
  }
  return rules;
}

std::vector<uint32_t> resolve_nodes(std::string_view option, std::string_view text,
                                    const Graph& graph, const Topology& topology) {
  return Resolver(graph, topology).nodes(option, text);
}

}  // namespace placeto::cli
