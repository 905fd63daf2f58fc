// The C interface: placing, scoring, and what placements say. Objects: capi.test.cpp.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "runtime/policy/policy_file.h"
#include "tests/support/small_policies.h"
#include "tests/unit/capi_support.h"

using namespace capi_test;

namespace {

placeto_status try_place(const Graph& graph, const Topology& topology,
                         const placeto_options& options, placeto_error& error) {
  placeto_placement* placement = nullptr;
  const placeto_status status =
      placeto_place(graph.get(), topology.get(), nullptr, &options, &placement, &error);
  CHECK((placement == nullptr) == (status != PLACETO_OK));
  CHECK((error.message[0] == '\0') == (status == PLACETO_OK));
  CHECK(error.status == status);
  placeto_placement_free(placement);
  return status;
}

Placement score(const Graph& graph, const Topology& topology,
                const std::vector<uint32_t>& assignment,
                const placeto_options& chosen = options()) {
  placeto_placement* placement = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_score(graph.get(), topology.get(), assignment.data(), assignment.size(),
                                &chosen, &placement, &error) == PLACETO_OK,
                  error.message);
  return Placement(placement);
}

Policy small_policy() {
  const std::vector<uint8_t> bytes =
      *placeto::encode_policy(placeto::test::small_pairwise_policy());
  placeto_policy* policy = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_policy_load_memory(bytes.data(), bytes.size(), PLACETO_BYTES_COPY,
                                             nullptr, &policy, &error) == PLACETO_OK,
                  error.message);
  return Policy(policy);
}

std::vector<placeto_candidate> candidates_of(const Placement& placement) {
  std::vector<placeto_candidate> list(placeto_placement_candidate_count(placement.get()));
  for (size_t i = 0; i < list.size(); ++i) {
    list[i].struct_size = sizeof list[i];
    REQUIRE(placeto_placement_candidate(placement.get(), i, &list[i], nullptr) == PLACETO_OK);
  }
  return list;
}

placeto_reason reason_for(const Placement& placement, uint32_t node) {
  placeto_reason reason;
  reason.struct_size = sizeof reason;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_placement_explain(placement.get(), node, &reason, &error) == PLACETO_OK,
                  error.message);
  return reason;
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
  CHECK(placeto_placement_lower_bound_us(placement.get()) == doctest::Approx(102));
  CHECK(placeto_placement_bottleneck_us(placement.get()) > 0);
  CHECK(placeto_placement_place_time_us(placement.get()) > 0);
  CHECK(placeto_placement_feasible(placement.get()) == 1);
  CHECK(std::string(placeto_placement_note(placement.get())).empty());
  CHECK(placeto_placement_node_count(placement.get()) == 4);
  CHECK(placeto_placement_device_count(placement.get()) == 2);
  for (uint32_t v = 0; v < 4; ++v) {
    CHECK(placeto_placement_device(placement.get(), v) == assignment[v]);
  }
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
  refuses("struct_size", [](placeto_options& o) { o.struct_size -= 8; });
  refuses("struct_size", [](placeto_options& o) { o.struct_size = 0; });
  refuses("objective", [](placeto_options& o) { o.objective = 2; });
  refuses("budget_milliseconds", [](placeto_options& o) { o.budget_milliseconds = -1; });
  refuses("budget_milliseconds", [](placeto_options& o) { o.budget_milliseconds = NAN; });
  refuses("budget_milliseconds", [](placeto_options& o) { o.budget_milliseconds = INFINITY; });
  refuses("passes", [](placeto_options& o) { o.passes = 0; });
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

TEST_CASE("rules are obeyed") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const placeto_node_device pins[] = {{1, 1}};
  const placeto_node_device forbids[] = {{0, 0}};
  const uint32_t together[] = {1, 2};
  const placeto_node_list colocate[] = {{together, 2}};
  placeto_options rules = options();
  rules.pins = pins;
  rules.pin_count = 1;
  rules.forbids = forbids;
  rules.forbid_count = 1;
  const std::vector<uint32_t> apart = assignment_of(place(graph, topology, rules));
  CHECK(apart[1] == 1);
  CHECK(apart[0] == 1);
  CHECK(apart[2] == 0);
  rules.colocate = colocate;
  rules.colocate_count = 1;
  const std::vector<uint32_t> joint = assignment_of(place(graph, topology, rules));
  CHECK(joint[1] == 1);
  CHECK(joint[2] == 1);
}

TEST_CASE("rules that leave no device to a node are infeasible, for no lack of memory") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const placeto_node_device forbids[] = {{3, 0}, {3, 1}};
  uint64_t shortfall[2] = {77, 77};
  placeto_options rules = options();
  rules.forbids = forbids;
  rules.forbid_count = 2;
  rules.shortfall_bytes = shortfall;
  rules.shortfall_capacity = 2;
  placeto_error error;
  CHECK(try_place(graph, topology, rules, error) == PLACETO_INFEASIBLE);
  CHECK(mentions(error, "'out'"));
  CHECK(shortfall[0] == 0);
  CHECK(shortfall[1] == 0);
}

TEST_CASE("a graph that no device of the topology can run is bad input") {
  const GraphBuilder builder = graph_builder("npu only");
  const char* const kinds[] = {"npu"};
  placeto_node node;
  placeto_default_node(&node, sizeof node);
  const double cost_us = 1;
  node.cost_us = &cost_us;
  node.cost_count = 1;
  node.allowed_kinds = kinds;
  node.allowed_kind_count = 1;
  REQUIRE(placeto_graph_builder_add_node(builder.get(), &node, nullptr, nullptr) == PLACETO_OK);
  placeto_error error;
  CHECK(try_place(build(builder), devices(2), options(), error) == PLACETO_BAD_INPUT);
}

TEST_CASE("what does not fit in memory is infeasible, and the shortfall says by how much") {
  const Graph graph = diamond();  // 400 resident bytes and tensors
  uint64_t shortfall[2] = {0, 0};
  placeto_options chosen = options();
  chosen.shortfall_bytes = shortfall;
  chosen.shortfall_capacity = 2;
  placeto_error error;
  CHECK(try_place(graph, devices(2, 150), chosen, error) == PLACETO_INFEASIBLE);
  CHECK(mentions(error, "memory"));
  // Resident bytes alone lack 400 - 2 x 150.
  CHECK(shortfall[0] + shortfall[1] >= 100);
  for (const uint64_t bytes : shortfall) {
    if (bytes > 0) CHECK(mentions(error, (std::to_string(bytes) + " bytes").c_str()));
  }
  chosen.shortfall_capacity = 1;
  CHECK(try_place(graph, devices(2, 150), chosen, error) == PLACETO_BUFFER_TOO_SMALL);
  CHECK(mentions(error, "shortfall_bytes"));

  placeto_options tight = options();
  CHECK(try_place(graph, devices(2, 300), tight, error) == PLACETO_OK);
  tight.memory_headroom = 0.5;
  CHECK(try_place(graph, devices(2, 300), tight, error) == PLACETO_INFEASIBLE);
}

TEST_CASE("candidates name what was tried; one of them won and none is better") {
  const Graph graph = ladder(8);
  const Topology topology = devices(2);
  for (const int32_t objective : {PLACETO_LATENCY, PLACETO_THROUGHPUT}) {
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

TEST_CASE("a grouping that does not exist is refused") {
  const Graph graph = ladder(10);
  const Topology topology = devices(3);
  placeto_options chosen = options();
  for (const int32_t grouping : {PLACETO_GROUPING_AUTO, PLACETO_GROUPING_NONE}) {
    chosen.grouping = grouping;
    CHECK(!assignment_of(place(graph, topology, chosen)).empty());
  }
  chosen.grouping = 2;
  placeto_error error;
  placeto_placement* none = nullptr;
  CHECK(placeto_place(graph.get(), topology.get(), nullptr, &chosen, &none, &error) ==
        PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "grouping"));
}

TEST_CASE("the same seed and budget give the same placement") {
  const Graph graph = ladder(10);
  const Topology topology = devices(3);
  placeto_options chosen = options();
  chosen.budget_evaluations = 400;
  const std::vector<uint32_t> first = assignment_of(place(graph, topology, chosen));
  CHECK(assignment_of(place(graph, topology, chosen)) == first);
}

TEST_CASE("a cancelled placing ends at once, with what there is") {
  const Graph graph = ladder(40);
  const Topology topology = devices(3);
  placeto_cancel* cancel = nullptr;
  placeto_error error;
  CHECK(placeto_cancel_create(nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  REQUIRE(placeto_cancel_create(&cancel, &error) == PLACETO_OK);
  placeto_options chosen = options();
  chosen.cancel = cancel;
  chosen.budget_milliseconds = 600'000;
  std::thread other([cancel] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    placeto_cancel_request(cancel);
  });
  // A slow machine may have nothing when the request comes.
  const auto ends = [&] {
    const placeto_status status = try_place(graph, topology, chosen, error);
    return status == PLACETO_OK || status == PLACETO_STOPPED;
  };
  CHECK(ends());  // would take ten minutes
  other.join();
  CHECK(ends());  // still cancelled

  // After a reset the search runs to the end of its budget, as without the object.
  placeto_cancel_reset(cancel);
  chosen.budget_milliseconds = 0;
  chosen.budget_evaluations = 300;
  const std::vector<uint32_t> with = assignment_of(place(graph, topology, chosen));
  chosen.cancel = nullptr;
  CHECK(assignment_of(place(graph, topology, chosen)) == with);
  placeto_cancel_free(cancel);
}

TEST_CASE("a small graph is placed even if the flag is already set or the deadline over") {
  placeto_cancel* cancel = nullptr;
  REQUIRE(placeto_cancel_create(&cancel, nullptr) == PLACETO_OK);
  placeto_cancel_request(cancel);
  const Topology topology = devices(8);
  for (const uint32_t rungs : {1u, 40u, 200u}) {
    CAPTURE(rungs);
    const Graph graph = ladder(rungs);
    for (const bool late : {false, true}) {
      placeto_options chosen = options();
      chosen.budget_milliseconds = 600'000;
      if (late) chosen.deadline_milliseconds = 1e-6;
      if (!late) chosen.cancel = cancel;
      const Placement placed = place(graph, topology, chosen);
      CHECK(placeto_placement_feasible(placed.get()) == 1);
      CHECK(placeto_placement_stopped(placed.get()) >= 1);
      CHECK(placeto_placement_makespan_us(placed.get()) > 0);
    }
  }
  placeto_cancel_free(cancel);
}

TEST_CASE("a deadline ends a placing with the best so far, or with a status if there is none") {
  const Graph graph = ladder(3000);
  const Topology topology = devices(4);
  placeto_error error;
  placeto_options chosen = options();
  for (const double nonsense : {-1.0, HUGE_VAL, std::nan("")}) {
    chosen.deadline_milliseconds = nonsense;
    CHECK(try_place(graph, topology, chosen, error) == PLACETO_INVALID_ARGUMENT);
    CHECK(mentions(error, "deadline_milliseconds"));
  }
  chosen.deadline_milliseconds = 1e-6;
  CHECK(try_place(graph, topology, chosen, error) == PLACETO_STOPPED);
  CHECK(mentions(error, "deadline"));

  // With a search that would take ten minutes, some deadline lies after the first placement.
  chosen.budget_milliseconds = 600'000;
  chosen.deadline_milliseconds = 10;
  placeto_placement* placement = nullptr;
  while (placeto_place(graph.get(), topology.get(), nullptr, &chosen, &placement, &error) ==
         PLACETO_STOPPED) {
    chosen.deadline_milliseconds *= 2;
  }
  const Placement placed(placement);
  REQUIRE(error.status == PLACETO_OK);
  CHECK(placeto_placement_feasible(placement) == 1);
  CHECK(placeto_placement_makespan_us(placement) > 0);
  const int32_t stopped = placeto_placement_stopped(placement);
  CHECK(stopped >= 1);
  std::vector<double> start_us(6000);
  const placeto_status times =
      placeto_placement_times(placement, start_us.data(), nullptr, start_us.size(), &error);
  CHECK(times == (stopped == 2 ? PLACETO_STOPPED : PLACETO_OK));
  const Placement scored = score(graph, topology, assignment_of(placed));
  CHECK(placeto_placement_makespan_us(scored.get()) == placeto_placement_makespan_us(placement));
  CHECK(placeto_placement_stopped(scored.get()) == 0);
  CHECK(placeto_placement_stopped(nullptr) == 0);
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
  CHECK(placeto_placement_lower_bound_us(nullptr) == 0);
  CHECK(placeto_placement_place_time_us(nullptr) == 0);
  CHECK(placeto_placement_feasible(nullptr) == 0);
  CHECK(placeto_placement_candidate_count(nullptr) == 0);
  CHECK(std::string(placeto_placement_method(nullptr)).empty());
  CHECK(std::string(placeto_placement_note(nullptr)).empty());
}

TEST_CASE("a placement outlives what it was made from, and explains itself") {
  Graph graph = diamond();
  Topology topology = devices(2);
  const Placement placement = place(graph, topology);
  graph.reset();
  topology.reset();
  const uint32_t left = placeto_placement_device(placement.get(), 1);
  const placeto_reason reason = reason_for(placement, 1);
  CHECK(reason.device == left);
  CHECK(reason.group_nodes == 1);
  CHECK(reason.allowed_devices == 2);
  CHECK(reason.second_device == 1 - left);
  CHECK(reason.cost_us == doctest::Approx(103));
  CHECK(reason.second_cost_us > 200);  // both branches on one device
  CHECK(reason.second_feasible == 1);
}

TEST_CASE("a reason tells what scoring the other placement tells, for every node and objective") {
  const Graph graph = ladder(4);
  const Topology topology = devices(3, 1'000);
  for (const int32_t objective : {PLACETO_LATENCY, PLACETO_THROUGHPUT}) {
    placeto_options chosen = options();
    chosen.objective = objective;
    const Placement placement = place(graph, topology, chosen);
    const auto cost = [&](const Placement& p) {
      return objective == PLACETO_LATENCY ? placeto_placement_makespan_us(p.get())
                                          : placeto_placement_bottleneck_us(p.get());
    };
    for (uint32_t v = 0; v < placeto_graph_node_count(graph.get()); ++v) {
      const placeto_reason reason = reason_for(placement, v);
      CHECK(reason.cost_us == cost(placement));
      uint32_t best = PLACETO_NONE;
      std::pair<bool, double> best_cost;  // does not fit, cost
      for (uint32_t d = 0; d < 3; ++d) {
        if (d == reason.device) continue;
        std::vector<uint32_t> moved = assignment_of(placement);
        moved[v] = d;
        const Placement other = score(graph, topology, moved, chosen);
        const std::pair<bool, double> other_cost(placeto_placement_feasible(other.get()) == 0,
                                                 cost(other));
        if (best != PLACETO_NONE && !(other_cost < best_cost)) continue;
        best = d;
        best_cost = other_cost;
      }
      // Ties among what does not fit are broken by overflow, which this check does not see.
      if (best_cost.first) continue;
      CHECK(reason.second_device == best);
      CHECK(reason.second_cost_us == best_cost.second);
      CHECK(reason.second_feasible == 1);
    }
  }
}

TEST_CASE("colocated nodes are explained together, and a pinned node has no second device") {
  const GraphBuilder builder = graph_builder("keys");
  add_node(builder.get(), "a", 10, 10, "key");
  add_node(builder.get(), "b", 10, 10, "key");
  add_node(builder.get(), "c", 10, 10);
  const Graph graph = build(builder);
  const placeto_node_device pins[] = {{2, 1}};
  placeto_options rules = options();
  rules.pins = pins;
  rules.pin_count = 1;
  const Placement placement = place(graph, devices(2), rules);
  CHECK(reason_for(placement, 0).group_nodes == 2);
  const placeto_reason pinned = reason_for(placement, 2);
  CHECK(pinned.device == 1);
  CHECK(pinned.allowed_devices == 1);
  CHECK(pinned.second_device == PLACETO_NONE);
  CHECK(pinned.second_cost_us == 0);
  CHECK(pinned.second_feasible == 0);
}

TEST_CASE("explaining refuses what it cannot read") {
  const Placement placement = place(diamond(), devices(2));
  placeto_reason reason;
  reason.struct_size = sizeof reason;
  placeto_error error;
  CHECK(placeto_placement_explain(nullptr, 0, &reason, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_explain(placement.get(), 0, nullptr, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(placeto_placement_explain(placement.get(), 4, &reason, &error) == PLACETO_INVALID_ARGUMENT);
  CHECK(mentions(error, "node is 4"));
  reason.struct_size = 4;
  CHECK(placeto_placement_explain(placement.get(), 0, &reason, &error) == PLACETO_INVALID_ARGUMENT);
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
  refuses({0, 0, 2, 0}, options(), "node 2 'right' is on device 2");
  placeto_options rules = options();
  rules.pins = pins;
  rules.pin_count = 1;
  refuses({0, 0, 0, 0}, rules, "node 3 'out' may not run on 'gpu:0'");
  rules.colocate = colocate;
  rules.colocate_count = 1;
  refuses({0, 0, 1, 1}, rules, "node 2 'right' is on 'gpu:1'");
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
