// One allocation, of any number, fails: the library must answer
// PLACETO_OUT_OF_MEMORY, leak nothing and stay usable, wherever it happens.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/policy/file/policy_file.h"
#include "tests/faults/failing_memory.h"
#include "tests/support/examples.h"
#include "tests/support/small_policies.h"
#include "tests/unit/capi_support.h"

namespace {

using namespace capi_test;  // NOLINT
using placeto::test::failing_memory;

// Calls `act`, which frees all it makes and returns a status, with the first allocation failing,
// then the second, and so on until none is left; beyond the first `most_dense`, every one in
// twenty. Returns how many failures were tried.
uint64_t fail_everywhere(const std::function<placeto_status(placeto_error*)>& act,
                         uint64_t most_dense = 2000) {
  placeto_error error;
  REQUIRE(act(&error) == PLACETO_OK);  // also makes what the standard library keeps for ever
  uint64_t tried = 0;
  for (uint64_t k = 1;; k += k < most_dense ? 1 : 1 + k / 20) {
    failing_memory.has_failed = failing_memory.has_thrown = false;
    const int64_t before = failing_memory.alive;
    failing_memory.fail_in = k;
    const placeto_status status = act(&error);
    failing_memory.fail_in = 0;
    CAPTURE(k);
    REQUIRE(failing_memory.alive == before);
    if (!failing_memory.has_failed) {
      REQUIRE(status == PLACETO_OK);
      return tried;
    }
    ++tried;
    // The standard library's sorts ask for memory that they can do without.
    if (!failing_memory.has_thrown && status == PLACETO_OK) continue;
    REQUIRE(status == PLACETO_OUT_OF_MEMORY);
    REQUIRE(error.status == PLACETO_OUT_OF_MEMORY);
    REQUIRE(mentions(error, "memory"));
  }
}

// The bytes of an object in its file form.
template <class Handle, class Encode>
std::vector<uint8_t> encoded(const Handle* object, Encode encode) {
  size_t size = 0;
  placeto_error error;
  REQUIRE(encode(object, nullptr, 0, &size, &error) == PLACETO_OK);
  std::vector<uint8_t> bytes(size);
  REQUIRE(encode(object, bytes.data(), size, &size, &error) == PLACETO_OK);
  return bytes;
}

// A ladder with colocated rungs and names: every list of a graph has entries.
Graph rung_graph(uint32_t rungs) {
  const GraphBuilder builder = graph_builder("ladder");
  for (uint32_t v = 0; v < 2 * rungs; ++v) {
    const std::string key = "rung with a long name " + std::to_string(v / 2);
    add_node(builder.get(), "node with a long name " + std::to_string(v), 10.0 + v % 7,
             1000 + v % 13 * 100, v % 8 < 2 ? key.c_str() : nullptr);
    if (v < 2) continue;
    REQUIRE(placeto_graph_builder_add_edge(builder.get(), v - 2, 0, v, nullptr) == PLACETO_OK);
  }
  placeto_graph* graph = nullptr;
  REQUIRE(placeto_graph_builder_build(builder.get(), nullptr, &graph, nullptr) == PLACETO_OK);
  return Graph(graph);
}

enum class Way { kBroadcast, kUnicast, kStaged };

Topology three_devices(Way way, uint64_t memory_bytes) {
  placeto_topology_rules rules = topology_rules(100);
  rules.gap_us = 1;
  if (way == Way::kUnicast) rules.transfer = PLACETO_TRANSFER_UNICAST;
  if (way == Way::kStaged) rules.execution = PLACETO_EXECUTION_STAGED;
  const TopologyBuilder builder = topology_builder("three", rules);
  for (const char* name : {"gpu:0 with a long name", "gpu:1 with a long name", "gpu:2"}) {
    placeto_device device;
    REQUIRE(placeto_default_device(&device, sizeof device) == PLACETO_OK);
    device.name = name;
    device.kind = "gpu";
    device.memory_bytes = memory_bytes;
    REQUIRE(placeto_topology_builder_add_device(builder.get(), &device, nullptr, nullptr) ==
            PLACETO_OK);
  }
  placeto_topology* topology = nullptr;
  REQUIRE(placeto_topology_builder_build(builder.get(), nullptr, &topology, nullptr) == PLACETO_OK);
  return Topology(topology);
}

Policy policy_of(const placeto::PolicySpec& spec) {
  const auto bytes = *placeto::encode_policy(spec);
  placeto_policy* policy = nullptr;
  REQUIRE(placeto_policy_load_memory(bytes.data(), bytes.size(), PLACETO_BYTES_COPY, nullptr,
                                     &policy, nullptr) == PLACETO_OK);
  return Policy(policy);
}

placeto_options searching(uint64_t evaluations) {
  placeto_options options;
  REQUIRE(placeto_default_options(&options, sizeof options) == PLACETO_OK);
  options.budget_evaluations = evaluations;
  options.passes = 2;
  return options;
}

uint64_t fail_while_placing(const Graph& graph, const Topology& topology, const Policy& policy,
                            const placeto_options& options, uint64_t most_dense) {
  return fail_everywhere(
      [&](placeto_error* error) {
        placeto_placement* placement = nullptr;
        const placeto_status status =
            placeto_place(graph.get(), topology.get(), policy.get(), &options, &placement, error);
        REQUIRE((placement == nullptr) == (status != PLACETO_OK));
        placeto_placement_free(placement);
        return status;
      },
      most_dense);
}

}  // namespace

TEST_CASE("loading a graph, a topology or a policy survives every failing allocation") {
  const std::vector<uint8_t> graph_bytes = encoded(rung_graph(12).get(), placeto_graph_encode);
  const std::vector<uint8_t> topology_bytes =
      encoded(three_devices(Way::kUnicast, 0).get(), placeto_topology_encode);
  const auto policy_bytes = *placeto::encode_policy(placeto::test::small_pairwise_policy());
  uint64_t tried = fail_everywhere([&](placeto_error* error) {
    placeto_graph* graph = nullptr;
    const placeto_status status =
        placeto_graph_load_memory(graph_bytes.data(), graph_bytes.size(), nullptr, &graph, error);
    REQUIRE((graph == nullptr) == (status != PLACETO_OK));
    placeto_graph_free(graph);
    return status;
  });
  CHECK(tried > 30);
  tried = fail_everywhere([&](placeto_error* error) {
    placeto_topology* topology = nullptr;
    const placeto_status status = placeto_topology_load_memory(
        topology_bytes.data(), topology_bytes.size(), nullptr, &topology, error);
    REQUIRE((topology == nullptr) == (status != PLACETO_OK));
    placeto_topology_free(topology);
    return status;
  });
  CHECK(tried > 10);
  tried = fail_everywhere([&](placeto_error* error) {
    placeto_policy* policy = nullptr;
    const placeto_status status = placeto_policy_load_memory(
        policy_bytes.data(), policy_bytes.size(), PLACETO_BYTES_COPY, nullptr, &policy, error);
    REQUIRE((policy == nullptr) == (status != PLACETO_OK));
    placeto_policy_free(policy);
    return status;
  });
  CHECK(tried > 10);
}

TEST_CASE("building a graph node by node survives every failing allocation") {
  const uint64_t tried = fail_everywhere([](placeto_error* error) {
    placeto_graph_builder* builder = nullptr;
    placeto_status status = placeto_graph_builder_create("made by hand", &builder, error);
    const double us = 3;
    const uint64_t bytes = 100;
    const char* const kinds[] = {"a kind with a long name"};
    for (int v = 0; v < 5 && status == PLACETO_OK; ++v) {
      placeto_node node;
      REQUIRE(placeto_default_node(&node, sizeof node) == PLACETO_OK);
      const char* const name = "a name that does not fit into the string itself";
      node.name = node.colocate = name;
      node.cost_us = &us;
      node.cost_count = 1;
      node.outputs = &bytes;
      node.output_count = 1;
      node.allowed_kinds = kinds;
      node.allowed_kind_count = 1;
      node.domain = name;
      node.input_types = kinds;
      node.input_type_count = 1;
      status = placeto_graph_builder_add_node(builder, &node, nullptr, error);
      if (status == PLACETO_OK && v > 0) {
        status = placeto_graph_builder_add_edge(builder, 0, 0, static_cast<uint32_t>(v), error);
      }
    }
    placeto_graph* graph = nullptr;
    if (status == PLACETO_OK) status = placeto_graph_builder_build(builder, nullptr, &graph, error);
    placeto_graph_free(graph);
    placeto_graph_builder_free(builder);
    return status;
  });
  CHECK(tried > 30);
}

TEST_CASE("placing survives every failing allocation") {
  // The fewer rungs are solved, the more are searched, also on fewer of the devices.
  for (const uint32_t rungs : {8, 16}) {
    const Graph graph = rung_graph(rungs);
    for (const Way way : {Way::kBroadcast, Way::kUnicast, Way::kStaged}) {
      CAPTURE(rungs);
      CAPTURE(static_cast<int>(way));
      const Topology topology = three_devices(way, 1'500 * rungs);
      const Policy pairwise = policy_of(placeto::test::small_leaping_policy());
      const Policy published =
          policy_of(placeto::test::small_placeto_policy(3, placeto::test::Looks::kAtLoads));
      CHECK(fail_while_placing(graph, topology, pairwise, searching(15),
                               placeto::test::examples(2000)) > 300);
      CHECK(fail_while_placing(graph, topology, published, searching(15),
                               placeto::test::examples(2000)) > 300);
    }
  }
}

TEST_CASE("placing a larger graph survives failing allocations, too") {
  const Graph graph = rung_graph(300);
  const Topology topology = three_devices(Way::kBroadcast, 0);
  const Policy policy = policy_of(placeto::test::small_pairwise_policy());
  CHECK(fail_while_placing(graph, topology, policy, searching(10), 100) > 100);
}

TEST_CASE("what is asked of a placement survives every failing allocation") {
  const Graph graph = rung_graph(8);
  const Topology topology = three_devices(Way::kBroadcast, 0);
  const placeto_options options = searching(10);
  std::vector<uint8_t> buffer(100'000);
  std::vector<uint32_t> devices(16);
  const uint64_t tried = fail_everywhere([&](placeto_error* error) {
    placeto_placement* placement = nullptr;
    placeto_status status =
        placeto_place(graph.get(), topology.get(), nullptr, &options, &placement, error);
    if (status == PLACETO_OK) {
      placeto_reason reason;
      reason.struct_size = sizeof reason;
      status = placeto_placement_explain(placement, 3, &reason, error);
    }
    size_t size = 0;
    if (status == PLACETO_OK) {
      status = placeto_placement_encode(placement, buffer.data(), buffer.size(), &size, error);
    }
    if (status == PLACETO_OK) {
      status = placeto_assignment_decode(buffer.data(), size, graph.get(), topology.get(), nullptr,
                                         devices.data(), devices.size(), error);
    }
    placeto_placement* scored = nullptr;
    if (status == PLACETO_OK) {
      status = placeto_score(graph.get(), topology.get(), devices.data(), devices.size(), nullptr,
                             &scored, error);
    }
    placeto_placement* read = nullptr;
    if (status == PLACETO_OK) {
      status = placeto_placement_decode(buffer.data(), size, graph.get(), topology.get(), nullptr,
                                        &read, error);
    }
    placeto_placement_free(read);
    placeto_placement_free(scored);
    placeto_placement_free(placement);
    return status;
  });
  CHECK(tried > 300);
}
