// Objects for tests of the C interface, freed when they go out of scope.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "runtime/include/placeto/placeto.h"

namespace capi_test {

template <class Handle, void (*kFree)(Handle*) noexcept>
struct Deleter {
  void operator()(Handle* handle) const { kFree(handle); }
};
using Policy = std::unique_ptr<placeto_policy, Deleter<placeto_policy, placeto_policy_free>>;
using Graph = std::unique_ptr<placeto_graph, Deleter<placeto_graph, placeto_graph_free>>;
using Topology =
    std::unique_ptr<placeto_topology, Deleter<placeto_topology, placeto_topology_free>>;
using Placement =
    std::unique_ptr<placeto_placement, Deleter<placeto_placement, placeto_placement_free>>;
using GraphBuilder = std::unique_ptr<placeto_graph_builder,
                                     Deleter<placeto_graph_builder, placeto_graph_builder_free>>;
using TopologyBuilder =
    std::unique_ptr<placeto_topology_builder,
                    Deleter<placeto_topology_builder, placeto_topology_builder_free>>;

inline bool mentions(const placeto_error& error, const char* words) {
  return std::strstr(error.message, words) != nullptr;
}

inline GraphBuilder graph_builder(const char* name) {
  placeto_graph_builder* builder = nullptr;
  REQUIRE(placeto_graph_builder_create(name, &builder, nullptr) == PLACETO_OK);
  return GraphBuilder(builder);
}

// On any device: `us` of run time, one output, 100 resident bytes.
inline uint32_t add_node(placeto_graph_builder* builder, const std::string& name, double us,
                         uint64_t bytes, const char* colocate = nullptr) {
  placeto_node node;
  REQUIRE(placeto_default_node(&node, sizeof node) == PLACETO_OK);
  node.name = name.c_str();
  node.cost_us = &us;
  node.cost_count = 1;
  node.outputs = &bytes;
  node.output_count = 1;
  node.resident_bytes = 100;
  node.colocate = colocate;
  uint32_t index = PLACETO_NONE;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_graph_builder_add_node(builder, &node, &index, &error) == PLACETO_OK,
                  error.message);
  return index;
}

inline void add_edge(placeto_graph_builder* builder, uint32_t source, uint32_t target) {
  REQUIRE(placeto_graph_builder_add_edge(builder, source, 0, target, nullptr) == PLACETO_OK);
}

inline Graph build(const GraphBuilder& builder) {
  placeto_graph* graph = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_graph_builder_build(builder.get(), nullptr, &graph, &error) == PLACETO_OK,
                  error.message);
  return Graph(graph);
}

// Calls check(a value, the function that fills it with defaults, the size that the struct had in
// the first version with this SONAME) for every struct that has defaults. The sizes are those of
// 64 bits, in figures: programs that were compiled then pass them for as long as the SONAME stays.
template <class Check>
void for_all_defaults(const Check& check) {
  check(placeto_limits{}, placeto_default_limits, 56);
  check(placeto_policy_options{}, placeto_default_policy_options, 40);
  check(placeto_node{}, placeto_default_node, 112);
  check(placeto_topology_rules{}, placeto_default_topology_rules, 56);
  check(placeto_device{}, placeto_default_device, 56);
  check(placeto_link{}, placeto_default_link, 56);
  check(placeto_options{}, placeto_default_options, 176);
}

//        +-> left (100) ---+
// in (1) +                 +-> out (1)
//        +-> right (100) --+
inline Graph diamond() {
  const GraphBuilder builder = graph_builder("diamond");
  const uint32_t in = add_node(builder.get(), "in", 1, 10);
  const uint32_t left = add_node(builder.get(), "left", 100, 10);
  const uint32_t right = add_node(builder.get(), "right", 100, 10);
  const uint32_t out = add_node(builder.get(), "out", 1, 10);
  add_edge(builder.get(), in, left);
  add_edge(builder.get(), in, right);
  add_edge(builder.get(), left, out);
  add_edge(builder.get(), right, out);
  return build(builder);
}

// A row of diamonds with four branches each.
inline Graph ladder(uint32_t blocks) {
  const GraphBuilder builder = graph_builder("ladder");
  uint32_t last = add_node(builder.get(), "in", 1, 10);
  for (uint32_t b = 0; b < blocks; ++b) {
    const uint32_t join = add_node(builder.get(), "join" + std::to_string(b), 2, 10);
    for (uint32_t i = 0; i < 4; ++i) {
      const std::string name = "branch" + std::to_string(b) + "/" + std::to_string(i);
      const uint32_t branch = add_node(builder.get(), name, 20 + 3 * i + b % 5, 10 + i);
      add_edge(builder.get(), last, branch);
      add_edge(builder.get(), branch, join);
    }
    last = join;
  }
  return build(builder);
}

inline placeto_topology_rules topology_rules(double bandwidth_bytes_per_us) {
  placeto_topology_rules rules;
  REQUIRE(placeto_default_topology_rules(&rules, sizeof rules) == PLACETO_OK);
  rules.bandwidth_bytes_per_us = bandwidth_bytes_per_us;
  return rules;
}

inline TopologyBuilder topology_builder(const char* name, const placeto_topology_rules& rules) {
  placeto_topology_builder* builder = nullptr;
  REQUIRE(placeto_topology_builder_create(name, &builder, nullptr) == PLACETO_OK);
  REQUIRE(placeto_topology_builder_set_rules(builder, &rules, nullptr) == PLACETO_OK);
  return TopologyBuilder(builder);
}

// So many equal devices "gpu:0", ...; 10 bytes per microsecond between them. memory_bytes 0:
// unlimited.
inline Topology devices(uint32_t count, uint64_t memory_bytes = 0,
                        const placeto_topology_rules& rules = topology_rules(10)) {
  const TopologyBuilder builder = topology_builder("host", rules);
  for (uint32_t d = 0; d < count; ++d) {
    const std::string name = "gpu:" + std::to_string(d);
    placeto_device device;
    REQUIRE(placeto_default_device(&device, sizeof device) == PLACETO_OK);
    device.name = name.c_str();
    device.kind = "gpu";
    device.memory_bytes = memory_bytes;
    uint32_t index = PLACETO_NONE;
    REQUIRE(placeto_topology_builder_add_device(builder.get(), &device, &index, nullptr) ==
            PLACETO_OK);
    CHECK(index == d);
  }
  placeto_topology* topology = nullptr;
  REQUIRE(placeto_topology_builder_build(builder.get(), nullptr, &topology, nullptr) == PLACETO_OK);
  return Topology(topology);
}

inline placeto_options options() {
  placeto_options value;
  REQUIRE(placeto_default_options(&value, sizeof value) == PLACETO_OK);
  return value;
}

inline Placement place(const Graph& graph, const Topology& topology,
                       const placeto_options& chosen = options(),
                       const placeto_policy* policy = nullptr) {
  placeto_placement* placement = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(
      placeto_place(graph.get(), topology.get(), policy, &chosen, &placement, &error) == PLACETO_OK,
      error.message);
  return Placement(placement);
}

inline std::vector<uint32_t> assignment_of(const Placement& placement) {
  std::vector<uint32_t> devices(placeto_placement_node_count(placement.get()));
  REQUIRE(placeto_placement_assignment(placement.get(), devices.data(), devices.size(), nullptr) ==
          PLACETO_OK);
  return devices;
}

// A file that is gone when the test ends.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::vector<uint8_t>& bytes)
      : path_("capi_test_" + name) {
    std::ofstream file(path_, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

inline Placement score(const Graph& graph, const Topology& topology,
                       const std::vector<uint32_t>& assignment,
                       const placeto_options& chosen = options()) {
  placeto_placement* placement = nullptr;
  placeto_error error;
  REQUIRE_MESSAGE(placeto_score(graph.get(), topology.get(), assignment.data(), assignment.size(),
                                &chosen, &placement, &error) == PLACETO_OK,
                  error.message);
  return Placement(placement);
}

inline placeto_status try_place(const Graph& graph, const Topology& topology,
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

inline std::vector<placeto_candidate> candidates_of(const Placement& placement) {
  std::vector<placeto_candidate> list(placeto_placement_candidate_count(placement.get()));
  for (size_t i = 0; i < list.size(); ++i) {
    list[i].struct_size = sizeof list[i];
    REQUIRE(placeto_placement_candidate(placement.get(), i, &list[i], nullptr) == PLACETO_OK);
  }
  return list;
}

}  // namespace capi_test
