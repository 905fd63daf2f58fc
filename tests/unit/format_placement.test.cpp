// What a placement file means on a graph and a topology.
#include <doctest/doctest.h>

#include <limits>

#include "runtime/format/placement_file.h"
#include "tests/unit/format_support.h"

namespace placeto {
namespace {

using test::message_of;

Graph three_nodes() {
  GraphSpec spec;
  spec.name = "tiny";
  spec.nodes.resize(3);
  return *Graph::build(spec);
}

Topology three_devices() {
  TopologySpec spec;
  spec.name = "host";
  spec.devices = {{.name = "cpu", .kind = "cpu"},
                  {.name = "gpu:0", .kind = "gpu"},
                  {.name = "gpu:1", .kind = "gpu"}};
  spec.default_link = {1, 0, 0};
  return *Topology::build(spec);
}

PlacementSpec on_gpus() {
  PlacementSpec spec;
  spec.devices = {"gpu:1", "gpu:0"};
  spec.assignment = {0, 1, 0};
  return spec;
}

template <class Change>
std::string resolved_after(Change change) {
  PlacementSpec spec = on_gpus();
  change(spec);
  return message_of(resolve_placement(spec, three_nodes(), three_devices()));
}

template <class Change>
std::string checked_after(Change change, const Limits& limits = {}) {
  PlacementSpec spec = on_gpus();
  change(spec);
  // Decoding must say the same.
  CHECK(message_of(decode_placement(*encode_placement(spec), limits)) ==
        message_of(check_placement(spec, limits)));
  return message_of(check_placement(spec, limits));
}

}  // namespace

TEST_CASE("an assignment indexes the file's own devices, in whatever order they are") {
  const auto assignment = resolve_placement(on_gpus(), three_nodes(), three_devices());
  REQUIRE(assignment.ok());
  CHECK(*assignment == Assignment{2, 1, 2});
}

TEST_CASE("describing an assignment and resolving the description gives it back") {
  const Graph graph = three_nodes();
  const Topology topology = three_devices();
  const Assignment assignment = {2, 0, 1};
  Timeline timeline;
  timeline.makespan_us = 12.5;
  timeline.peak_memory_bytes = {1, 2, 3};
  timeline.stage_of = {0, 1, 2};
  timeline.stage_order = {0, 1, 2};
  const PlacementSpec spec = describe_placement(graph, topology, assignment, timeline, "heft");
  CHECK(spec.graph == "tiny");
  CHECK(spec.topology == "host");
  CHECK(spec.devices == std::vector<std::string>{"cpu", "gpu:0", "gpu:1"});
  CHECK(spec.makespan_us == 12.5);
  CHECK(spec.peak_memory_bytes == timeline.peak_memory_bytes);
  CHECK(spec.stages == timeline.stage_of);
  CHECK(spec.order == timeline.stage_order);
  CHECK(spec.method == "heft");
  CHECK(*resolve_placement(spec, graph, topology) == assignment);
}

TEST_CASE("a placement for another graph or topology is refused") {
  CHECK(resolved_after([](PlacementSpec& p) { p.assignment.pop_back(); }) ==
        "assignment: 2 entries, expected 3, one for each node of graph 'tiny'");
  CHECK(resolved_after([](PlacementSpec& p) { p.devices[1] = "tpu"; }) ==
        "devices[1] is 'tpu', expected a device of topology 'host': 'cpu', 'gpu:0', 'gpu:1'");
  CHECK(resolved_after([](PlacementSpec& p) { p.assignment[2] = 2; }) ==
        "assignment[2] is 2, expected an index into the 2 devices of this file");
}

TEST_CASE("a placement that contradicts itself is refused, built or read") {
  CHECK(checked_after([](PlacementSpec&) {}) == "ok");
  CHECK(checked_after([](PlacementSpec& p) { p.assignment[1] = 4294967295u; }) ==
        "assignment[1] is 4294967295, expected an index into the 2 devices of this file");
  CHECK(checked_after([](PlacementSpec& p) { p.devices[1] = "gpu:1"; }) ==
        "devices[1]: 'gpu:1' stands at devices[0] already, expected distinct devices");
  CHECK(checked_after([](PlacementSpec& p) { p.devices[0] = ""; }) ==
        "devices[0]: is empty, expected a name");
  CHECK(checked_after([](PlacementSpec& p) { p.method = "\xff"; }) ==
        "method: is '\\xff', expected valid UTF-8");
  CHECK(checked_after([](PlacementSpec& p) { p.dims = {"a=1", "b=c=2147483648"}; }) == "ok");
  for (const char* dim : {"", "a", "=1", "a=", "a=0", "a=-1", "a=1x", "a=2147483649"}) {
    CHECK(checked_after([dim](PlacementSpec& p) {
            p.dims = {"n=2", dim};
          }) == "dims[1] is '" + std::string(dim) +
                    "', expected NAME=N with a whole number N from 1 to 2147483648");
  }
  CHECK(checked_after([](PlacementSpec& p) { p.dims.assign(4'097, "n=2"); }) ==
        "dims: 4097 entries, expected at most 4096");
  CHECK(checked_after([](PlacementSpec& p) { p.peak_memory_bytes = {1}; }) ==
        "peak_memory_bytes: 1 entries, expected one for each of the 2 devices, or none");
  for (const double makespan :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CHECK(test::contains(checked_after([makespan](PlacementSpec& p) { p.makespan_us = makespan; }),
                         ", expected a finite number that is not negative"));
  }
}

TEST_CASE("a placement over the limits is refused") {
  CHECK(checked_after([](PlacementSpec&) {}, {.max_nodes = 2}) ==
        "assignment: 3 entries, expected at most 2");
  CHECK(checked_after([](PlacementSpec&) {}, {.max_devices = 1}) ==
        "devices: 2 entries, expected at most 1");
  CHECK(checked_after([](PlacementSpec& p) { p.graph = "long"; }, {.max_name_bytes = 3}) ==
        "graph: is 4 bytes long, expected at most 3");
}

TEST_CASE("reasons must agree with the placement they explain") {
  const auto with_reason = [](ReasonSpec reason) {
    return checked_after([&](PlacementSpec& p) { p.reasons = {{1, 1}, reason}; });
  };
  CHECK(with_reason({2, 0, 5, 1, 6, true}) == "ok");
  CHECK(with_reason({3, 0}) == "reasons[1]: node has no entry in assignment");
  CHECK(with_reason({2, 1}) == "reasons[1]: device is not that of the node in assignment");
  CHECK(with_reason({2, 0, 5, 2}) == "reasons[1]: second_device is no index into devices");
  CHECK(with_reason({2, 0, -1}) == "reasons[1]: has a cost that is not finite or negative");
  CHECK(with_reason({2, 0, 1, 1, std::numeric_limits<double>::infinity()}) ==
        "reasons[1]: has a cost that is not finite or negative");
}

}  // namespace placeto
