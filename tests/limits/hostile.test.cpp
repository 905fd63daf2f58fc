// Graphs that nobody draws but an adversary. Each ends with an answer or an error, in memory and
// time in proportion to its size. PLACETO_HOSTILE_NODES says how large: small in the suite, a
// million in the large tests.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <bit>
#include <cmath>
#include <set>

#include "runtime/placer/placer.h"
#include "tests/support/colliding_names.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"
#include "tests/support/thread_time.h"

namespace placeto {
namespace {

constexpr uint32_t kNodes = PLACETO_HOSTILE_NODES;

GraphSpec isolated(uint32_t nodes, double cost_us, uint64_t bytes) {
  GraphSpec graph;
  graph.nodes.resize(nodes);
  for (NodeSpec& node : graph.nodes) {
    node.cost_us = {cost_us};
    node.outputs = {bytes};
  }
  return graph;
}

GraphSpec chain(uint32_t nodes, double cost_us, uint64_t bytes) {
  GraphSpec graph = isolated(nodes, cost_us, bytes);
  for (uint32_t v = 1; v < nodes; ++v) graph.edges.push_back({v - 1, 0, v});
  return graph;
}

TopologySpec devices(uint32_t count) {
  TopologySpec topology;
  topology.op_gap_us = 5;
  topology.default_link = {7600, 1, 25};
  for (uint32_t d = 0; d < count; ++d) {
    topology.devices.emplace_back();
    topology.devices.back().name = "gpu:" + std::to_string(d);
    topology.devices.back().kind = "gpu";
  }
  return topology;
}

using test::thread_ms;

// The most memory the program has had so far.
double peak_mib() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Places with a policy and a search, but no longer than that. Graph and topology are valid.
Result<PlaceResult> place(GraphSpec graph, TopologySpec topology, const Limits& limits = {},
                          double deadline_ms = 20'000) {
  const auto policy = test::load_policy(test::small_pairwise_policy());
  Result<Graph> g = Graph::build(std::move(graph), limits);
  Result<Topology> t = Topology::build(std::move(topology), limits);
  REQUIRE_MESSAGE(g.ok(), g.status().message());
  REQUIRE_MESSAGE(t.ok(), t.status().message());
  const double began_ms = thread_ms();
  Stop stop(nullptr, deadline_ms);
  Result<Problem> problem = Problem::build(*g, *t, {}, limits, &stop);
  if (!problem.ok()) return problem.status();
  MethodOptions options;
  options.budget.evaluations = 20;
  options.stop = &stop;
  options.passes = 2;
  Result<PlaceResult> placed = place_auto(*problem, options, {.policy = policy.get()});
  CHECK(thread_ms() - began_ms < deadline_ms + 100);
  CHECK(peak_mib() < 1000 + 0.002 * kNodes);
  if (placed.ok()) {
    CHECK(obeys_rules(*problem, placed->best.assignment));
    CHECK(std::isfinite(placed->best.score.objective_us));
    CHECK(placed->bounds.best_us() <= placed->best.score.objective_us * (1 + 1e-9));
  }
  return placed;
}

bool answered(const Result<PlaceResult>& placed) {
  if (!placed.ok()) MESSAGE(placed.status().message());
  return placed.ok();
}

bool refused(const Result<PlaceResult>& placed, const char* word) {
  return placed.status().code() == StatusCode::kBadInput &&
         placed.status().message().find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("a deep chain is placed") {
  CHECK(answered(place(chain(kNodes, 10, 1'000'000), devices(4))));
}

TEST_CASE("a node with an edge to every other is placed, and one with an edge from every other") {
  GraphSpec out = isolated(kNodes, 10, 1000), in = out;
  for (uint32_t v = 1; v < kNodes; ++v) {
    out.edges.push_back({0, 0, v});
    in.edges.push_back({v, 0, 0});
  }
  for (const uint32_t rules : {0u, 2u}) {
    TopologySpec topology = devices(4);
    test::set_rules(rules, topology);
    CHECK(answered(place(out, topology)));
    CHECK(answered(place(in, topology)));
  }
}

TEST_CASE("a graph in which everything ties is placed") {
  GraphSpec graph = isolated(kNodes, 1, 1);
  for (uint32_t v = 10; v < kNodes; ++v) {
    for (uint32_t i = 0; i < 2; ++i) {
      graph.edges.push_back({v - v % 10 - 10 + (v + i) % 10, 0, v});
    }
  }
  CHECK(answered(place(std::move(graph), devices(8))));
}

TEST_CASE("a graph that costs nothing is placed") {
  TopologySpec topology = devices(4);
  topology.op_gap_us = 0;
  topology.default_link = {1, 0, 0};
  const auto placed = place(chain(kNodes, 0, 0), topology);
  CHECK(answered(placed));
  if (placed.ok()) CHECK(placed->best.score.objective_us == 0);
}

TEST_CASE("a million colocated nodes, and a million pins, are placed") {
  GraphSpec together = chain(kNodes, 1, 100);
  for (uint32_t v = 0; v < kNodes; ++v) together.nodes[v].colocate = v % 2 == 0 ? "even" : "odd";
  CHECK(answered(place(std::move(together), devices(4))));

  const Graph graph = *Graph::build(isolated(kNodes, 1, 1));
  const Topology topology = *Topology::build(devices(4));
  Rules rules;
  for (uint32_t v = kNodes; v-- > 0;)
    rules.pins.push_back({v, v % 4});  // from the last to the first
  const Result<Problem> problem = Problem::build(graph, topology, rules);
  REQUIRE(problem.ok());
  CHECK(problem->allowed(problem->group_of(7), 3));
  CHECK(!problem->allowed(problem->group_of(7), 2));
}

TEST_CASE("names that hash alike take no longer than others") {
  constexpr uint32_t kNames = 20'000, kDevices = 150;
  const auto build_ms = [](const std::vector<std::string>& names) {
    GraphSpec graph = isolated(kNames, 10, 0);
    TopologySpec topology = devices(kDevices);
    topology.transfer = Transfer::kUnicast;  // else links share their source's channel
    for (uint32_t i = 0; i < kNames; ++i) {
      graph.nodes[i].name = graph.nodes[i].colocate = names[i];
      const uint32_t from = i / (kDevices - 1), to = i % (kDevices - 1);
      topology.links.push_back({topology.devices[from].name,
                                topology.devices[to + (to >= from)].name, topology.default_link,
                                names[i]});
    }
    const double began_ms = thread_ms();
    const Graph g = *Graph::build(std::move(graph));
    const Topology t = *Topology::build(std::move(topology));
    CHECK(t.channel_count() > kNames / 2);
    CHECK(Problem::build(g, t).ok());
    return thread_ms() - began_ms;
  };
  const std::vector<std::string> colliding = test::colliding_names(kNames);
  CHECK(std::set<std::string>(colliding.begin(), colliding.end()).size() == kNames);
#ifdef __GLIBCXX__
  constexpr bool kAsMade = sizeof(size_t) == 8 && std::endian::native == std::endian::little;
  const std::hash<std::string> hash;
  for (const std::string& name : colliding) {
    REQUIRE((!kAsMade || hash(name) == hash(colliding[0])));
  }
#endif
  std::vector<std::string> others = colliding;
  for (std::string& name : others) name.back() = '!';  // they still begin unlike each other
  CHECK(build_ms(colliding) < 4 * build_ms(others) + 5);
}

TEST_CASE("outputs of 10^18 bytes are placed or refused, never wrapped around") {
  constexpr uint64_t kBytes = 1'000'000'000'000'000'000;
  GraphSpec graph = chain(9, 10, kBytes);  // 9 x 10^18 < 2^63
  TopologySpec limited = devices(3);
  for (DeviceSpec& device : limited.devices) device.memory_bytes = 2 * kBytes + 1;
  CHECK(answered(place(graph, limited)));
  for (DeviceSpec& device : limited.devices) device.memory_bytes = kBytes;
  CHECK(place(graph, limited).status().code() == StatusCode::kInfeasible);
  graph.nodes.back().resident_bytes = kBytes;
  const Result<Graph> beyond = Graph::build(graph);
  CHECK(beyond.status().code() == StatusCode::kBadInput);
  CHECK(beyond.status().message().find("2^63") != std::string::npos);
}

TEST_CASE("10,000 devices are refused, and placed on if the caller raises the limit") {
  const uint32_t count = kNodes < 100'000 ? 2'000 : 10'000;
  CHECK(!Topology::build(devices(count)).ok());
  Limits raised;
  raised.max_devices = count;
  CHECK(answered(place(chain(1000, 10, 1000), devices(count), raised)));
  TopologySpec unlike = devices(count);
  unlike.default_link = {7600, 1, 25};
  for (uint32_t d = 0; d < count; ++d) unlike.devices[d].slowdown = 1 + d * 1e-4;
  CHECK(answered(place(chain(1000, 10, 1000), unlike, raised)));
}

TEST_CASE("times that would add up to too much are refused") {
  CHECK(refused(place(chain(10, 1e308, 1), devices(2)), "nodes[0]"));
  CHECK(refused(place(chain(2, 1e60, 1), devices(2)), "sum"));
  CHECK(answered(place(chain(10, 1e58, 1), devices(2))));
  TopologySpec slow = devices(2);
  slow.default_link.bandwidth_bytes_per_us = 1e-60;
  CHECK(refused(place(chain(3, 1, 1'000'000), slow), "sum"));
  CHECK(answered(place(chain(3, 1, 0), slow)));  // nothing moves
  TopologySpec late = devices(2);
  late.default_link.latency_us = 1e300;
  CHECK(refused(place(chain(3, 1, 1), late), "default_link: latency_us"));
  TopologySpec pausing = devices(1);
  pausing.op_gap_us = 1e308;
  CHECK(refused(place(chain(3, 1, 1), pausing), "op_gap_us"));
}

TEST_CASE("times as small as can be are placed") {
  TopologySpec topology = devices(3);
  topology.op_gap_us = 0;
  topology.default_link = {1e60, 0, 0};
  CHECK(answered(place(chain(100, 1e-60, 1), topology)));
}

// Numbers that do no harm alone: the reciprocal of the least one times 0 bytes is no number.
TEST_CASE("extreme numbers in every combination of two fields are placed or refused") {
  const double values[] = {0, 5e-324, 1e-309, 1e-60, 1, 1e60, 1e300, 1.7976931348623157e308};
  constexpr int kFields = 8;
  const auto set = [](int field, double value, GraphSpec& graph, TopologySpec& topology) {
    double* const numbers[] = {&topology.default_link.bandwidth_bytes_per_us,
                               &topology.default_link.latency_us,
                               &topology.default_link.gap_us,
                               &topology.op_gap_us,
                               &topology.devices[1].slowdown,
                               &topology.devices[1].peak_flops,
                               &topology.links[0].parameters.bandwidth_bytes_per_us,
                               &graph.nodes[1].cost_us[0]};
    *numbers[field] = value;
  };
  int placed = 0, refused = 0;
  for (int a = 0; a < kFields; ++a) {
    for (int b = a + 1; b < kFields; ++b) {
      for (const double x : values) {
        for (const double y : values) {
          GraphSpec graph = chain(3, 1, 0);
          graph.nodes[2].cost_us.clear();  // estimated
          graph.nodes[2].flops = 1;
          TopologySpec topology = devices(2);
          topology.links.push_back({"gpu:0", "gpu:1", {1, 1, 1}, ""});
          topology.devices[0].peak_flops = topology.devices[0].memory_bandwidth = 1e12;
          set(a, x, graph, topology);
          set(b, y, graph, topology);
          if (!Topology::build(topology).ok()) continue;
          const auto result = place(std::move(graph), std::move(topology));
          ++(result.ok() ? placed : refused);
          if (!result.ok()) CHECK(result.status().code() == StatusCode::kBadInput);
        }
      }
    }
  }
  CHECK(placed > 100);
  CHECK(refused > 100);
}

TEST_CASE("a headroom that rounds to nothing leaves all the memory") {
  GraphSpec graph = chain(2, 1, 5);
  TopologySpec topology = devices(2);
  for (DeviceSpec& device : topology.devices) device.memory_bytes = 18446744073709551615u;
  const Graph g = *Graph::build(std::move(graph));
  const Topology t = *Topology::build(std::move(topology));
  for (const double headroom : {0.0, 1e-17, 1e-300, 0.5}) {
    Rules rules;
    rules.memory_headroom = headroom;
    const auto problem = Problem::build(g, t, rules);
    REQUIRE(problem.ok());
    CHECK(problem->memory_limit(0) > 9'000'000'000'000'000'000u);
    CHECK(place_auto(*problem, {}).ok());
  }
}

}  // namespace placeto
