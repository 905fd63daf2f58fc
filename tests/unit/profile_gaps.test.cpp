// Profiles of a part of a model, and of the whole of one that the engine changed.
#include "tools/costs/profile_gaps.h"

#include <doctest/doctest.h>

#include "tests/unit/profile_text.h"
#include "tools/costs/measured.h"

namespace placeto::profile_test {

TEST_CASE(
    "a profile of a part of the model leaves the rest open, and all parts together know it all") {
  const Graph graph = graph_of({{"conv", "Conv", 400},
                                {"relu", "Relu"},
                                {"next", "Conv", 400},
                                {"sum", "Add"},  // with what is before the convolution
                                {"fc", "Gemm", 400},
                                {"out", "Softmax"}},
                               {{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {1, 0, 3}, {3, 0, 4}, {4, 0, 5}});
  const Profile parts[] = {
      profile("[" + event("relu_nchwc", "Conv", 0, 100) + "]"),  // with the conv
      profile("[" + event("next", "Conv", 0, 50) + "," + event("fc", "Gemm", 50, 30) + "," +
              event("out", "Softmax", 80, 2) + "]")};
  Coverage coverage;
  std::vector<KindCosts> costs;
  for (const Profile& part : parts) {
    auto known = costs_from_profile(graph, {}, part, "cpu", coverage);
    REQUIRE_MESSAGE(known.ok(), known.status().message());
    costs.push_back(*std::move(known));
  }
  CHECK(costs[0].us[0] == 100);
  CHECK(costs[0].us[1] == 0);
  for (const size_t v : {2, 4, 5}) CHECK_FALSE(costs[0].us[v]);
  CHECK_FALSE(costs[1].us[0]);
  CHECK(coverage.measured == 3);
  CHECK(coverage.absorbed == 1);  // the sum
  CHECK(coverage.missing == 2);

  GraphSpec spec = graph.spec();
  const Status alone = set_costs(graph, {&costs[0], 1}, {}, spec);
  CHECK(alone.message().find("no run time on kind 'cpu' for 3 of 6 nodes ('next', ") == 0);
  for (const bool turned : {false, true}) {
    if (turned) std::swap(costs[0], costs[1]);
    REQUIRE(set_costs(graph, costs, {}, spec).ok());
    const double expected[] = {100, 0, 50, 0, 30, 2};
    for (size_t v = 0; v < 6; ++v) CHECK(spec.nodes[v].cost_us == std::vector<double>{expected[v]});
  }
}

TEST_CASE("a profile of the whole model lacks nothing, whatever the engine made of it") {
  const Graph graph = graph_of({{"norm", "LayerNormalization", 10},
                                {"q", "MatMul", 400},
                                {"q_bias", "Add", 10},
                                {"k", "MatMul", 400},
                                {"v", "MatMul", 400},
                                {"qk", "MatMul", 100},
                                {"soft", "Softmax", 10},
                                {"qkv", "MatMul", 100},
                                {"out", "MatMul", 400}},
                               {{0, 0, 1},
                                {1, 0, 2},
                                {0, 0, 3},
                                {0, 0, 4},
                                {2, 0, 5},
                                {3, 0, 5},
                                {5, 0, 6},
                                {6, 0, 7},
                                {4, 0, 7},
                                {7, 0, 8}});
  const std::string ends =
      event("norm", "LayerNormalization", 0, 50) + "," + event("out", "MatMul", 500, 300) + ",";
  for (const std::string& whole :
       {event("q", "Attention", 50, 40), event("Attention_0", "Attention", 50, 40),
        event("TRTKernel_graph_1", "TRTKernel_graph_1", 50, 40),
        event("q", "MatMul", 50, 10) + "," + event("k", "MatMul", 60, 10) + "," +
            event("v", "MatMul", 70, 10) + "," + event("one", "MatMul", 80, 10) + "," +
            event("other", "MatMul", 90, 10)}) {
    CAPTURE(whole);
    Coverage coverage;
    const auto costs =
        costs_from_profile(graph, {}, profile("[" + ends + whole + "]"), "cpu", coverage);
    REQUIRE_MESSAGE(costs.ok(), costs.status().message());
    CHECK(coverage.missing == 0);
  }
  // A later one counts whole.
  std::vector<KindCosts> both;
  for (const bool fused : {false, true}) {
    Coverage coverage;
    const std::string first =
        fused ? event("conv", "FusedConv", 0, 110)
              : event("conv", "Conv", 0, 100) + "," + event("relu", "Relu", 100, 30);
    const auto costs = costs_from_profile(
        small_graph(), {}, profile("[" + first + "," + event("fc", "Gemm", 200, 9) + "]"), "cpu",
        coverage);
    REQUIRE(costs.ok());
    both.push_back(*costs);
  }
  GraphSpec spec = small_graph().spec();
  REQUIRE(set_costs(small_graph(), both, {}, spec).ok());
  CHECK(spec.nodes[0].cost_us[0] == 110);
  CHECK(spec.nodes[2].cost_us[0] == 0);
}

TEST_CASE("a product that makes next to nothing of the model may be merged with an equal one") {
  for (const bool small : {false, true}) {
    GraphSpec spec =
        graph_of({{"fc", "MatMul"}, {"one", "MatMul"}, {"same", "MatMul"}}, {{0, 0, 1}, {0, 0, 2}})
            .spec();
    spec.nodes[0].flops = 1'000'000;
    for (const size_t v : {1, 2}) spec.nodes[v].flops = small ? 1'000 : 100'000;
    const Graph graph = *Graph::build(std::move(spec));
    Coverage coverage;
    const auto costs = costs_from_profile(
        graph, {},
        profile("[" + event("fc", "MatMul", 0, 90) + "," + event("one", "MatMul", 90, 1) + "]"),
        "cpu", coverage);
    REQUIRE(costs.ok());
    CHECK(coverage.missing == (small ? 0 : 1));
  }
}

TEST_CASE("copies that an engine adds stand for nothing") {
  const Graph graph = graph_of({{"conv", "Conv"}, {"fc", "Gemm"}}, {{0, 0, 1}});
  Coverage coverage;
  const auto costs = costs_from_profile(graph, {},
                                        profile("[" + event("conv", "Conv", 0, 90) + "," +
                                                event("Memcpy", "MemcpyToHost", 90, 1) + "]"),
                                        "gpu", coverage);
  REQUIRE(costs.ok());
  CHECK(coverage.missing == 1);
}

}  // namespace placeto::profile_test
