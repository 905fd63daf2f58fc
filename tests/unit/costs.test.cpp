// Run times: profiles, tables, and what of them nodes get.
#include <doctest/doctest.h>

#include "runtime/cost/estimate.h"
#include "tests/unit/profile_text.h"
#include "tools/costs/fusion.h"
#include "tools/costs/measured.h"

namespace placeto::profile_test {

namespace {

// Of one whose first output has that shape.
std::string shaped_event(const std::string& name, const std::string& op, int ts, int dur,
                         const std::string& shape) {
  std::string text = event(name, op, ts, dur);
  text.insert(text.size() - 2, R"(,"output_type_shape":[{"float":)" + shape + "}]");
  return text;
}

std::string run(int ts, int dur) {
  return R"({"cat":"Session","ts":)" + std::to_string(ts) + R"(,"dur":)" + std::to_string(dur) +
         R"(,"name":"model_run","args":{}})";
}

// Of its nodes' medians.
double total_us(const Profile& profile) {
  double total = 0;
  for (const ProfiledNode& node : profile.nodes) total += node.median_us;
  return total;
}

}  // namespace

TEST_CASE("a profile gives medians without the first run") {
  const Profile got = profile("[" + run(0, 1000) + "," + event("a", "Conv", 1, 900) + "," +
                              run(2000, 30) + "," + event("a", "Conv", 2001, 10) + "," +
                              run(3000, 50) + "," + event("a", "Conv", 3001, 40) + "," +
                              run(4000, 40) + "," + event("a", "Conv", 4001, 20) + "]");
  REQUIRE(got.nodes.size() == 1);
  CHECK(got.nodes[0].name == "a");
  CHECK(got.nodes[0].op == "Conv");
  CHECK(got.nodes[0].median_us == 20);
  CHECK(got.runs == 3);
  CHECK(got.warm_up_dropped);
  CHECK(got.median_run_us == 40);
}

TEST_CASE("runs are told apart without events of whole runs, and one run counts") {
  const Profile two = profile("[" + event("a", "", 0, 90) + "," + event("b", "", 100, 90) + "," +
                              event("a", "", 200, 9) + "," + event("b", "", 210, 7) + "]");
  CHECK(total_us(two) == 16);
  CHECK(two.runs == 1);
  const Profile one = profile("[" + event("a", "", 0, 90) + "]");
  CHECK(total_us(one) == 90);
  CHECK(!one.warm_up_dropped);
}

TEST_CASE("nodes inside another node are part of it") {
  const Profile got = profile("[" + event("inner", "Add", 12, 5) + "," + event("if", "If", 10, 20) +
                              "," + event("after", "Add", 30, 3) + "]");
  CHECK(total_us(got) == 23);
  CHECK(got.nodes.size() == 2);
}

TEST_CASE("nodes that ran at the same time on other threads have their own times") {
  const Profile got =
      profile("[" + event("a", "MatMul", 10, 900) + "," + event("b", "MatMul", 20, 800) + "]");
  CHECK(got.nodes.size() == 2);
  CHECK(total_us(got) == 1'700);
}

TEST_CASE("nodes of a branch that stands in the place of its node have their own times") {
  ProfileLimits limits;
  limits.has_node = [](std::string_view name) { return name != "if"; };
  const auto got =
      parse_profile("[" + event("inner", "Add", 12, 5) + "," + event("loop", "Loop", 18, 10) + "," +
                        event("body", "Add", 19, 2) + "," + event("if", "If", 10, 20) + "," +
                        event("after", "Add", 30, 3) + "]",
                    limits);
  REQUIRE(got.ok());
  REQUIRE(got->nodes.size() == 3);
  CHECK(got->nodes[0].name == "inner");
  CHECK(got->nodes[1].name == "loop");
  CHECK(total_us(*got) == 18);
}

TEST_CASE("the time of a node on a GPU is that of its kernels, not of their launch") {
  const auto kernel = [](const std::string& args, int dur) {
    return R"({"cat":"Kernel","ts":-7,"dur":)" + std::to_string(dur) +
           R"(,"name":"implicit_gemm","args":{"stream":"13",)" + args + "}},";
  };
  const std::string of_conv = R"("op_name":"Conv","parent_name":"conv_kernel_time")";
  const Profile got =
      profile("[" + kernel(R"("grid_x":"1")", 900) +  // a copy at load, which no node launched
              event("conv", "Conv", 0, 5) + "," + kernel(of_conv, 80) + kernel(of_conv, 20) +
              event("host", "Reshape", 10, 3) + "," + kernel(of_conv, 0) +
              event("add", "Add", 20, 4) + "," + kernel(R"("op_name":"Add")", 30) +
              kernel(R"("op_name":"Conv")", 900) + event("inner", "Mul", 32, 2) + "," +
              kernel(R"("op_name":"Mul","parent_name":"inner_kernel_time")", 50) +
              event("if", "If", 30, 9) + "]");
  REQUIRE(got.nodes.size() == 4);
  CHECK(got.nodes[0].median_us == 100);
  CHECK(got.nodes[1].median_us == 3);
  CHECK(got.nodes[2].median_us == 30);
  CHECK(got.nodes[3].median_us == 50);
  const auto bad = parse_profile("[" + event("conv", "Conv", 0, 5) + "," + kernel(of_conv, -1) +
                                 event("add", "Add", 20, 4) + "]");
  CHECK(bad.status().message().find("event 1: \"dur\" is -1") == 0);
}

TEST_CASE(
    "the time of a node on WebGPU is that of its programs, which are listed behind all runs") {
  const auto call = [](const std::string& name, int begin, int dur) {
    return R"({"cat" : "Api","pid" :-1,"tid" :-1,"dur" :)" + std::to_string(dur) +
           ",\"ts\" :" + std::to_string(begin) + R"(,"ph" : "X","name" :")" + name +
           R"(","args" : {}},)" + "\n";
  };
  const std::string text =
      "[" + event("a&b", "Conv", 0, 5) + "," + event("flat", "Reshape", 6, 2) + "," +
      event("a&b", "Conv", 1000, 5) + "," + event("flat", "Reshape", 1006, 2) + "," +
      call("a&b&Conv&Transpose", 1600, 30) + call("a&b&Conv&Conv2dMM", 1640, 70) +
      call("a&b&Conv&Conv2dMM", 600, 900) + call("gone&Conv&Conv2dMM", 1700, 900) +
      call("a&b&Conv&Conv2dMM", -7, 900) + call("a&b&Conv&Conv2dMM", 1700, -9) +
      call("cudaLaunchKernel", 1700, 900) + "]";
  const Profile got = profile(text);  // without the first run
  REQUIRE(got.nodes.size() == 2);
  CHECK(got.nodes[0].median_us == 100);
  CHECK(got.nodes[1].median_us == 2);
}

// As the engine lays it out, which escapes nothing.
TEST_CASE("names that the engine wrote without escapes are read as they are") {
  for (const std::string name :
       {R"(a"b)", R"(a","b)", R"(a"}}b)", R"(a\b)", R"(a\nb\\)", "a\nb\t\x1f", R"("{"a" : [)"}) {
    const std::string node =
        R"({"cat" : "Node","pid" :1,"tid" :1,"dur" :5,"ts" :10,"ph" : "X","name" :")" + name +
        R"(_kernel_time","args" : {"op_name" : "Conv","node_index" : "0"}},)"
        "\n";
    const std::string kernel = R"({"cat" : "Kernel","dur" :70,"ts" :2,"name" :"gemm","args" : {)"
                               R"("parent_name" : ")";
    for (const std::string end : {R"(","stream" : "13"}},)", R"("}},)"}) {
      const std::string text = node + kernel + name + "_kernel_time" + end + "\n";
      CAPTURE(text);
      const Profile got = profile("[\n" + text + event("z", "Add", 20, 3) + "\n]\n");
      REQUIRE(got.nodes.size() == 2);
      CHECK(got.nodes[0].name == name);
      CHECK(got.nodes[0].index == 0);
      CHECK(got.nodes[0].median_us == 70);
    }
    const std::string cut = "[" + event("z", "Add", 0, 3) + "," + node;
    for (size_t size = cut.size() - node.size(); size < cut.size() - 3; ++size) {
      CHECK(profile(cut.substr(0, size)).nodes.size() == 1);
    }
  }
}

TEST_CASE("profiles that were cut off are read as far as they go; other files are refused") {
  const std::string text = "[" + event("a", "", 0, 5) + ",\n" + event("b", "", 9, 6) + "]";
  CHECK(total_us(profile(text.substr(0, text.size() - 8))) == 5);
  for (const char* other :
       {"", "{}", "[]", "[1]", "[{\"cat\":\"Node\",\"name\":\"a_kernel_time\"}]"}) {
    const auto result = parse_profile(other);
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kBadInput);
  }
  CHECK(parse_profile("[" + event("a", "", 0, -5) + "]").status().message().find("event 0") == 0);
}

TEST_CASE("fused nodes lead back to the node with their operator, and no time is lost") {
  const Graph graph = small_graph();
  const std::vector<NodeOutputs> outputs = {{{"t0"}}, {{"t1"}}, {{"t2"}}, {{"t3"}}, {{"t4"}}};
  // The engine made conv, norm and relu one node, called after the last output, and added a change
  // of layout behind it.
  const Profile got = profile("[" + event("t2_nchwc", "Conv", 0, 100) + "," +
                              event("ReorderOutput_token_7", "ReorderOutput", 101, 8) + "," +
                              event("fused fc", "FusedGemm", 110, 30) + "," +
                              event("out", "Softmax", 150, 2) + "]");
  Coverage coverage;
  const auto costs = costs_from_profile(graph, outputs, got, "cpu", coverage);
  REQUIRE_MESSAGE(costs.ok(), costs.status().message());
  CHECK(costs->us == std::vector<std::optional<double>>{108, 0, 0, 30, 2});
  CHECK(coverage.profiled == 4);
  CHECK(coverage.by_name == 3);
  CHECK(coverage.share() == doctest::Approx(132.0 / 140));
  CHECK(coverage.measured == 3);
  CHECK(coverage.absorbed == 2);
}

TEST_CASE("nodes without names are found by operator and position") {
  const Graph graph = graph_of({{"Conv_0", "Conv"}, {"Relu_1", "Relu"}}, {{0, 0, 1}});
  Coverage coverage;
  const auto costs = costs_from_profile(
      graph, {},
      profile("[" + event("Conv_0", "Conv", 0, 5) + "," + event("Relu_1", "Relu", 6, 7) + "]"),
      "cpu", coverage);
  REQUIRE(costs.ok());
  CHECK(costs->us == std::vector<std::optional<double>>{5, 7});
}

TEST_CASE("a name is looked for inside another that a node might have, not inside longer ones") {
  const Graph graph = graph_of({{"first_conv", "Conv"}, {"fc", "Gemm"}}, {{0, 0, 1}});
  for (const size_t length : {100, 5000}) {
    CAPTURE(length);
    const std::string around(length, 'x');
    Coverage coverage;
    const auto costs = costs_from_profile(graph, {},
                                          profile("[" + event(around + "first_conv", "Conv", 0, 5) +
                                                  "," + event("fc", "Gemm", 5, 7) + "]"),
                                          "cpu", coverage);
    REQUIRE_MESSAGE(costs.ok(), costs.status().message());
    CHECK(coverage.by_name == (length == 100 ? 2 : 1));
  }
}

TEST_CASE("a profile of nodes that take less than its clock tells is of its model all the same") {
  Coverage coverage;
  const auto costs = costs_from_profile(
      small_graph(), {},
      profile("[" + event("conv", "Conv", 0, 0) + "," + event("fc", "Gemm", 0, 0) + "]"), "cpu",
      coverage);
  CHECK_MESSAGE(costs.ok(), costs.status().message());
}

TEST_CASE("a profile of another model is refused") {
  Coverage coverage;
  const auto costs = costs_from_profile(
      small_graph(), {}, profile("[" + event("elsewhere", "Conv", 0, 5) + "]"), "cpu", coverage);
  REQUIRE(!costs.ok());
  CHECK(costs.status().message().find("another model") != std::string::npos);
}

TEST_CASE("a profile of other shapes is refused, and told of where few nodes had others") {
  const std::vector<NodeOutputs> outputs = {{{"t0"}, {1, 64, 8}},
                                            {{"t1"}, {1, 64, 8}},
                                            {{"t2"}, {1, 64, 8}},
                                            {{"t3"}, {}},
                                            {{"t4"}, {2}}};
  const auto costs_at = [&](const std::string& length, Coverage& coverage) {
    const std::string shape = "[1," + length + "," + "8]";
    return costs_from_profile(
        small_graph(), outputs,
        profile("[" + shaped_event("conv", "Conv", 0, 100, shape) + "," +
                shaped_event("relu", "Relu", 100, 20, "[1,8,64]") + "," +  // other order of axes
                shaped_event("norm_nchwc", "BatchNormalization", 120, 8, "[9]") + "," +  // renamed
                shaped_event("fc", "Gemm", 130, 30, "[7]") + "," +
                shaped_event("out", "Softmax", 160, 2, "[" + length + "]") + "]"),
        "cpu", coverage);
  };
  Coverage coverage;
  CHECK(costs_at("64", coverage).ok());
  CHECK(coverage.shapes.compared == 3);
  CHECK(coverage.shapes.unlike == 1);
  CHECK(coverage.shapes.summary() == "1 of 3 nodes, such as 'out' (64 instead of 2)");
  const auto other = costs_at("32", coverage);
  REQUIRE(!other.ok());
  CHECK(other.status().message() ==
        "was measured at other shapes than those of graph 'test': 2 of 3 nodes, such as 'conv' "
        "(1x32x8 instead of 1x64x8), expected a profile at the same ones");
}

TEST_CASE("a table sets times by node and kind, and says which line is wrong") {
  const Graph graph = graph_of({{"a", "Conv"}, {"b, c \"d\"", "Relu"}}, {{0, 0, 1}});
  const auto costs =
      costs_from_table(graph, "node,kind,us\na,cpu,1.5\r\n\n\"b, c \"\"d\"\"\",cpu,-3\na,gpu,2");
  REQUIRE_MESSAGE(costs.ok(), costs.status().message());
  REQUIRE(costs->size() == 2);
  CHECK((*costs)[0].us == std::vector<std::optional<double>>{1.5, -1});
  CHECK((*costs)[1].kind == "gpu");
  CHECK(costs_from_table(graph, "\xef\xbb\xbfnode,kind,us\na,cpu,1").ok());  // as spreadsheets do
  for (const auto& [text, problem] :
       {std::pair{"a,cpu,1\nx,cpu,1", "line 2: the graph has no node 'x'"},
        std::pair{"a,cpu", "line 1: expected three fields"}, std::pair{"a,cpu,1,2", "three fields"},
        std::pair{"a,cpu,fast", "not a number"}, std::pair{"a,cpu,nan", "not a number"},
        std::pair{"a,,1", "kind of device: is empty"}, std::pair{"a,\xff,1", "kind of device: "},
        std::pair{"a,cpu,1e308", "from 1e-60 to 1e60"}, std::pair{"\"a,cpu,1", "not closed"},
        std::pair{"a,cpu,1\na,cpu,2", "comes twice"}, std::pair{"", "no run time"}}) {
    const auto result = costs_from_table(graph, text);
    REQUIRE(!result.ok());
    CHECK_MESSAGE(result.status().message().find(problem) != std::string::npos,
                  result.status().message());
  }
}

TEST_CASE("a table with more kinds than a graph may have is refused before it takes memory") {
  const Graph graph = graph_of({{"a", "Conv"}, {"b", "Relu"}}, {});
  std::string text;
  for (int kind = 0; kind < 20'000; ++kind) text += "a,k" + std::to_string(kind) + ",1\n";
  const auto costs = costs_from_table(graph, text);
  CHECK(costs.status().message() ==
        "line 65: more kinds of device than 64, expected at most that many");
}

TEST_CASE("measured times win over estimates, and a kind needs a time for every node") {
  const Graph graph = graph_of({{"a", "Conv"}, {"b", "Relu"}}, {});
  const auto costs = costs_from_table(graph, "a,cpu,9\na,gpu,1\nb,gpu,2\n");
  REQUIRE(costs.ok());
  GraphSpec spec = graph.spec();
  const Status status = set_costs(graph, *costs, {}, spec);
  CHECK(status.code() == StatusCode::kBadInput);
  CHECK(status.message().find("kind 'cpu' for 1 of 2 nodes ('b')") != std::string::npos);
  const Efficiencies rule = default_efficiencies("cpu", 1e9, 1e9);
  REQUIRE(set_costs(graph, *costs, {&rule, 1}, spec).ok());
  CHECK(spec.kinds == std::vector<std::string>{"cpu", "gpu"});
  CHECK(spec.nodes[0].cost_us == std::vector<double>{9, 1});
  CHECK(spec.nodes[0].measured == 0b11);
  CHECK(spec.nodes[1].measured == 0b10);
  // 128 bytes at 70% of 1 GB/s, and a launch.
  CHECK(spec.nodes[1].cost_us[0] == doctest::Approx(128 / 0.7e3 + 1));
  CHECK(Graph::build(spec).ok());
}

TEST_CASE("what a node starts inside it counts as often as it is started") {
  GraphSpec loop = graph_of({{"a", "Loop"}}, {}).spec();
  const Efficiencies rule = default_efficiencies("cpu", 1e9, 1e9);
  const auto cost = [&](uint64_t launches) {
    loop.nodes[0].launches = launches;
    GraphSpec spec = loop;
    REQUIRE(set_costs(*Graph::build(loop), {}, {&rule, 1}, spec).ok());
    return spec.nodes[0].cost_us[0];
  };
  CHECK(cost(0) == cost(1));
  CHECK(cost(11) == doctest::Approx(cost(1) + 10));
}

TEST_CASE("a fused node takes no time on a device that has the rates to estimate one") {
  NodeSpec node;
  node.flops = 1000;
  node.fused = true;
  DeviceSpec device;
  device.kind = "gpu";
  device.peak_flops = 1e9;
  CHECK(estimate_run_us(node, 64, device) == std::nullopt);
  device.memory_bandwidth = 1e9;
  CHECK(estimate_run_us(node, 64, device) == 0);
  node.fused = false;
  CHECK(estimate_run_us(node, 64, device) == doctest::Approx(7));
}

TEST_CASE("nodes that engines fuse or fold are told") {
  //  dequantize(w) \.                         x * sigmoid(x)
  //         in - conv - norm - relu - add - sig - mul - id - exp
  //                                 /  \___________/
  //                    in2 - conv2
  const Graph graph = graph_of({{"dequantize", "DequantizeLinear", 100},
                                {"conv", "Conv", 0},
                                {"norm", "BatchNormalization", 64},
                                {"relu", "Relu"},
                                {"conv2", "Conv", 400},
                                {"add", "Add"},
                                {"sig", "Sigmoid"},
                                {"mul", "Mul"},
                                {"id", "Identity"},
                                {"exp", "Exp"}},
                               {{0, 0, 1},
                                {1, 0, 2},
                                {2, 0, 3},
                                {3, 0, 5},
                                {4, 0, 5},
                                {5, 0, 6},
                                {5, 0, 7},
                                {6, 0, 7},
                                {7, 0, 8},
                                {8, 0, 9}});
  CHECK(fused_nodes(graph) ==
        std::vector<bool>{true, false, true, true, false, true, true, false, true, false});
}

TEST_CASE("what centers the values is a part of a normalization that has a bias") {
  const GraphSpec whole = graph_of({{"x", "Exp"},
                                    {"mean", "ReduceMean"},
                                    {"centered", "Sub"},
                                    {"squares", "Pow", 4},
                                    {"variance", "ReduceMean"},
                                    {"padded", "Add", 4},
                                    {"deviation", "Sqrt"},
                                    {"normal", "Div"},
                                    {"scaled", "Mul", 64},
                                    {"biased", "Add", 64}},
                                   {{0, 0, 1},
                                    {0, 0, 2},
                                    {1, 0, 2},
                                    {2, 0, 3},
                                    {3, 0, 4},
                                    {4, 0, 5},
                                    {5, 0, 6},
                                    {6, 0, 7},
                                    {2, 0, 7},
                                    {7, 0, 8},
                                    {8, 0, 9}})
                              .spec();
  CHECK(fused_nodes(*Graph::build(whole)) ==
        std::vector<bool>{false, true, true, true, true, true, true, true, true, false});
  GraphSpec without = whole;
  without.nodes.pop_back();
  without.edges.pop_back();
  CHECK(fused_nodes(*Graph::build(without)) ==
        std::vector<bool>{false, false, false, true, true, true, true, true, false});
}

TEST_CASE("the product of two scales is a part of the product of quantized matrices") {
  const Graph graph = graph_of({{"quantize", "DynamicQuantizeLinear"},
                                {"product", "MatMulInteger", 400},
                                {"cast", "Cast"},
                                {"scales", "Mul", 4},
                                {"scaled", "Mul"}},
                               {{0, 0, 1}, {0, 0, 3}, {1, 0, 2}, {2, 0, 4}, {3, 0, 4}});
  CHECK(fused_nodes(graph) == std::vector<bool>{false, false, true, true, true});
  CHECK(fusion_hosts(graph) == std::vector<uint32_t>{0, 1, 1, 1, 1});
}

TEST_CASE("a transposed convolution is fused with nothing") {
  const Graph graph =
      graph_of({{"up", "ConvTranspose", 400}, {"norm", "BatchNormalization", 64}, {"relu", "Relu"}},
               {{0, 0, 1}, {1, 0, 2}});
  CHECK(fused_nodes(graph) == std::vector<bool>{false, false, false});
}

TEST_CASE("what a model reads is computed from no parameter, though its scale is one") {
  const Graph graph =
      graph_of({{"image", "DequantizeLinear", 4}, {"t", "Transpose"}, {"c", "Conv", 400}},
               {{0, 0, 1}, {1, 0, 2}});
  CHECK(fused_nodes(graph) == std::vector<bool>{false, false, false});
}

TEST_CASE("what is computed from a parameter at load costs nothing, whatever shape it is given") {
  const Graph graph =
      graph_of({{"weight", "DequantizeLinear", 64}, {"shaped", "Reshape", 8}, {"c", "Conv", 400}},
               {{0, 0, 1}, {1, 0, 2}});
  CHECK(fused_nodes(graph) == std::vector<bool>{true, true, false});
  // One that reads an input of the model, and a shape, which is a parameter or made of one.
  const Graph input = graph_of({{"input", "Reshape", 16}, {"turned", "Transpose"}}, {{0, 0, 1}});
  CHECK(fused_nodes(input) == std::vector<bool>{false, false});
  GraphSpec spec = graph_of({{"shape", "Identity", 16}, {"input", "Reshape"}}, {{0, 0, 1}}).spec();
  spec.nodes[0].outputs = {16};
  CHECK(fused_nodes(*Graph::build(spec)) == std::vector<bool>{true, false});
}

TEST_CASE("a node that does not say its operator is fused with nothing") {
  const Graph graph = graph_of({{"conv", "Conv", 400}, {"unknown", ""}}, {{0, 0, 1}});
  CHECK(fused_nodes(graph) == std::vector<bool>{false, false});
  CHECK(operator_class_of("") == OperatorClass::kOther);
}

}  // namespace placeto::profile_test
