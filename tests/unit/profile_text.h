// Graphs, and profiles of ONNX Runtime as text.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "tools/costs/profile.h"

namespace placeto::profile_test {

struct Op {
  std::string name, op;
  uint64_t resident = 0;
};

inline Graph graph_of(const std::vector<Op>& ops, std::vector<EdgeSpec> edges) {
  GraphSpec spec;
  spec.name = "test";
  for (const Op& op : ops) {
    NodeSpec node;
    node.name = op.name;
    node.op = op.op;
    node.outputs = {64};
    node.resident_bytes = op.resident;
    node.bytes_accessed = 128;
    spec.nodes.push_back(std::move(node));
  }
  spec.edges = std::move(edges);
  auto graph = Graph::build(std::move(spec));
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  return *std::move(graph);
}

//   conv - norm - relu - fc - out
inline Graph small_graph() {
  return graph_of({{"conv", "Conv", 400},
                   {"norm", "BatchNormalization", 64},
                   {"relu", "Relu"},
                   {"fc", "Gemm", 400},
                   {"out", "Softmax"}},
                  {{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {3, 0, 4}});
}

inline std::string event(const std::string& name, const std::string& op, int ts, int dur) {
  return R"({"cat":"Node","ph":"X","ts":)" + std::to_string(ts) + R"(,"dur":)" +
         std::to_string(dur) + R"(,"name":")" + name + R"(_kernel_time","args":{"op_name":")" + op +
         R"("}})";
}

inline Profile profile(const std::string& text) {
  auto result = parse_profile(text);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return *std::move(result);
}

}  // namespace placeto::profile_test
