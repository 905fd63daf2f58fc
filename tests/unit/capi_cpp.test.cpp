// The C++ wrapper. Includes nothing else of the library: its own headers name other types alike.
#include <doctest/doctest.h>

#include <array>
#include <placeto/placeto.hpp>
#include <thread>
#include <type_traits>

namespace {

placeto::Expected<placeto::Graph> chain(int nodes, bool cycle = false) {
  placeto::GraphBuilder builder("chain");
  for (int v = 0; v < nodes; ++v) {
    const double us = 10;
    const uint64_t bytes = 8;
    const std::string name = "n" + std::to_string(v);
    placeto::Node node;
    node.name = name.c_str();
    node.cost_us = &us;
    node.cost_count = 1;
    node.outputs = &bytes;
    node.output_count = 1;
    node.resident_bytes = 50;
    const uint32_t index = builder.add_node(node);
    if (v > 0) builder.add_edge(index - 1, 0, index);
  }
  if (cycle) builder.add_edge(static_cast<uint32_t>(nodes - 1), 0, 0);
  return builder.build();
}

placeto::Expected<placeto::Topology> host(uint64_t memory_bytes,
                                          int32_t execution = PLACETO_EXECUTION_PARALLEL) {
  placeto::TopologyBuilder builder("host");
  placeto::TopologyRules rules;
  rules.bandwidth_bytes_per_us = 1;
  rules.execution = execution;
  builder.set_rules(rules);
  for (const char* name : {"gpu:0", "gpu:1"}) {
    placeto::Device device;
    device.name = name;
    device.kind = "gpu";
    device.memory_bytes = memory_bytes;
    builder.add_device(device);
  }
  placeto::Link link;
  link.from = "gpu:0";
  link.to = "gpu:1";
  link.bandwidth_bytes_per_us = 2;
  builder.add_link(link);
  return builder.build();
}

// a (on a gpu) -> b (anywhere), and c (on a cpu) after a.
placeto::Expected<placeto::Graph> unlike_nodes() {
  placeto::GraphBuilder builder("unlike");
  builder.set_kinds({"gpu", "cpu"});
  const uint64_t bytes = 8;
  for (const auto& costs : {std::array<double, 2>{7, -1}, {1, 2}, {-1, 5}}) {
    placeto::Node node;
    node.cost_us = costs.data();
    node.cost_count = costs.size();
    node.outputs = &bytes;
    node.output_count = 1;
    builder.add_node(node);
  }
  builder.add_edge(0, 0, 1);
  builder.add_edge(0, PLACETO_CONTROL_EDGE, 2);
  return builder.build();
}

}  // namespace

TEST_CASE("the C++ wrapper places a graph and reads everything back") {
  const auto graph = chain(5);
  const auto topology = host(0);
  REQUIRE(graph);
  REQUIRE(topology);
  CHECK(graph->name() == "chain");
  CHECK(graph->node_count() == 5);
  CHECK(graph->edge_count() == 4);
  CHECK(graph->node_name(3) == "n3");
  CHECK(graph->find_node("n3") == 3);
  CHECK(topology->name() == "host");
  CHECK(topology->device_count() == 2);
  CHECK(topology->device_name(1) == "gpu:1");
  CHECK(topology->device_kind(1) == "gpu");
  CHECK(topology->find_device("gpu:1") == 1);
  auto placement = placeto::place(*graph, *topology);
  REQUIRE(placement);
  CHECK(placement->assignment() == std::vector<uint32_t>(5, placement->device(0)));
  CHECK(placement->makespan_us() == doctest::Approx(50));
  CHECK(placement->lower_bound_us() == doctest::Approx(50));
  CHECK(placement->bottleneck_us() == doctest::Approx(50));
  CHECK(placement->proved());
  CHECK(placement->place_time_us() > 0);
  CHECK(placement->feasible());
  CHECK(placement->note().empty());
  CHECK(placement->shortfall() == std::vector<uint64_t>{0, 0});
  CHECK(placement->peak_memory()[placement->device(0)] >= 250);
  int winners = 0;
  for (const placeto_candidate& c : placement->candidates()) winners += c.won;
  CHECK(winners == 1);
  const auto reason = placement->explain(2);
  REQUIRE(reason);
  CHECK(reason->second_cost_us > 50);
  CHECK_FALSE(placement->explain(5));
  const auto scored = placeto::score(*graph, *topology, {0, 0, 1, 1, 1});
  REQUIRE(scored);
  CHECK(scored->makespan_us() == doctest::Approx(54));  // 8 bytes over the link of 2 per us
  CHECK_FALSE(scored->proved());
  placeto::Options options;
  options.objective = PLACETO_THROUGHPUT;
  const auto pipeline = placeto::place(*graph, *topology, nullptr, options);
  REQUIRE(pipeline);
  CHECK(pipeline->replicas_us() == doctest::Approx(25));
  CHECK(pipeline->sequential_us() == 0);  // not less than the bottleneck
}

TEST_CASE("the C++ wrapper says of a node what it was given") {
  placeto::GraphBuilder builder;
  const char* const types[] = {"float", "int64"};
  placeto::Node node;
  node.op = "Conv";
  node.domain = "ai.onnx";
  node.opset = 17;
  node.input_types = types;
  node.input_type_count = 2;
  builder.add_node(node);
  const auto graph = builder.build();
  REQUIRE(graph);
  const auto given = graph->node(0);
  REQUIRE(given);
  CHECK(std::string(given->op) == "Conv");
  CHECK(std::string(given->domain) == "ai.onnx");
  CHECK(given->opset == 17);
  REQUIRE(given->input_type_count == 2);
  CHECK(std::string(given->input_types[1]) == "int64");
  CHECK(graph->node(1).error().status == PLACETO_INVALID_ARGUMENT);
}

TEST_CASE("by the C++ wrapper a graph can be built again from what it says of itself") {
  const auto graph = unlike_nodes();
  REQUIRE(graph);
  placeto::GraphBuilder again(graph->name());
  std::vector<std::string> kinds;
  for (uint32_t k = 0; k < graph->kind_count(); ++k) kinds.push_back(graph->kind(k));
  CHECK(kinds == std::vector<std::string>{"gpu", "cpu"});
  CHECK(graph->kind(2).empty());
  again.set_kinds({kinds[0].c_str(), kinds[1].c_str()});
  for (uint32_t v = 0; v < graph->node_count(); ++v) again.add_node(*graph->node(v));
  for (const placeto::Edge& edge : graph->edges()) {
    again.add_edge(edge.source, edge.output, edge.target);
  }
  CHECK(graph->edges().size() == 2);
  CHECK(graph->edges()[1].output == PLACETO_CONTROL_EDGE);
  CHECK(*again.build()->encode() == *graph->encode());
}

TEST_CASE("by the C++ wrapper a topology can be built again from what it says of itself") {
  const auto topology = host(1000);
  placeto::TopologyBuilder again(topology->name());
  again.set_rules(*topology->rules());
  for (uint32_t d = 0; d < topology->device_count(); ++d) again.add_device(*topology->device(d));
  again.add_link(*topology->link(0, 1));
  CHECK(*again.build()->encode() == *topology->encode());
  CHECK(topology->device(1)->memory_bytes == 1000);
  CHECK(topology->link(1, 0)->bandwidth_bytes_per_us == 1);  // the default one
  CHECK(topology->device(2).error().status == PLACETO_INVALID_ARGUMENT);
  CHECK(topology->link(0, 0).error().status == PLACETO_INVALID_ARGUMENT);
}

TEST_CASE("by the C++ wrapper run times are those of the cost model") {
  placeto::TopologyBuilder builder;
  for (const char* kind : {"gpu", "cpu"}) {
    placeto::Device device;
    device.name = device.kind = kind;
    device.slowdown = 2;
    builder.add_device(device);
  }
  placeto::TopologyRules rules;
  rules.bandwidth_bytes_per_us = 1;
  builder.set_rules(rules);
  const auto topology = builder.build();
  const auto us = placeto::run_times(*unlike_nodes(), *topology);
  REQUIRE(us);
  CHECK(*us == std::vector<double>{14, -1, 2, 4, -1, 10});
  placeto::Limits limits;
  limits.max_run_entries = 1;
  CHECK(placeto::run_times(*unlike_nodes(), *topology, &limits).error().status ==
        PLACETO_BAD_INPUT);
}

TEST_CASE("the C++ wrapper encodes and loads") {
  const auto graph = chain(3);
  const auto topology = host(1000);
  const auto graph_bytes = graph->encode(), topology_bytes = topology->encode();
  REQUIRE(graph_bytes);
  REQUIRE(topology_bytes);
  const auto graph_again = placeto::Graph::load_memory(graph_bytes->data(), graph_bytes->size());
  const auto topology_again =
      placeto::Topology::load_memory(topology_bytes->data(), topology_bytes->size());
  REQUIRE(graph_again);
  REQUIRE(topology_again);
  CHECK(*graph_again->encode() == *graph_bytes);
  CHECK(*topology_again->encode() == *topology_bytes);
  CHECK(placeto::place(*graph, *topology)->encode()->size() > 8);
}

TEST_CASE("the C++ wrapper reads an assignment from a file of its placement") {
  const auto graph = chain(3);
  const auto topology = host(0);
  const std::vector<uint32_t> apart{0, 1, 1};
  const auto bytes = placeto::score(*graph, *topology, apart)->encode();
  REQUIRE(bytes);
  const auto read = placeto::decode_assignment(bytes->data(), bytes->size(), *graph, *topology);
  REQUIRE(read);
  CHECK(*read == apart);
  const auto other = placeto::decode_assignment(bytes->data(), bytes->size(), *chain(4), *topology);
  CHECK(other.error().status == PLACETO_BAD_INPUT);
  const auto whole = placeto::decode_placement(bytes->data(), bytes->size(), *graph, *topology);
  REQUIRE(whole);
  CHECK(whole->assignment() == apart);
  CHECK(*whole->encode() == *bytes);
}

TEST_CASE("the C++ wrapper says in which stages nodes run, and in what order") {
  const auto graph = chain(3);
  const auto staged = host(0, PLACETO_EXECUTION_STAGED);
  REQUIRE(staged);
  const auto placement = placeto::score(*graph, *staged, {0, 1, 1});
  REQUIRE(placement);
  CHECK(placement->stage_count() == 2);
  CHECK(placement->stages() == std::vector<uint32_t>{0, 1, 1});
  CHECK(placement->stage_order() == std::vector<uint32_t>{0, 1});

  const auto unstaged = placeto::score(*graph, *host(0), {0, 1, 1});
  REQUIRE(unstaged);
  CHECK(unstaged->stage_count() == 0);
  CHECK(unstaged->stages().empty());
  CHECK(unstaged->stage_order().empty());
}

TEST_CASE("the C++ wrapper hands a caller's verification on") {
  placeto::PolicyOptions options;
  options.verify = [](void*, const void*, size_t size) -> int32_t { return size == 3; };
  const auto refused = placeto::Policy::load_memory("garbage.", 8, options);
  CHECK(refused.error().message.find("verification") != std::string::npos);
  const auto accepted = placeto::Policy::load_memory("abc", 3, options);
  CHECK(accepted.error().status == PLACETO_BAD_INPUT);
  CHECK(accepted.error().message.find("verification") == std::string::npos);
}

TEST_CASE("the C++ wrapper reports a policy's decisions to a lambda, and says when nodes run") {
  const auto policy = placeto::Policy::load_file(PLACETO_MODELS "/default.plpo");
  REQUIRE(policy);
  CHECK(policy->feature_name(1) == "work_change");
  const auto graph = chain(6);
  size_t drawn = 0;
  placeto::Options options;
  options.samples = 5;
  options.step_context = &drawn;
  options.on_step = [](void* context, const placeto_step* step) {
    if (step->sample > 0) ++*static_cast<size_t*>(context);
  };
  const auto placement = placeto::place(*graph, *host(0), &*policy, options);
  REQUIRE(placement);
  CHECK(drawn > 0);
  CHECK(placement->stopped() == PLACETO_COMPLETE);
  CHECK(placement->start_us().size() == 6);
  CHECK(placement->finish_us().back() == placement->makespan_us());
}

TEST_CASE("the C++ wrapper ends a placing that another thread cancels, until that is taken back") {
  auto cancel = placeto::Cancel::create();
  REQUIRE(cancel);
  const auto graph = chain(40);
  const auto topology = host(0);
  placeto::Options options;
  options.cancel = cancel->get();
  options.method = "anneal";
  options.budget_milliseconds = 600'000;
  std::thread other([&cancel] { cancel->request(); });
  const auto cancelled = placeto::place(*graph, *topology, nullptr, options);  // not ten minutes
  other.join();
  if (cancelled) CHECK(cancelled->stopped() != PLACETO_COMPLETE);
  if (!cancelled) CHECK(cancelled.error().status == PLACETO_STOPPED);

  cancel->reset();
  options.budget_milliseconds = 0;
  options.budget_evaluations = 100;
  const auto placement = placeto::place(*graph, *topology, nullptr, options);
  REQUIRE(placement);
  CHECK(placement->stopped() == PLACETO_COMPLETE);
}

TEST_CASE("the C++ wrapper says which library it runs with, and what a status is called") {
  CHECK(placeto::version() == PLACETO_VERSION);
  CHECK(placeto::version_text() == std::to_string(PLACETO_VERSION_MAJOR) + "." +
                                       std::to_string(PLACETO_VERSION_MINOR) + "." +
                                       std::to_string(PLACETO_VERSION_PATCH));
  CHECK(placeto::has_onednn() == (placeto_has_onednn() == 1));
  CHECK(placeto::status_text(PLACETO_IO) == "input/output error");
  CHECK(placeto::status_text(99) == "unknown");
}

TEST_CASE("the C++ wrapper hands errors on, and throws them when asked to") {
  const auto graph = chain(3, true);
  CHECK_FALSE(graph);
  CHECK(graph.error().status == PLACETO_BAD_INPUT);
  CHECK(graph.error().message.find("cycle") != std::string::npos);
  CHECK_THROWS_AS(chain(3, true).value_or_throw(), placeto::Exception);
  CHECK(chain(3).value_or_throw().node_count() == 3);
  try {
    placeto::Policy::load_file("no such file").value_or_throw();
    FAIL("no exception");
  } catch (const placeto::Exception& e) {
    CHECK(e.status() == PLACETO_IO);
  }
  CHECK(placeto::Policy::load_memory("garbage.", 8).error().status == PLACETO_BAD_INPUT);
  CHECK(placeto::Graph::load_file("no such file").error().status == PLACETO_IO);
  CHECK(placeto::Topology::load_file("no such file").error().status == PLACETO_IO);
  CHECK(placeto::place(*chain(9), *host(100)).error().status == PLACETO_INFEASIBLE);
}

TEST_CASE("a builder of the C++ wrapper returns the first error of its steps") {
  placeto::GraphBuilder builder;
  placeto::Node node;
  node.struct_size = 1;
  CHECK(builder.add_node(node) == PLACETO_NONE);
  builder.add_edge(0, 0, 0);
  const auto graph = builder.build();
  CHECK_FALSE(graph);
  CHECK(graph.error().message.find("struct_size") != std::string::npos);
}

TEST_CASE("objects of the C++ wrapper are moved, not copied, and a moved-from one is an error") {
  static_assert(!std::is_copy_constructible_v<placeto::Graph>);
  static_assert(std::is_nothrow_move_constructible_v<placeto::Graph>);
  auto graph = chain(2);
  const auto topology = host(0);
  const placeto::Graph taken = std::move(*graph);
  CHECK(taken.node_count() == 2);
  CHECK(placeto::place(*graph, *topology).error().status == PLACETO_INVALID_ARGUMENT);
}
