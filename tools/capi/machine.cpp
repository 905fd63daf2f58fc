// What places graphs on machines: topologies, engines, the default policy.
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>

#include "tools/capi/bridge.h"
#include "tools/engine/description.h"
#include "tools/io/read.h"
#include "tools/io/shipped.h"

using namespace placeto;        // NOLINT: this file is one edge of the library
using namespace placeto::capi;  // NOLINT

struct placeto_onnx_engine {
  EngineDescription description;
};

struct placeto_onnx_rules {
  double tolerance = 0;
  std::vector<placeto_node_device> forbids;
  std::vector<std::vector<uint32_t>> colocate;
  std::vector<placeto_node_list> colocate_lists;  // leading into `colocate`
  // What options with entries of their own were given: those and these. Never moved or dropped.
  std::mutex mutex;
  std::deque<std::vector<placeto_node_device>> longer_forbids;
  std::deque<std::vector<placeto_node_list>> longer_colocate;
};

namespace {

Result<Topology> read_machine(const std::string& path, const Limits& limits) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return read_topology(path, limits);
  std::string names;
  for (const shipped::File& file : shipped::topologies()) {
    if (file.name == path) {
      return parse_topology({file.bytes.begin(), file.bytes.end()}, path, limits);
    }
    names += (names.empty() ? "" : ", ") + std::string(file.name);
  }
  return Status::io("no such file, and no built-in topology, expected one of " + names).at(path);
}

Status hand_out_machine(const Result<Topology>& read, const placeto_limits* limits,
                        placeto_topology** topology) {
  if (!read.ok()) return read.status();
  return hand_out(read->spec(), limits, topology);
}

// The caller's entries with `ours` behind them, where there are any in a list that is kept.
template <class Entry>
const std::vector<Entry>& joined(const Entry* entries, size_t count, const std::vector<Entry>& ours,
                                 std::deque<std::vector<Entry>>& longer) {
  if (count == 0) return ours;
  std::vector<Entry> both(entries, entries + count);
  both.insert(both.end(), ours.begin(), ours.end());
  return longer.emplace_back(std::move(both));
}

}  // namespace

placeto_status placeto_onnx_load_topology(const char* path, const placeto_limits* limits,
                                          placeto_topology** topology,
                                          placeto_error* error) noexcept {
  if (topology != nullptr) *topology = nullptr;
  return guarded(error, [&]() -> Status {
    Limits bounds;
    if (Status s = check_not_null({{path, "path"}, {topology, "topology"}}); !s.ok()) return s;
    if (Status s = read_limits(limits, bounds); !s.ok()) return s;
    return hand_out_machine(read_machine(file_name(path), bounds), limits, topology);
  });
}

placeto_status placeto_onnx_load_topology_memory(const void* bytes, size_t size,
                                                 const placeto_limits* limits,
                                                 placeto_topology** topology,
                                                 placeto_error* error) noexcept {
  if (topology != nullptr) *topology = nullptr;
  return guarded(error, [&]() -> Status {
    Limits bounds;
    if (Status s = check_not_null({{bytes, "bytes"}, {topology, "topology"}}); !s.ok()) return s;
    if (Status s = read_limits(limits, bounds); !s.ok()) return s;
    const std::span<const uint8_t> content = as_bytes(bytes, size);
    return hand_out_machine(parse_topology({content.begin(), content.end()}, "topology", bounds),
                            limits, topology);
  });
}

placeto_status placeto_onnx_default_policy(placeto_policy** policy, placeto_error* error) noexcept {
  if (policy != nullptr) *policy = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{policy, "policy"}}); !s.ok()) return s;
    const std::span<const uint8_t> bytes = shipped::default_policy();
    if (bytes.empty()) return invalid({"this build has no default policy"});
    placeto_error why;
    return status_of(placeto_policy_load_memory(bytes.data(), bytes.size(), PLACETO_BYTES_COPY,
                                                nullptr, policy, &why),
                     why);
  });
}

placeto_status placeto_onnx_engine_load(const char* path, placeto_onnx_engine** engine,
                                        placeto_error* error) noexcept {
  if (engine != nullptr) *engine = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{path, "path"}, {engine, "engine"}}); !s.ok()) return s;
    Result<EngineDescription> description = EngineDescription::load(file_name(path));
    if (!description.ok()) return description.status();
    *engine = new placeto_onnx_engine{*std::move(description)};
    return {};
  });
}

void placeto_onnx_engine_free(placeto_onnx_engine* engine) noexcept {
  delete engine;
}

placeto_status placeto_onnx_engine_topology(const placeto_onnx_engine* engine,
                                            const placeto_topology* topology,
                                            placeto_topology** changed,
                                            placeto_error* error) noexcept {
  if (changed != nullptr) *changed = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s =
            check_not_null({{engine, "engine"}, {topology, "topology"}, {changed, "changed"}});
        !s.ok()) {
      return s;
    }
    TopologySpec spec;
    if (Status s = take_in(topology, spec); !s.ok()) return s;
    engine->description.change(spec);
    placeto_limits limits;  // it was accepted once
    placeto_default_limits(&limits, sizeof limits);
    limits.max_kinds = limits.max_devices = limits.max_links = kNoLimits.max_links;
    limits.max_name_bytes = kNoLimits.max_name_bytes;
    return hand_out(spec, &limits, changed);
  });
}

placeto_status placeto_onnx_engine_rules(
    const placeto_onnx_engine* engine, const placeto_graph* graph, const placeto_topology* topology,
    const char* const* providers, size_t provider_count, placeto_onnx_note_function on_note,
    void* note_context, placeto_onnx_rules** rules, placeto_error* error) noexcept {
  if (rules != nullptr) *rules = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null(
            {{engine, "engine"}, {graph, "graph"}, {topology, "topology"}, {rules, "rules"}});
        !s.ok()) {
      return s;
    }
    std::vector<std::string> wishes;
    EngineNotes notes;
    if (Status s = read_texts("providers", providers, provider_count, wishes); !s.ok()) return s;
    GraphSpec nodes;
    TopologySpec devices;
    if (Status s = take_in(graph, nodes); !s.ok()) return s;
    if (Status s = take_in(topology, devices); !s.ok()) return s;
    const Result<Graph> g = Graph::build(std::move(nodes), kNoLimits);
    if (!g.ok()) return g.status();
    const Result<Topology> t = Topology::build(std::move(devices), kNoLimits);
    if (!t.ok()) return t.status();
    Rules found;
    if (Status s = engine->description.restrict(*g, *t, wishes, found, notes); !s.ok()) {
      return s.at("providers");
    }
    for (const std::string& text : notes.all()) {
      if (on_note != nullptr) on_note(note_context, text.c_str());
    }
    auto made = std::make_unique<placeto_onnx_rules>();
    made->tolerance = engine->description.tolerance();
    for (const Rules::NodeDevice& f : found.forbids) made->forbids.push_back({f.node, f.device});
    made->colocate = std::move(found.colocate);
    for (const auto& set : made->colocate) {
      made->colocate_lists.push_back({set.data(), set.size()});
    }
    *rules = made.release();
    return {};
  });
}

void placeto_onnx_rules_free(placeto_onnx_rules* rules) noexcept {
  delete rules;
}

placeto_status placeto_onnx_rules_add(placeto_onnx_rules* rules, placeto_options* options,
                                      placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{rules, "rules"}, {options, "options"}}); !s.ok()) return s;
    if (Status s = check_size("placeto_options", *options); !s.ok()) return s;
    if (Status s = check_list("forbids", options->forbids, options->forbid_count); !s.ok()) {
      return s;
    }
    if (Status s = check_list("colocate", options->colocate, options->colocate_count); !s.ok()) {
      return s;
    }
    const std::lock_guard<std::mutex> lock(rules->mutex);
    const auto& forbids =
        joined(options->forbids, options->forbid_count, rules->forbids, rules->longer_forbids);
    const auto& colocate = joined(options->colocate, options->colocate_count, rules->colocate_lists,
                                  rules->longer_colocate);
    options->forbids = forbids.data();
    options->forbid_count = forbids.size();
    options->colocate = colocate.data();
    options->colocate_count = colocate.size();
    constexpr size_t kWithTolerance = offsetof(placeto_options, tolerance) + sizeof(double);
    if (options->struct_size >= kWithTolerance && options->tolerance == 0) {
      options->tolerance = rules->tolerance;
    }
    return {};
  });
}
