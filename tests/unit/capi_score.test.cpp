// The C interface: placements as objects: read out, brought by the caller, saved.
#include <doctest/doctest.h>

#include "tests/unit/capi_support.h"

using namespace capi_test;

// Four equal devices that run in stages, which cost as much as a node or two.
static Topology staged_devices() {
  placeto_topology_rules rules = topology_rules(1000);
  rules.execution = PLACETO_EXECUTION_STAGED;
  const TopologyBuilder builder = topology_builder("staged", rules);
  for (const char* name : {"gpu:0", "gpu:1", "gpu:2", "gpu:3"}) {
    placeto_device device;
    REQUIRE(placeto_default_device(&device, sizeof device) == PLACETO_OK);
    device.name = name;
    device.kind = "gpu";
    device.stage_us = 20;
    device.cut_us = 5;
    REQUIRE(placeto_topology_builder_add_device(builder.get(), &device, nullptr, nullptr) ==
            PLACETO_OK);
  }
  placeto_topology* topology = nullptr;
  REQUIRE(placeto_topology_builder_build(builder.get(), nullptr, &topology, nullptr) == PLACETO_OK);
  return Topology(topology);
}

static std::vector<uint8_t> encoded(const Placement& placement) {
  size_t size = 0;
  placeto_placement_encode(placement.get(), nullptr, 0, &size, nullptr);
  std::vector<uint8_t> bytes(size);
  REQUIRE(placeto_placement_encode(placement.get(), bytes.data(), size, &size, nullptr) ==
          PLACETO_OK);
  return bytes;
}

static std::vector<uint32_t> stages_of(const Placement& placement) {
  std::vector<uint32_t> stages(placeto_placement_node_count(placement.get()));
  REQUIRE(placeto_placement_stages(placement.get(), stages.data(), stages.size(), nullptr) ==
          PLACETO_OK);
  return stages;
}

// One node that 28 read, unlike in cost, and one that reads all of these.
static Graph fork_join() {
  const GraphBuilder builder = graph_builder("fork_join");
  const uint32_t fork = add_node(builder.get(), "fork", 50, 4000);
  const uint32_t join = add_node(builder.get(), "join", 50, 10);
  for (uint32_t i = 0; i < 28; ++i) {
    const uint32_t branch = add_node(builder.get(), "branch" + std::to_string(i),
                                     100 + 37 * i % 101 * 4, 1000 * (1 + 13 * i % 29));
    add_edge(builder.get(), fork, branch);
    add_edge(builder.get(), branch, join);
  }
  return build(builder);
}

TEST_CASE("results go into the caller's arrays, which must be large enough") {
  const Placement placement = place(diamond(), devices(2));
  const placeto_placement* p = placement.get();
  placeto_error error;
  uint32_t nodes[4];
  uint64_t bytes[2];
  double start_us[4], finish_us[4];
  CHECK(placeto_placement_assignment(p, nodes, 3, &error) == PLACETO_BUFFER_TOO_SMALL);
  CHECK(mentions(error, "4"));
  CHECK(placeto_placement_assignment(p, nullptr, 4, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_assignment(nullptr, nodes, 4, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_peak_memory(p, bytes, 1, &error) == PLACETO_BUFFER_TOO_SMALL);
  CHECK(placeto_placement_peak_memory(p, nullptr, 2, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_peak_memory(nullptr, bytes, 2, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_shortfall(p, bytes, 1, &error) == PLACETO_BUFFER_TOO_SMALL);
  CHECK(placeto_placement_shortfall(p, nullptr, 2, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_shortfall(nullptr, bytes, 2, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_times(p, start_us, finish_us, 3, &error) == PLACETO_BUFFER_TOO_SMALL);
  CHECK(placeto_placement_times(nullptr, start_us, finish_us, 4, &error) ==
        PLACETO_INVALID_ARGUMENT);

  CHECK(placeto_placement_times(p, start_us, finish_us, 4, &error) == PLACETO_OK);
  CHECK(start_us[0] == 0);
  CHECK(finish_us[3] == placeto_placement_makespan_us(p));
  CHECK(placeto_placement_times(p, nullptr, finish_us, 4, &error) == PLACETO_OK);
  CHECK(placeto_placement_peak_memory(p, bytes, 2, &error) == PLACETO_OK);
  CHECK(bytes[0] >= 100);
  CHECK(bytes[0] + bytes[1] >= 400);
  CHECK(placeto_placement_shortfall(p, bytes, 2, &error) == PLACETO_OK);
  CHECK(bytes[0] + bytes[1] == 0);
  CHECK(placeto_placement_device(p, 4) == PLACETO_NONE);

  placeto_candidate candidate;
  candidate.struct_size = sizeof candidate;
  CHECK(placeto_placement_candidate(p, 1'000, &candidate, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_candidate(p, 0, nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_candidate(nullptr, 0, &candidate, &error) == PLACETO_INVALID_ARGUMENT);
  candidate.struct_size = 1;
  CHECK(placeto_placement_candidate(p, 0, &candidate, &error) == PLACETO_INVALID_ARGUMENT);
}

TEST_CASE("getters of a placement answer nothing for NULL") {
  CHECK(placeto_placement_node_count(nullptr) == 0);
  CHECK(placeto_placement_device_count(nullptr) == 0);
  CHECK(placeto_placement_device(nullptr, 0) == PLACETO_NONE);
  CHECK(placeto_placement_makespan_us(nullptr) == 0);
  CHECK(placeto_placement_bottleneck_us(nullptr) == 0);
  CHECK(placeto_placement_proved(nullptr) == 0);
  CHECK(placeto_placement_replicas_us(nullptr) == 0);
  CHECK(placeto_placement_sequential_us(nullptr) == 0);
  CHECK(placeto_placement_lower_bound_us(nullptr) == 0);
  CHECK(placeto_placement_place_time_us(nullptr) == 0);
  CHECK(placeto_placement_feasible(nullptr) == 0);
  CHECK(placeto_placement_candidate_count(nullptr) == 0);
  CHECK(std::string(placeto_placement_method(nullptr)).empty());
  CHECK(std::string(placeto_placement_note(nullptr)).empty());
}

TEST_CASE("a placement that the caller brings is scored, even if memory is exceeded") {
  const Graph graph = diamond();
  const Placement together = score(graph, devices(2), {0, 0, 0, 0});
  CHECK(placeto_placement_makespan_us(together.get()) == doctest::Approx(202));
  CHECK(placeto_placement_feasible(together.get()) == 1);
  CHECK(std::string(placeto_placement_method(together.get())) == "given");
  CHECK(placeto_placement_place_time_us(together.get()) == 0);
  CHECK(candidates_of(together).size() == 1);
  const Placement tight = score(graph, devices(2, 300), {0, 0, 0, 0});
  CHECK(placeto_placement_feasible(tight.get()) == 0);
  uint64_t peak[2], shortfall[2];
  CHECK(placeto_placement_peak_memory(tight.get(), peak, 2, nullptr) == PLACETO_OK);
  CHECK(placeto_placement_shortfall(tight.get(), shortfall, 2, nullptr) == PLACETO_OK);
  CHECK(shortfall[0] == peak[0] - 300);
  CHECK(shortfall[0] >= 100);
  CHECK(shortfall[1] == 0);
}

TEST_CASE("placing and scoring agree") {
  const Graph graph = ladder(8);
  const Topology topology = devices(3);
  const Placement placed = place(graph, topology);
  const Placement scored = score(graph, topology, assignment_of(placed));
  CHECK(placeto_placement_makespan_us(scored.get()) == placeto_placement_makespan_us(placed.get()));
}

TEST_CASE("scoring refuses placements that break rules, and says which node does") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const uint32_t together[] = {1, 2};
  const placeto_node_list colocate[] = {{together, 2}};
  const placeto_node_device pins[] = {{3, 1}};
  const auto refuses = [&](std::vector<uint32_t> assignment, const placeto_options& rules,
                           const char* words) {
    placeto_placement* placement = nullptr;
    placeto_error error;
    CHECK(placeto_score(graph.get(), topology.get(), assignment.data(), assignment.size(), &rules,
                        &placement, &error) == PLACETO_INVALID_ARGUMENT);
    CHECK(placement == nullptr);
    CHECK_MESSAGE(mentions(error, words), error.message);
  };
  refuses({0, 0, 0}, options(), "expected 4");
  refuses({0, 0, 0, 0, 0}, options(), "expected 4");
  refuses({0, 0, 2, 0}, options(), "nodes[2] 'right' is on device 2, expected a number below 2");
  placeto_options rules = options();
  rules.pins = pins;
  rules.pin_count = 1;
  refuses({0, 0, 0, 0}, rules,
          "nodes[3] 'out' is on device 0 'gpu:0', expected a device that it may run on");
  rules.colocate = colocate;
  rules.colocate_count = 1;
  refuses({0, 0, 1, 1}, rules,
          "nodes[2] 'right' is on device 1 'gpu:1', expected that of nodes[1] 'left'");
  rules.struct_size = 1;
  refuses({0, 0, 0, 1}, rules, "struct_size");

  placeto_placement* placement = nullptr;
  placeto_error error;
  const uint32_t fine[4] = {0, 0, 0, 0};
  CHECK(placeto_score(nullptr, topology.get(), fine, 4, nullptr, &placement, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_score(graph.get(), nullptr, fine, 4, nullptr, &placement, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_score(graph.get(), topology.get(), nullptr, 4, nullptr, &placement, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_score(graph.get(), topology.get(), fine, 4, nullptr, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  REQUIRE(placeto_score(graph.get(), topology.get(), fine, 4, nullptr, &placement, &error) ==
          PLACETO_OK);
  placeto_placement_free(placement);
}

TEST_CASE("a saved placement is read back for the same graph and topology only") {
  const Graph graph = ladder(3);
  const Topology topology = devices(2);
  const Placement placement = place(graph, topology);
  placeto_error error;
  size_t size = 0;
  REQUIRE(placeto_placement_encode(placement.get(), nullptr, 0, &size, &error) == PLACETO_OK);
  std::vector<uint8_t> bytes(size);
  CHECK(placeto_placement_encode(placement.get(), bytes.data(), size - 1, &size, &error) ==
        PLACETO_BUFFER_TOO_SMALL);
  CHECK(size == bytes.size());
  REQUIRE(placeto_placement_encode(placement.get(), bytes.data(), size, &size, &error) ==
          PLACETO_OK);
  CHECK(placeto_placement_encode(nullptr, bytes.data(), size, &size, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_encode(placement.get(), bytes.data(), size, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);

  std::vector<uint32_t> read(placeto_graph_node_count(graph.get()));
  const auto decode = [&](const void* data, const placeto_graph* g, const placeto_topology* t,
                          uint32_t* to, size_t capacity) {
    return placeto_assignment_decode(data, bytes.size(), g, t, nullptr, to, capacity, &error);
  };
  const placeto_graph* g = graph.get();
  const placeto_topology* t = topology.get();
  REQUIRE(decode(bytes.data(), g, t, read.data(), read.size()) == PLACETO_OK);
  CHECK(read == assignment_of(placement));
  CHECK(decode(bytes.data(), g, t, read.data(), 3) == PLACETO_BUFFER_TOO_SMALL);
  CHECK(decode(nullptr, g, t, read.data(), read.size()) == PLACETO_INVALID_ARGUMENT);
  CHECK(decode(bytes.data(), nullptr, t, read.data(), read.size()) == PLACETO_INVALID_ARGUMENT);
  CHECK(decode(bytes.data(), g, nullptr, read.data(), read.size()) == PLACETO_INVALID_ARGUMENT);
  CHECK(decode(bytes.data(), g, t, nullptr, read.size()) == PLACETO_INVALID_ARGUMENT);
  CHECK(decode(bytes.data(), diamond().get(), t, read.data(), read.size()) == PLACETO_BAD_INPUT);
  bytes[5] ^= 1;
  CHECK(decode(bytes.data(), g, t, read.data(), read.size()) == PLACETO_BAD_INPUT);
}

TEST_CASE("a saved placement has the stages that were searched for when it is read") {
  const Graph graph = fork_join();
  const Topology topology = staged_devices();
  placeto_options search = options();
  search.budget_evaluations = 1'000;
  const Placement placed = place(graph, topology, search);
  const double placed_us = placeto_placement_makespan_us(placed.get());
  const Placement scored = score(graph, topology, assignment_of(placed));
  REQUIRE(placeto_placement_makespan_us(scored.get()) > placed_us);  // by rule it takes longer
  const std::vector<uint8_t> bytes = encoded(placed);
  const auto decode = [&](const placeto_graph* g, const placeto_options* rules,
                          placeto_error& error) {
    placeto_placement* read = nullptr;
    const placeto_status status = placeto_placement_decode(bytes.data(), bytes.size(), g,
                                                           topology.get(), rules, &read, &error);
    CHECK((read != nullptr) == (status == PLACETO_OK));
    return Placement(read);
  };
  placeto_error error;
  const Placement read = decode(graph.get(), nullptr, error);
  REQUIRE(read != nullptr);
  CHECK(placeto_placement_makespan_us(read.get()) == placed_us);
  CHECK(stages_of(read) == stages_of(placed));
  CHECK(encoded(read) == bytes);
  CHECK(std::string(placeto_placement_method(read.get())) ==
        placeto_placement_method(placed.get()));
  placeto_reason before, after;
  before.struct_size = after.struct_size = sizeof before;
  REQUIRE(placeto_placement_explain(placed.get(), 3, &before, nullptr) == PLACETO_OK);
  REQUIRE(placeto_placement_explain(read.get(), 3, &after, nullptr) == PLACETO_OK);
  CHECK(after.cost_us == before.cost_us);
  CHECK(after.second_cost_us == before.second_cost_us);

  const placeto_node_device elsewhere[] = {{3, (assignment_of(placed)[3] + 1) % 4}};
  placeto_options pinned = options();
  pinned.pins = elsewhere;
  pinned.pin_count = 1;
  CHECK(decode(graph.get(), &pinned, error) == nullptr);
  CHECK_MESSAGE(mentions(error, "expected"), error.message);
  CHECK(decode(ladder(7).get(), nullptr, error) == nullptr);
  CHECK_MESSAGE(mentions(error, "one for each node of graph 'ladder'"), error.message);
  CHECK(decode(nullptr, nullptr, error) == nullptr);
  CHECK(placeto_placement_decode(bytes.data(), bytes.size() / 2, graph.get(), topology.get(),
                                 nullptr, nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  placeto_placement* none = nullptr;
  CHECK(placeto_placement_decode(bytes.data(), bytes.size() / 2, graph.get(), topology.get(),
                                 nullptr, &none, &error) == PLACETO_BAD_INPUT);
}
