// Structs and arrays of callers that end where their memory ends: not a byte beyond is touched.
#include <algorithm>

#include "tests/unit/capi_policies.h"
#include "tests/unit/last_bytes.h"

using namespace capi_test;

namespace {

placeto_limits limits() {
  placeto_limits value;
  REQUIRE(placeto_default_limits(&value, sizeof value) == PLACETO_OK);
  return value;
}

// Calls every function that takes limits.
struct TakesLimits {
  Graph graph = diamond();
  Topology topology = devices(2);
  std::vector<uint8_t> graph_bytes, topology_bytes, placement_bytes;
  std::vector<uint8_t> policy_bytes = capi_test::policy_bytes();
  GraphBuilder graph_builder = capi_test::graph_builder("g");
  std::vector<uint32_t> assignment = std::vector<uint32_t>(4);

  template <class Encode>
  static std::vector<uint8_t> encoded(Encode encode) {
    size_t size = 0;
    REQUIRE(encode(nullptr, 0, &size) == PLACETO_OK);
    const LastBytes room;
    REQUIRE(encode(room.last<uint8_t>(size), size, &size) == PLACETO_OK);
    return {room.last<uint8_t>(size), room.last<uint8_t>(size) + size};
  }

  TakesLimits() {
    const Placement placement = place(graph, topology);
    graph_bytes = encoded([&](void* to, size_t room, size_t* size) {
      return placeto_graph_encode(graph.get(), to, room, size, nullptr);
    });
    topology_bytes = encoded([&](void* to, size_t room, size_t* size) {
      return placeto_topology_encode(topology.get(), to, room, size, nullptr);
    });
    placement_bytes = encoded([&](void* to, size_t room, size_t* size) {
      return placeto_placement_encode(placement.get(), to, room, size, nullptr);
    });
    add_node(graph_builder.get(), "a", 1, 1);
  }

  // The worst of their answers.
  placeto_status call_all(const placeto_limits* given, placeto_error* error) {
    placeto_graph* g = nullptr;
    placeto_topology* t = nullptr;
    placeto_policy* p = nullptr;
    placeto_placement* chosen = nullptr;
    placeto_options with = options();
    with.limits = given;
    placeto_policy_options policy_with;
    REQUIRE(placeto_default_policy_options(&policy_with, sizeof policy_with) == PLACETO_OK);
    policy_with.limits = given;
    const TemporaryFile graph_file("limits.plg", graph_bytes);
    const TemporaryFile topology_file("limits.plt", topology_bytes);
    const TemporaryFile policy_file("limits.plpo", policy_bytes);
    placeto_status worst = PLACETO_OK;
    bool first = true;
    const auto note = [&](placeto_status status) {
      if (!first) CHECK(status == worst);
      worst = status;
      first = false;
      placeto_graph_free(g);
      placeto_topology_free(t);
      placeto_policy_free(p);
      placeto_placement_free(chosen);
      g = nullptr, t = nullptr, p = nullptr, chosen = nullptr;
    };
    note(placeto_graph_builder_build(graph_builder.get(), given, &g, error));
    note(placeto_graph_load_memory(graph_bytes.data(), graph_bytes.size(), given, &g, error));
    note(placeto_graph_load_file(graph_file.path(), given, &g, error));
    note(placeto_topology_load_memory(topology_bytes.data(), topology_bytes.size(), given, &t,
                                      error));
    note(placeto_topology_load_file(topology_file.path(), given, &t, error));
    note(placeto_policy_load_memory(policy_bytes.data(), policy_bytes.size(), PLACETO_BYTES_COPY,
                                    given, &p, error));
    note(placeto_policy_load_file(policy_file.path(), PLACETO_FILE_READ, given, &p, error));
    note(placeto_policy_load_memory_with(policy_bytes.data(), policy_bytes.size(), &policy_with, &p,
                                         error));
    note(placeto_policy_load_file_with(policy_file.path(), &policy_with, &p, error));
    note(placeto_assignment_decode(placement_bytes.data(), placement_bytes.size(), graph.get(),
                                   topology.get(), given, assignment.data(), 4, error));
    note(placeto_placement_decode(placement_bytes.data(), placement_bytes.size(), graph.get(),
                                  topology.get(), &with, &chosen, error));
    note(placeto_place(graph.get(), topology.get(), nullptr, &with, &chosen, error));
    note(placeto_score(graph.get(), topology.get(), assignment.data(), 4, &with, &chosen, error));
    return worst;
  }
};

}  // namespace

TEST_CASE("limits are read as far as their struct_size says") {
  TakesLimits functions;
  const LastBytes room;
  placeto_error error;
  CHECK(functions.call_all(room.copy(limits()), &error) == PLACETO_OK);
  refuses_stubs<placeto_limits>([&](const placeto_limits* given, placeto_error* where) {
    return functions.call_all(given, where);
  });
}

TEST_CASE("options of placing and scoring are read as far as their struct_size says") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const LastBytes room, assignment_room;
  uint32_t* const assignment = assignment_room.last<uint32_t>(4);
  std::fill_n(assignment, 4, 1);
  placeto_placement* placement = nullptr;
  for (const bool scores : {false, true}) {
    const auto call = [&](const placeto_options* given, placeto_error* error) {
      return scores ? placeto_score(graph.get(), topology.get(), assignment, 4, given, &placement,
                                    error)
                    : placeto_place(graph.get(), topology.get(), nullptr, given, &placement, error);
    };
    CHECK(call(room.copy(options()), nullptr) == PLACETO_OK);
    placeto_placement_free(placement);
    refuses_stubs<placeto_options>(call, offsetof(placeto_options, tolerance));
    CHECK(placement == nullptr);
  }
}

TEST_CASE("rules of options are read to their end and no further") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const LastBytes pins, forbids, lists, nodes, shortfall;
  placeto_options chosen = options();
  chosen.pins = pins.copy(placeto_node_device{0, 1});
  chosen.pin_count = 1;
  chosen.forbids = forbids.copy(placeto_node_device{1, 0});
  chosen.forbid_count = 1;
  nodes.last<uint32_t>(2)[0] = 2;
  nodes.last<uint32_t>(2)[1] = 3;
  chosen.colocate = lists.copy(placeto_node_list{nodes.last<uint32_t>(2), 2});
  chosen.colocate_count = 1;
  chosen.shortfall_bytes = shortfall.last<uint64_t>(2);
  chosen.shortfall_capacity = 2;
  const Placement placement = place(graph, topology, chosen);
  CHECK(placeto_placement_device(placement.get(), 0) == 1);
  const Topology tiny = devices(2, 1);
  placeto_error error;
  CHECK(try_place(graph, tiny, chosen, error) == PLACETO_INFEASIBLE);
}

TEST_CASE("options of loading are read as far as their struct_size says") {
  const std::vector<uint8_t> bytes = capi_test::policy_bytes();
  const TemporaryFile file("guard.plpo", bytes);
  const LastBytes room;
  placeto_policy* policy = nullptr;
  placeto_policy_options defaults;
  REQUIRE(placeto_default_policy_options(&defaults, sizeof defaults) == PLACETO_OK);
  for (const bool from_file : {false, true}) {
    const auto call = [&](const placeto_policy_options* given, placeto_error* error) {
      return from_file ? placeto_policy_load_file_with(file.path(), given, &policy, error)
                       : placeto_policy_load_memory_with(bytes.data(), bytes.size(), given, &policy,
                                                         error);
    };
    CHECK(call(room.copy(defaults), nullptr) == PLACETO_OK);
    placeto_policy_free(policy);
    refuses_stubs<placeto_policy_options>(call);
    CHECK(policy == nullptr);
  }
}

TEST_CASE("nodes, devices, links and rules are read as far as their struct_size says") {
  const GraphBuilder graph = graph_builder("g");
  placeto_topology_builder* raw = nullptr;
  REQUIRE(placeto_topology_builder_create("t", &raw, nullptr) == PLACETO_OK);
  const TopologyBuilder topology(raw);
  const auto add_node = [&](const placeto_node* given, placeto_error* error) {
    return placeto_graph_builder_add_node(graph.get(), given, nullptr, error);
  };
  const auto add_device = [&](const placeto_device* given, placeto_error* error) {
    return placeto_topology_builder_add_device(raw, given, nullptr, error);
  };
  const auto add_link = [&](const placeto_link* given, placeto_error* error) {
    return placeto_topology_builder_add_link(raw, given, error);
  };
  const auto set_rules = [&](const placeto_topology_rules* given, placeto_error* error) {
    return placeto_topology_builder_set_rules(raw, given, error);
  };
  constexpr size_t kWithoutLaunches = offsetof(placeto_node, launches);
  refuses_stubs<placeto_node>(add_node, kWithoutLaunches);
  constexpr size_t kWithoutStages = offsetof(placeto_device, stage_us);
  refuses_stubs<placeto_device>(add_device, kWithoutStages);
  refuses_stubs<placeto_link>(add_link);
  refuses_stubs<placeto_topology_rules>(set_rules);
  const LastBytes room;
  for (size_t size = kWithoutLaunches; size <= sizeof(placeto_node); size += alignof(void*)) {
    auto* const node = reinterpret_cast<placeto_node*>(room.last<char>(size));
    REQUIRE(placeto_default_node(node, size) == PLACETO_OK);
    CHECK(add_node(node, nullptr) == PLACETO_OK);
  }
  placeto_device* const device = room.last<placeto_device>();
  REQUIRE(placeto_default_device(device, sizeof *device) == PLACETO_OK);
  CHECK(add_device(device, nullptr) == PLACETO_OK);
  placeto_device shorter;
  REQUIRE(placeto_default_device(&shorter, kWithoutStages) == PLACETO_OK);
  CHECK(shorter.struct_size == kWithoutStages);
  void* const older = room.last<char>(kWithoutStages);
  std::memcpy(older, &shorter, kWithoutStages);
  CHECK(add_device(static_cast<placeto_device*>(older), nullptr) == PLACETO_OK);
  placeto_link* const link = room.last<placeto_link>();
  REQUIRE(placeto_default_link(link, sizeof *link) == PLACETO_OK);
  CHECK(add_link(link, nullptr) == PLACETO_OK);
  placeto_topology_rules* const rules = room.last<placeto_topology_rules>();
  REQUIRE(placeto_default_topology_rules(rules, sizeof *rules) == PLACETO_OK);
  CHECK(set_rules(rules, nullptr) == PLACETO_OK);
}

TEST_CASE("lists of a node are read to their end and no further") {
  const GraphBuilder builder = graph_builder("g");
  const LastBytes kinds, costs, outputs, allowed, types, domain, index, names;
  const char** const kind = kinds.last<const char*>(2);
  kind[0] = "a";
  kind[1] = std::strcpy(names.last<char>(2), "b");
  REQUIRE(placeto_graph_builder_set_kinds(builder.get(), kind, 2, nullptr) == PLACETO_OK);
  placeto_node node;
  REQUIRE(placeto_default_node(&node, sizeof node) == PLACETO_OK);
  node.cost_us = costs.last<double>(2);
  node.cost_count = 2;
  node.outputs = outputs.last<uint64_t>(3);
  node.output_count = 3;
  *allowed.last<const char*>() = "b";
  node.allowed_kinds = allowed.last<const char*>();
  node.allowed_kind_count = 1;
  types.last<const char*>(2)[0] = "int64";
  types.last<const char*>(2)[1] = kind[1];
  node.input_types = types.last<const char*>(2);
  node.input_type_count = 2;
  node.domain = std::strcpy(domain.last<char>(8), "ai.onnx");
  CHECK(placeto_graph_builder_add_node(builder.get(), &node, index.last<uint32_t>(), nullptr) ==
        PLACETO_OK);
  CHECK(*index.last<uint32_t>() == 0);
}

TEST_CASE("what the library fills in ends where the caller's memory does") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const Placement placement = place(graph, topology);
  refuses_stubs<placeto_candidate>([&](placeto_candidate* candidate, placeto_error* error) {
    return placeto_placement_candidate(placement.get(), 0, candidate, error);
  });
  refuses_stubs<placeto_reason>([&](placeto_reason* reason, placeto_error* error) {
    return placeto_placement_explain(placement.get(), 0, reason, error);
  });
  const LastBytes room, more, error;
  auto* const candidate = room.last<placeto_candidate>();
  candidate->struct_size = sizeof *candidate;
  CHECK(placeto_placement_candidate(placement.get(), 0, candidate, nullptr) == PLACETO_OK);
  auto* const reason = room.last<placeto_reason>();
  reason->struct_size = sizeof *reason;
  CHECK(placeto_placement_explain(placement.get(), 0, reason, nullptr) == PLACETO_OK);
  CHECK(placeto_placement_assignment(placement.get(), room.last<uint32_t>(4), 4, nullptr) ==
        PLACETO_OK);
  CHECK(placeto_placement_times(placement.get(), room.last<double>(4), more.last<double>(4), 4,
                                nullptr) == PLACETO_OK);
  CHECK(placeto_placement_peak_memory(placement.get(), room.last<uint64_t>(2), 2, nullptr) ==
        PLACETO_OK);
  CHECK(placeto_placement_shortfall(placement.get(), room.last<uint64_t>(2), 2,
                                    error.last<placeto_error>()) == PLACETO_OK);
  CHECK(error.last<placeto_error>()->status == PLACETO_OK);
}

TEST_CASE("what getters fill in ends where the caller's memory does, an older program's too") {
  const Graph graph = diamond();
  const Topology topology = devices(2);
  const LastBytes room, error;
  const auto fills = [&]<class Struct>(Struct, size_t oldest, auto getter) {
    for (size_t size = oldest; size <= sizeof(Struct); size += alignof(void*)) {
      auto* const to = reinterpret_cast<Struct*>(room.last<char>(size));
      to->struct_size = size;
      CHECK(getter(to, error.last<placeto_error>()) == PLACETO_OK);
      CHECK(to->struct_size == size);
    }
    refuses_stubs<Struct>(getter, oldest);
  };
  fills(placeto_node{}, offsetof(placeto_node, launches),
        [&](auto* to, placeto_error* why) { return placeto_graph_node(graph.get(), 0, to, why); });
  fills(placeto_device{}, offsetof(placeto_device, stage_us), [&](auto* to, placeto_error* why) {
    return placeto_topology_device(topology.get(), 0, to, why);
  });
  fills(placeto_link{}, sizeof(placeto_link), [&](auto* to, placeto_error* why) {
    return placeto_topology_link(topology.get(), 0, 1, to, why);
  });
  fills(placeto_topology_rules{}, sizeof(placeto_topology_rules),
        [&](auto* to, placeto_error* why) {
          return placeto_topology_get_rules(topology.get(), to, why);
        });
}

TEST_CASE("defaults are written to memory of their size and to no other") {
  const LastBytes room;
  const auto check = [&](auto tag, auto fill, size_t oldest) {
    auto* const value = room.last<decltype(tag)>();
    CHECK(fill(value, sizeof *value) == PLACETO_OK);
    CHECK(value->struct_size == sizeof *value);
    if (sizeof(void*) == 8) {
      auto* const older = reinterpret_cast<decltype(value)>(room.last<char>(oldest));
      CHECK(fill(older, oldest) == PLACETO_OK);
      CHECK(older->struct_size == oldest);
    }
    auto* const stub = reinterpret_cast<decltype(value)>(room.last<size_t>());
    for (const size_t size : {size_t{0}, sizeof(size_t), 2 * sizeof(size_t), sizeof *value + 8}) {
      CHECK(fill(stub, size) == PLACETO_INVALID_ARGUMENT);
    }
  };
  for_all_defaults(check);
}
