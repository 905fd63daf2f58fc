#include "tests/fuzz/capi_objects.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/placer/placer.h"
#include "tests/fuzz/check.h"

namespace placeto::fuzz {
namespace {

constexpr uint32_t kMostNodes = 16, kMostDevices = 5;

using GraphBuilder = std::unique_ptr<placeto_graph_builder,
                                     Deleter<placeto_graph_builder, placeto_graph_builder_free>>;
using TopologyBuilder =
    std::unique_ptr<placeto_topology_builder,
                    Deleter<placeto_topology_builder, placeto_topology_builder_free>>;

void add_node(Input& input, placeto_graph_builder* builder, uint32_t kinds) {
  placeto_node node;
  check(placeto_default_node(&node, sizeof node) == PLACETO_OK, "a node has defaults");
  const std::string name = input.text("n", 200), key = input.text("key", 3);
  const std::string kind = input.text("kind", 3);
  const char* const allowed[] = {kind.c_str()};
  std::vector<double> costs;
  std::vector<uint64_t> outputs;
  if (!input.one_in(8)) costs.push_back(input.number());
  while (!costs.empty() && costs.size() < kinds) {
    costs.push_back(input.one_in(8) ? -1 : input.number());
  }
  for (uint32_t i = input.below(3); i > 0; --i) outputs.push_back(input.size());
  node.name = input.one_in(8) ? nullptr : name.c_str();
  node.op = input.one_in(2) ? "Conv" : nullptr;
  node.cost_us = costs.data();
  node.cost_count = costs.size();
  node.outputs = outputs.data();
  node.output_count = outputs.size();
  node.resident_bytes = input.size();
  node.workspace_bytes = input.one_in(3) ? input.size() : 0;
  node.flops = input.size();
  node.bytes_accessed = input.size();
  node.launches = node.flops % 3 == 1 ? node.bytes_accessed : 0;
  node.colocate = input.one_in(6) ? key.c_str() : nullptr;
  node.allowed_kinds = allowed;
  node.allowed_kind_count = input.one_in(8) ? 1 : 0;
  node.domain = node.op == nullptr ? key.c_str() : nullptr;
  node.opset = static_cast<uint32_t>(node.flops);
  node.input_types = allowed;
  node.input_type_count = node.opset % 2;
  node.fused = node.flops % 5 == 1;
  placeto_error error;
  check_outcome(placeto_graph_builder_add_node(builder, &node, nullptr, &error), error);
}

// Mostly from a lower to a higher number, which makes no cycle.
void add_edge(Input& input, placeto_graph_builder* builder, uint32_t nodes) {
  uint32_t source = input.below(nodes), target = input.below(nodes);
  uint32_t output = input.one_in(4) ? PLACETO_CONTROL_EDGE : 0;
  if (source > target) std::swap(source, target);
  if (input.one_in(64)) {
    source = input.word();
    output = input.word();
  }
  placeto_error error;
  check_outcome(placeto_graph_builder_add_edge(builder, source, output, target, &error), error);
}

void add_device(Input& input, placeto_topology_builder* builder, uint32_t index) {
  placeto_device device;
  check(placeto_default_device(&device, sizeof device) == PLACETO_OK, "a device has defaults");
  const std::string name = input.one_in(16) ? input.text("d", 3) : "d" + std::to_string(index);
  const std::string kind = input.text("kind", 3);
  device.name = name.c_str();
  device.kind = kind.c_str();
  device.memory_bytes = input.one_in(3) ? 4 * input.size() : 0;
  device.peak_flops = input.one_in(8) ? input.number() : 1e12;
  device.memory_bandwidth = input.one_in(8) ? input.number() : 1e11;
  if (input.one_in(3)) device.slowdown = input.number();
  placeto_error error;
  check_outcome(placeto_topology_builder_add_device(builder, &device, nullptr, &error), error);
}

void add_link(Input& input, placeto_topology_builder* builder) {
  placeto_link link;
  check(placeto_default_link(&link, sizeof link) == PLACETO_OK, "a link has defaults");
  const std::string from = input.text("d", 3), to = input.text("d", 3);
  const std::string channel = input.text("bus", 2);
  link.from = from.c_str();
  link.to = to.c_str();
  link.bandwidth_bytes_per_us = 1 + input.number();
  link.gap_us = input.one_in(3) ? input.number() : 0;
  link.latency_us = input.one_in(8) ? input.number() : 0;
  link.channel = input.one_in(2) ? channel.c_str() : nullptr;
  placeto_error error;
  check_outcome(placeto_topology_builder_add_link(builder, &link, &error), error);
}

void set_rules(Input& input, placeto_topology_builder* builder) {
  placeto_topology_rules rules;
  check(placeto_default_topology_rules(&rules, sizeof rules) == PLACETO_OK, "rules have defaults");
  rules.op_gap_us = input.one_in(4) ? input.number() : 0;
  for (int32_t* choice : {&rules.contention, &rules.transfer, &rules.execution, &rules.dispatch}) {
    *choice = input.one_in(64) ? input.byte() - 128 : static_cast<int32_t>(input.below(2));
  }
  rules.bandwidth_bytes_per_us = input.one_in(8) ? input.number() : 10;
  const bool unicast = rules.transfer == PLACETO_TRANSFER_UNICAST;
  rules.latency_us = unicast || input.one_in(32) ? input.number() : 0;
  rules.gap_us = input.one_in(3) ? input.number() : 0;
  placeto_error error;
  check_outcome(placeto_topology_builder_set_rules(builder, &rules, &error), error);
}

}  // namespace

bool check_outcome(placeto_status status, const placeto_error& error) {
  check(status == error.status, "the error has the status of the call");
  check(std::memchr(error.message, 0, sizeof error.message) != nullptr, "a message ends");
  check((status == PLACETO_OK) == (error.message[0] == 0), "there is a message if it failed");
  const bool possible = status == PLACETO_OK || status == PLACETO_INFEASIBLE ||
                        status == PLACETO_NOT_FOUND || status == PLACETO_INVALID_ARGUMENT ||
                        status == PLACETO_BAD_INPUT;
  if (!possible) std::fprintf(stderr, "fuzz: %s\n", error.message);
  check(possible, "no input is a fault of the library");
  return status == PLACETO_OK;
}

GraphHandle make_graph(Input& input) {
  placeto_graph_builder* raw = nullptr;
  placeto_error error;
  check(placeto_graph_builder_create("graph", &raw, &error) == PLACETO_OK, "a builder is made");
  const GraphBuilder builder(raw);
  const char* const kinds[] = {"kind0", "kind1", "kind2"};
  const uint32_t kind_count = input.below(4), nodes = 1 + input.below(kMostNodes);
  check_outcome(placeto_graph_builder_set_kinds(raw, kinds, kind_count, &error), error);
  for (uint32_t v = 0; v < nodes; ++v) add_node(input, raw, kind_count);
  for (uint32_t e = input.below(2 * nodes); e > 0; --e) add_edge(input, raw, nodes);
  placeto_graph* graph = nullptr;
  const bool ok = check_outcome(placeto_graph_builder_build(raw, nullptr, &graph, &error), error);
  check(ok == (graph != nullptr), "there is a graph if it succeeded");
  return GraphHandle(graph);
}

TopologyHandle make_topology(Input& input) {
  placeto_topology_builder* raw = nullptr;
  placeto_error error;
  check(placeto_topology_builder_create("host", &raw, &error) == PLACETO_OK, "a builder is made");
  const TopologyBuilder builder(raw);
  set_rules(input, raw);
  const uint32_t devices = 1 + input.below(kMostDevices);
  for (uint32_t d = 0; d < devices; ++d) add_device(input, raw, d);
  for (uint32_t e = input.one_in(2) ? input.below(6) : 0; e > 0; --e) add_link(input, raw);
  placeto_topology* topology = nullptr;
  const bool ok =
      check_outcome(placeto_topology_builder_build(raw, nullptr, &topology, &error), error);
  check(ok == (topology != nullptr), "there is a topology if it succeeded");
  return TopologyHandle(topology);
}

// Every method, and one that is none.
static std::vector<std::string> methods() {
  const std::vector<std::string_view> names = placer_names();
  std::vector<std::string> all(names.begin(), names.end());
  all.push_back("other");
  return all;
}

void choose_options(Input& input, uint32_t nodes, uint32_t devices, Options& options) {
  static const std::vector<std::string> kMethods = methods();
  placeto_options& value = options.value;
  check(placeto_default_options(&value, sizeof value) == PLACETO_OK, "options have defaults");
  value.method = input.one_in(4)
                     ? kMethods[input.below(static_cast<uint32_t>(kMethods.size()))].c_str()
                     : nullptr;
  value.seed = input.byte();
  value.budget_evaluations = 1 + input.below(64);
  value.passes = input.below(4);
  value.objective = input.one_in(64) ? input.byte() : static_cast<int32_t>(input.below(2));
  value.memory_headroom = input.one_in(16) ? input.number() : 0.01 * input.below(50);
  const auto some_node = [&] { return input.one_in(64) ? input.word() : input.below(nodes); };
  const auto some_device = [&] { return input.one_in(64) ? input.word() : input.below(devices); };
  const auto few = [&] { return input.one_in(3) ? input.below(4) : 0; };
  for (uint32_t i = few(); i > 0; --i) {
    const uint32_t node = some_node();
    options.pins.push_back({node, some_device()});
  }
  for (uint32_t i = few(); i > 0; --i) {
    const uint32_t node = some_node();
    options.forbids.push_back({node, some_device()});
  }
  for (uint32_t i = few(); i > 0; --i) options.together.push_back(some_node());
  options.colocate = {options.together.data(), options.together.size()};
  options.shortfall.assign(devices, 0);
  value.pins = options.pins.data();
  value.pin_count = options.pins.size();
  value.forbids = options.forbids.data();
  value.forbid_count = options.forbids.size();
  value.colocate = &options.colocate;
  value.colocate_count = options.together.empty() ? 0 : 1;
  value.shortfall_bytes = options.shortfall.data();
  value.shortfall_capacity = options.shortfall.size();
}

}  // namespace placeto::fuzz
