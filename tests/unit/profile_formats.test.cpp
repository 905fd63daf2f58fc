// Profiles of TensorRT and OpenVINO, and how the times of their layers reach the nodes of a graph.
#include <doctest/doctest.h>

#include "tools/costs/any_profile.h"
#include "tools/costs/joined_names.h"
#include "tools/costs/measured.h"

using namespace placeto;

namespace {

using Times = std::vector<std::optional<double>>;

//   conv - relu - mul - fc - out, and side, which reads conv
Graph small_graph() {
  GraphSpec spec;
  spec.name = "test";
  for (const auto& [name, op, flops] :
       {std::tuple{"conv", "Conv", 900}, std::tuple{"relu", "Relu", 100},
        std::tuple{"mul", "Mul", 0}, std::tuple{"fc", "Gemm", 0}, std::tuple{"out", "Softmax", 0},
        std::tuple{"side", "Relu", 50}}) {
    NodeSpec node;
    node.name = name;
    node.op = op;
    node.flops = static_cast<uint64_t>(flops);
    node.outputs = {64};
    spec.nodes.push_back(std::move(node));
  }
  spec.edges = {{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {3, 0, 4}, {0, 0, 5}};
  auto graph = Graph::build(std::move(spec));
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  return *std::move(graph);
}

Times times(const std::string& text, Coverage& coverage) {
  const auto profile = parse_any_profile(text);
  REQUIRE_MESSAGE(profile.ok(), profile.status().message());
  const std::vector<NodeOutputs> outputs = {{{"t0"}}, {{"t1"}}, {{"t2"}},
                                            {{"t3"}}, {{"t4"}}, {{"t5"}}};
  const auto costs = costs_from_profile(small_graph(), outputs, *profile, "gpu", coverage);
  REQUIRE_MESSAGE(costs.ok(), costs.status().message());
  return costs->us;
}

std::string layer(const std::string& name, const std::string& figures) {
  return R"(, { "name" : ")" + name + R"(", "timeMs" : 9, )" + figures + ", \"percentage\" : 1 }\n";
}

std::string refusal(const std::string& text) {
  const auto profile = parse_any_profile(text);
  REQUIRE(!profile.ok());
  CHECK(profile.status().code() == StatusCode::kBadInput);
  return profile.status().message();
}

bool begins(const std::string& text, const std::string& with) {
  return text.find(with) == 0;
}

const std::string kRuns = "[\n  { \"count\" : 100 }\n";
const std::string kHeading =
    "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);\n";

}  // namespace

TEST_CASE("layers of TensorRT are divided over the nodes that they join, by their operations") {
  const std::string text =
      kRuns +
      layer("Reformatting CopyNode for Input Tensor 0 to conv + relu", "\"averageMs\": 0.5") +
      layer("conv + relu", R"("averageMs" : 7, "medianMs" : 2)") +
      layer("PWN(PWN(mul), node_of_t4)", "\"averageMs\" : 1") +
      layer("fc", "\"averageMs\" : 0.25") +
      layer("Reformatting CopyNode for Output Tensor 0 to side", "\"averageMs\": 0.125") +
      layer("side || (Unnamed Layer* 3) [Constant]", "\"averageMs\" : 3") + "]\n";
  Coverage coverage;
  const Times us = times(text, coverage);
  CHECK(us == Times{500 + 1800, 200, 500, 250 + 125, 500, 3000});
  CHECK(coverage.profiled == 6);
  CHECK(coverage.by_name == 4);
  CHECK(coverage.measured == 6);
  CHECK(parse_any_profile(text)->runs == 100);
}

TEST_CASE("names are joined in several ways at once") {
  Coverage coverage;
  const std::string name = "conv, other || relu + none, side, ";
  CHECK(times(kRuns + layer(name, "\"averageMs\" : 2.1") + "]", coverage) ==
        Times{1800, 200, 0, 0, 0, 100});
}

TEST_CASE("a foreign node of TensorRT stands for all nodes from its first to its last") {
  for (const auto& part :
       {std::pair{"{ForeignNode[conv...mul]}", Times{900, 100, 0, 0, 0, 0}},
        std::pair{"{ForeignNode[(Unnamed Layer* 1) [Shuffle] + conv...mul + fc]}",
                  Times{900, 100, 0, 0, 0, 0}},
        std::pair{"{ForeignNode[mul...out]}", Times{0, 0, 1e3 / 3, 1e3 / 3, 1e3 / 3, 0}},
        std::pair{"{ForeignNode[mul]}", Times{0, 0, 1000, 0, 0, 0}},
        std::pair{"{ForeignNode[fc...side]}", Times{0, 0, 0, 0, 0, 1000}}}) {
    CAPTURE(part.first);
    Coverage coverage;
    CHECK(times(kRuns + layer(part.first, "\"averageMs\" : 1") + "]", coverage) == part.second);
  }
}

TEST_CASE("counters of OpenVINO are averaged over the requests, whatever their unit") {
  const std::string text =
      kHeading +
      "x;NOT_RUN;Parameter;unknown_f32;0;0;\n"
      "conv/WithoutBiases;EXECUTED;Convolution;jit_avx512;0.5;0.5;\r\n"
      "relu;OPTIMIZED_OUT;Eltwise;undef;0;0;\n"
      "fc;EXECUTED;FullyConnected;gemm;2;2;\nTotal;;;;2.5;2.5;\n\nmore;text\n" +
      kHeading + "conv/WithoutBiases;Status.EXECUTED;Convolution;jit;1.5;1;\n" +
      "fc;NOT_RUN;FullyConnected;gemm;0;0\n\n[ INFO ] done\n";
  Coverage coverage;
  CHECK(times(text, coverage) == Times{1000, 0, 0, 1000, 0, 0});
  CHECK(coverage.measured == 2);
  CHECK(parse_any_profile(text)->runs == 2);
  CHECK(times("layerName;execStatus;layerType;execType;realTime (us);cpuTime (us)\n"
              "conv;EXECUTED;Convolution;jit;70;70",
              coverage) == Times{70, {}, {}, {}, {}, 0});
}

TEST_CASE("profiles of other engines say where they are wrong") {
  CHECK(begins(refusal(kRuns + "]"), "holds no layer"));
  CHECK(begins(refusal(kRuns + ", 3]"), "entry 1: is not an object"));
  CHECK(begins(refusal("[{\"count\": 0}]"), "entry 0: has no \"count\""));
  CHECK(
      begins(refusal(kRuns + layer("a", "\"averageMs\": \"1\"") + "]"), "entry 1: has no number"));
  CHECK(
      begins(refusal(kRuns + layer("a", "\"medianMs\": -1") + "]"), "entry 1: \"medianMs\" is -1"));
  CHECK(begins(refusal(kRuns + ", {\"averageMs\": 1}]"), "entry 1: has no text \"name\""));
  CHECK(begins(refusal(kRuns), "is not JSON"));
  CHECK(begins(refusal(kHeading), "holds no layer that ran"));
  CHECK(begins(refusal(kHeading + "a;EXECUTED\n"), "line 2: has 2 fields"));
  CHECK(begins(refusal(kHeading + "a;EXECUTED;b;c;fast;1\n"), "line 2: 'fast' is not a time"));
  CHECK(begins(refusal(kHeading + "a;EXECUTED;b;c;-1;1\n"), "line 2: '-1' is not a time"));
  CHECK(begins(refusal("layerName;execStatus;realTime (s)\n"), "line 1: a heading without"));
  CHECK(begins(refusal("{}"), "is no profile that is known"));
  CHECK(begins(refusal(""), "is no profile that is known"));
}
