// The C interface: placing, by whatever method and policy. Objects: capi.test.cpp.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "tests/unit/capi_policies.h"

using namespace capi_test;

namespace {

Policy small_policy() {
  return load(placeto::test::small_pairwise_policy());
}

}  // namespace

TEST_CASE("two equal branches are placed on two devices") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const Placement placement = place(graph, topology);
  const std::vector<uint32_t> assignment = assignment_of(placement);
  CHECK(assignment[1] != assignment[2]);
  // in 1, transfer 1, the far branch 100, and out 1 beside it: the near branch had started 1
  // sooner, which is what its own transfer takes.
  CHECK(placeto_placement_makespan_us(placement.get()) == doctest::Approx(103));
  CHECK(placeto_placement_lower_bound_us(placement.get()) == doctest::Approx(103));  // proved
  CHECK(placeto_placement_proved(placement.get()) == 1);
  CHECK(placeto_placement_bottleneck_us(placement.get()) > 0);
  CHECK(placeto_placement_replicas_us(placement.get()) == 0);  // of streams alone
  CHECK(placeto_placement_sequential_us(placement.get()) == 0);
  CHECK(placeto_placement_place_time_us(placement.get()) > 0);
  CHECK(placeto_placement_feasible(placement.get()) == 1);
  CHECK(std::string(placeto_placement_note(placement.get())).empty());
  CHECK(placeto_placement_node_count(placement.get()) == 4);
  CHECK(placeto_placement_device_count(placement.get()) == 2);
  for (uint32_t v = 0; v < 4; ++v) {
    CHECK(placeto_placement_device(placement.get(), v) == assignment[v]);
  }
}

// One node, timed on "GPU" or on what is named, whose work is known.
static Graph timed_on(const char* kind) {
  const GraphBuilder builder = graph_builder("timed");
  const char* const kinds[] = {kind};
  REQUIRE(placeto_graph_builder_set_kinds(builder.get(), kinds, 1, nullptr) == PLACETO_OK);
  placeto_node node;
  placeto_default_node(&node, sizeof node);
  const double cost_us = 10;
  node.name = "a";
  node.cost_us = &cost_us;
  node.cost_count = 1;
  node.flops = 1e6;
  node.bytes_accessed = 1e6;
  REQUIRE(placeto_graph_builder_add_node(builder.get(), &node, nullptr, nullptr) == PLACETO_OK);
  return build(builder);
}

// Its rates are known, so that it can run what it has no times for.
static Topology device_of(const char* kind) {
  const TopologyBuilder builder = topology_builder("host", topology_rules(10));
  placeto_device device;
  placeto_default_device(&device, sizeof device);
  device.name = "device";
  device.kind = kind;
  device.peak_flops = device.memory_bandwidth = 1e12;
  REQUIRE(placeto_topology_builder_add_device(builder.get(), &device, nullptr, nullptr) ==
          PLACETO_OK);
  placeto_topology* topology = nullptr;
  REQUIRE(placeto_topology_builder_build(builder.get(), nullptr, &topology, nullptr) == PLACETO_OK);
  return Topology(topology);
}

TEST_CASE("run times on kinds that no device has are told of") {
  const Graph graph = timed_on("GPU");
  const Topology topology = device_of("gpu");
  const std::string unused = "run times on 'GPU' are not used: devices are of 'gpu'";
  const auto note = [](const Placement& placement) {
    return std::string(placeto_placement_note(placement.get()));
  };
  CHECK(note(place(graph, topology)) == unused);
  CHECK(note(score(graph, topology, {0})) == unused);
  CHECK(note(place(timed_on("gpu"), topology)).empty());
  const Policy policy =
      load(placeto::test::small_placeto_policy(2, placeto::test::Looks::kAtLoads));
  const std::string both = note(place(graph, topology, options(), policy.get()));
  CHECK_MESSAGE(both.ends_with("; " + unused), both);
}

TEST_CASE("options may be left out") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  placeto_placement* placement = nullptr;
  REQUIRE(placeto_place(graph.get(), topology.get(), nullptr, nullptr, &placement, nullptr) ==
          PLACETO_OK);
  const Placement with_defaults = place(graph, topology);
  CHECK(assignment_of(Placement(placement)) == assignment_of(with_defaults));
}

TEST_CASE("placing refuses NULL for what it needs") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  placeto_placement* placement = nullptr;
  placeto_error error;
  CHECK(placeto_place(nullptr, topology.get(), nullptr, nullptr, &placement, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "graph"));
  CHECK(placeto_place(graph.get(), nullptr, nullptr, nullptr, &placement, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "topology"));
  CHECK(placeto_place(graph.get(), topology.get(), nullptr, nullptr, nullptr, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "placement"));
}

TEST_CASE("options that make no sense are refused with a message that names them") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const auto refuses = [&](const char* words, auto change) {
    placeto_options wrong = options();
    change(wrong);
    placeto_error error;
    CHECK(try_place(graph, topology, wrong, error) == PLACETO_INVALID_ARGUMENT);
    CHECK_MESSAGE(mentions(error, words), error.message);
  };
  static const placeto_node_device nowhere[] = {{0, 7}};
  static const placeto_node_device nobody[] = {{9, 0}};
  static const placeto_node_list no_nodes[] = {{nullptr, 2}};
  refuses("struct_size", [](placeto_options& o) { o.struct_size -= 16; });
  refuses("struct_size", [](placeto_options& o) { o.struct_size = 0; });
  refuses("objective", [](placeto_options& o) { o.objective = 2; });
  refuses("budget_milliseconds", [](placeto_options& o) { o.budget_milliseconds = -1; });
  refuses("budget_milliseconds", [](placeto_options& o) { o.budget_milliseconds = NAN; });
  refuses("budget_milliseconds", [](placeto_options& o) { o.budget_milliseconds = INFINITY; });
  refuses("passes", [](placeto_options& o) { o.passes = 0; });
  refuses("passes", [](placeto_options& o) { o.passes = 100'001; });
  refuses("headroom", [](placeto_options& o) { o.memory_headroom = 1; });
  refuses("pins", [](placeto_options& o) { o.pin_count = 1; });
  refuses("forbids", [](placeto_options& o) { o.forbid_count = 1; });
  refuses("colocate", [](placeto_options& o) { o.colocate_count = 1; });
  refuses("colocate[0]", [](placeto_options& o) {
    o.colocate = no_nodes;
    o.colocate_count = 1;
  });
  refuses("7", [](placeto_options& o) {
    o.pins = nowhere;
    o.pin_count = 1;
  });
  refuses("9", [](placeto_options& o) {
    o.forbids = nobody;
    o.forbid_count = 1;
  });
  refuses("'heft'", [](placeto_options& o) { o.method = "best"; });
  refuses("policy is NULL", [](placeto_options& o) { o.method = "policy"; });
}

TEST_CASE("one method alone can be asked for") {
  const Graph graph = ladder(6);
  const Topology topology = devices(3);
  for (const char* name : {"heft", "etf", "random", "contiguous", "single", "iterate"}) {
    placeto_options chosen = options();
    chosen.method = name;
    const Placement placement = place(graph, topology, chosen);
    const std::string method = placeto_placement_method(placement.get());
    CHECK(method.substr(0, std::strlen(name)) == name);
    CHECK(placeto_placement_candidate_count(placement.get()) == 1);
  }
}

TEST_CASE("candidates name what was tried; one of them won and none is better") {
  const Graph graph = ladder(8);
  placeto_topology_rules staged = topology_rules(10);
  staged.execution = PLACETO_EXECUTION_STAGED;
  const Topology parallel = devices(2), in_stages = devices(2, 0, staged);
  for (const int i : {0, 1, 2, 3}) {
    const Topology& topology = i < 2 ? parallel : in_stages;
    const int32_t objective = i % 2 == 0 ? PLACETO_LATENCY : PLACETO_THROUGHPUT;
    CAPTURE(i);
    placeto_options chosen = options();
    chosen.objective = objective;
    chosen.budget_evaluations = 300;
    const Placement placement = place(graph, topology, chosen);
    const std::vector<placeto_candidate> candidates = candidates_of(placement);
    CHECK(candidates.size() >= 6);
    const double best = objective == PLACETO_LATENCY
                            ? placeto_placement_makespan_us(placement.get())
                            : placeto_placement_bottleneck_us(placement.get());
    int winners = 0;
    for (const placeto_candidate& candidate : candidates) {
      CHECK(candidate.objective_us >= best);
      CHECK(candidate.makespan_us >= placeto_placement_lower_bound_us(placement.get()));
      CHECK(candidate.feasible == 1);
      if (candidate.won == 0) continue;
      ++winners;
      CHECK(std::string(candidate.method) == placeto_placement_method(placement.get()));
      CHECK(candidate.objective_us == best);
      CHECK(candidate.makespan_us == placeto_placement_makespan_us(placement.get()));
    }
    CHECK(winners == 1);
  }
}

TEST_CASE("a policy takes part, and its place among the candidates is told") {
  const Graph graph = ladder(8);
  const Topology topology = devices(2);
  const Policy policy = small_policy();
  const Placement placement = place(graph, topology, options(), policy.get());
  CHECK(std::string(placeto_placement_note(placement.get())).empty());
  bool tried = false;
  for (const placeto_candidate& c : candidates_of(placement)) {
    tried = tried || std::string(c.method) == "policy";
  }
  CHECK(tried);
  CHECK(placeto_placement_makespan_us(placement.get()) <=
        placeto_placement_makespan_us(place(graph, topology).get()));
  placeto_options alone = options();
  alone.method = "policy";
  CHECK(std::string(placeto_placement_method(place(graph, topology, alone, policy.get()).get())) ==
        "policy");
}

TEST_CASE("a policy's samples are drawn by the seed and never make its placement worse") {
  const Graph graph = ladder(10);
  const Topology topology = devices(3);
  const Policy policy = small_policy();
  placeto_options chosen = options();
  chosen.method = "policy";
  const Placement greedy = place(graph, topology, chosen, policy.get());
  chosen.samples = 20;
  const Placement sampled = place(graph, topology, chosen, policy.get());
  CHECK(placeto_placement_makespan_us(sampled.get()) <=
        placeto_placement_makespan_us(greedy.get()));
  CHECK(assignment_of(place(graph, topology, chosen, policy.get())) == assignment_of(sampled));
  chosen.samples = 100'001;
  placeto_error error;
  placeto_placement* none = nullptr;
  CHECK(placeto_place(graph.get(), topology.get(), policy.get(), &chosen, &none, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "samples is 100001"));
}

TEST_CASE("the same seed and budget give the same placement") {
  const Graph graph = ladder(10);
  const Topology topology = devices(3);
  placeto_options chosen = options();
  chosen.budget_evaluations = 400;
  const std::vector<uint32_t> first = assignment_of(place(graph, topology, chosen));
  CHECK(assignment_of(place(graph, topology, chosen)) == first);
}

TEST_CASE("sixteen threads share a graph, a topology and a policy and all place alike") {
  constexpr int kThreads = 16, kRounds = 3;
  const Graph graph = ladder(12);
  const Topology topology = devices(3);
  const Policy policy = small_policy();
  placeto_options chosen = options();
  chosen.budget_evaluations = 200;
  const std::vector<uint32_t> expected =
      assignment_of(place(graph, topology, chosen, policy.get()));
  std::atomic<int> alike{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        placeto_placement* raw = nullptr;
        placeto_error error;
        if (placeto_place(graph.get(), topology.get(), policy.get(), &chosen, &raw, &error) !=
            PLACETO_OK) {
          continue;
        }
        const Placement placement(raw);
        std::vector<uint32_t> devices(expected.size());
        placeto_reason reason;
        reason.struct_size = sizeof reason;
        const bool ok = placeto_placement_assignment(raw, devices.data(), devices.size(), &error) ==
                            PLACETO_OK &&
                        placeto_placement_explain(raw, 1, &reason, &error) == PLACETO_OK;
        if (ok && devices == expected) ++alike;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(alike == kThreads * kRounds);
}
