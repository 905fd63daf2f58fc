// Exports by names: engine devices, name rules, module paths.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/random.h"
#include "tools/export/dot.h"
#include "tools/export/engine_devices.h"
#include "tools/export/module_names.h"
#include "tools/export/name_matcher.h"
#include "tools/export/name_rules.h"
#include "tools/export/neutral.h"

namespace placeto {
namespace {

Placed placed(std::vector<std::string> devices, std::vector<PlacedNode> nodes) {
  return {"net", "host", std::move(devices), std::move(nodes)};
}

// The rules of the nodes, after checking that each node gets its device.
std::string rules_of(const std::vector<NamedNode>& nodes, const std::vector<std::string>& engine) {
  const Result<std::string> rules = name_rules(nodes, engine);
  REQUIRE_MESSAGE(rules.ok(), rules.status().message());
  const NameMatcher matcher(*rules);
  for (const NamedNode& node : nodes) {
    CHECK_MESSAGE(matcher.device_of(node.name) == engine[node.device], node.name);
  }
  return *rules;
}

TEST_CASE("name rules follow the engine: the longest pattern wins, then the first") {
  CHECK(NameMatcher("cpu(conv);gpu(conv1)").device_of("conv10") == "gpu");
  CHECK(NameMatcher("cpu(conv);gpu(conv1)").device_of("a/conv2") == "cpu");
  CHECK(NameMatcher("cpu(ab);gpu(bc)").device_of("abc") == "cpu");
  CHECK(NameMatcher("gpu(bc);cpu(ab)").device_of("abc") == "gpu");
  CHECK(NameMatcher(" cpu ( x , y ) ; gpu(z)").device_of("y") == "cpu");
  CHECK(NameMatcher("cpu(x)").device_of("y") == "");
}

TEST_CASE("names that share a prefix become one pattern") {
  const std::vector<NamedNode> nodes = {
      {"layer0/conv", 0}, {"layer0/relu", 0}, {"layer1/conv", 1}, {"layer1/relu", 1}};
  CHECK(rules_of(nodes, {"cpu", "gpu"}).size() <= std::string("cpu(layer0);gpu(layer1)").size());
}

TEST_CASE("a name that is part of others keeps its device") {
  rules_of({{"conv", 0}, {"conv1", 1}, {"conv10", 0}, {"x/conv1", 0}, {"conv1/x", 1}},
           {"cpu", "gpu"});
}

TEST_CASE("random names on random devices get the devices they were given") {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> names;
    std::vector<NamedNode> nodes;
    const uint32_t count = 1 + random.below(40);
    for (uint32_t i = 0; i < count; ++i) {
      std::string name;
      const uint32_t length = 1 + random.below(5);
      for (uint32_t c = 0; c < length; ++c) name += "ab/"[random.below(3)];
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    for (const std::string& name : names) {
      nodes.push_back({name, random.below(3)});
    }
    rules_of(nodes, {"cpu", "gpu", "npu"});
  }
}

TEST_CASE("no name rules are made where there are none, and the reason is given") {
  const std::vector<std::string> engine = {"cpu", "gpu"};
  const auto why = [&](const std::vector<NamedNode>& nodes) {
    const Result<std::string> rules = name_rules(nodes, engine);
    CHECK_FALSE(rules.ok());
    return rules.ok() ? "" : rules.status().message();
  };
  CHECK(why({{"", 0}}).find("has no name") != std::string::npos);
  CHECK(why({{"a", 0}, {"a", 1}}).find("same name 'a'") != std::string::npos);
  CHECK(why({{"a,b", 0}, {"a;b", 1}}).find("8192") != std::string::npos);
  std::vector<std::string> names;
  for (uint32_t i = 0; i < 4000; ++i) names.push_back("n" + std::to_string(i * 7919 % 99991));
  Random random(1);
  std::vector<NamedNode> many;
  for (const std::string& name : names) {
    many.push_back({name, random.below(2)});
  }
  CHECK(why(many).find("8192") != std::string::npos);
}

TEST_CASE("devices take the engine's names, and unknown or shared ones are refused") {
  const Placed two = placed({"cpu:0", "gpu:0", "gpu:1"}, {{"a", "", 0, 0}, {"b", "", 1, 0}});
  const auto names = engine_devices(two, {});
  REQUIRE(names.ok());
  CHECK(*names == std::vector<std::string>{"cpu", "gpu", ""});
  const std::vector<std::string> cuda = {"", "cuda", ""};
  CHECK(engine_devices(two, cuda).value()[1] == "cuda");
  const std::vector<std::string> wrong = {"", "gqu", ""};
  const std::string refusal = engine_devices(two, wrong).status().message();
  CHECK(refusal.find("'gqu'") != std::string::npos);
  CHECK(refusal.find("tensorrt (trt), directml (dml)") != std::string::npos);

  const Placed pair = placed({"gpu:0", "gpu:1"}, {{"a", "", 0, 0}, {"b", "", 1, 0}});
  CHECK(engine_devices(pair, {}).status().message().find("--split") != std::string::npos);
  const std::vector<std::string> ordinals = {"gpu:0", "gpu:1"};
  CHECK_FALSE(engine_devices(pair, ordinals).ok());
  const std::vector<std::string> different = {"cuda", "OpenVINOExecutionProvider"};
  CHECK(engine_devices(pair, different).ok());
}

TEST_CASE("the engine is told a provider by its own name, whatever people call it") {
  const Placed two = placed({"cpu:0", "gpu:0"}, {{"a", "", 0, 0}, {"b", "", 1, 0}});
  for (const auto& [name, engine] : {std::pair{"tensorrt", "TensorrtExecutionProvider"},
                                     {"TRT", "TensorrtExecutionProvider"},
                                     {"directml", "DmlExecutionProvider"},
                                     {"ov", "OpenVINOExecutionProvider"},
                                     {"qnn", "QNNExecutionProvider"},
                                     {"CoreML", "CoreMLExecutionProvider"},
                                     {"webgpu", "WebGpuExecutionProvider"},
                                     {"MIGraphXExecutionProvider", "MIGraphXExecutionProvider"},
                                     {"dml", "dml"},
                                     {"cuda", "cuda"}}) {
    const std::vector<std::string> given = {"", name};
    const auto names = engine_devices(two, given);
    REQUIRE_MESSAGE(names.ok(), names.status().message());
    CHECK((*names)[1] == engine);
  }
  const std::vector<std::string> same = {"directml", "dml"};
  CHECK_FALSE(engine_devices(two, same).ok());
}

TEST_CASE("module paths are what stands before the operator") {
  CHECK(module_path("/model/layers.0/mlp/fc1/MatMul") == "model.layers.0.mlp.fc1");
  CHECK(module_path("/layer1/layer1.0/conv1/Conv") == "layer1.0.conv1");
  CHECK(module_path("/net/layer1/layer1.10/Conv") == "net.layer1.10");
  CHECK(module_path("/model.22/cv2.0/cv2.0.1/conv/Conv") == "model.22.cv2.0.1.conv");
  CHECK(module_path("/layer1/layer1.x/Conv") == "layer1.layer1.x");
  CHECK(module_path("blk.3.attn_q.weight") == "blk.3.attn_q");
  CHECK(module_path("MatMul_12") == "");
}

TEST_CASE("a device map names whole modules, and says which node divides a block") {
  std::vector<PlacedNode> nodes = {{"/model/embed_tokens/Gather", "", 0, 8},
                                   {"/model/layers.0/mlp/fc1/MatMul", "", 1, 8},
                                   {"/model/layers.0/mlp/fc2/MatMul", "", 1, 8},
                                   {"/model/layers.1/mlp/fc1/MatMul", "", 2, 8},
                                   {"Reshape_9", "", 0, 0},
                                   {"/lm_head/MatMul", "", 2, 8}};
  const std::vector<std::string> devices = {"cpu:0", "gpu:0", "gpu:1"};
  const auto map = hf_device_map(placed(devices, nodes), {});
  REQUIRE_MESSAGE(map.ok(), map.status().message());
  CHECK(nlohmann::json::parse(*map) == nlohmann::json{{"model.embed_tokens", "cpu"},
                                                      {"model.layers.0", 0},
                                                      {"model.layers.1", 1},
                                                      {"lm_head", 1}});
  nodes.push_back({"/model/Unsqueeze", "", 0, 8});  // its axes
  for (size_t i : {0, 1, 2, 3, 5}) nodes[i].resident_bytes = 4'096;
  CHECK(*hf_device_map(placed(devices, nodes), {}) == *map);
  nodes.pop_back();
  for (size_t i : {0, 1, 2, 3, 5}) nodes[i].resident_bytes = 8;
  nodes[2].device = 2;
  const auto divided = hf_device_map(placed(devices, nodes), {});
  CHECK(divided.status().message().find("fc2/MatMul' does not fit") != std::string::npos);
  nodes[4].resident_bytes = 8;
  nodes[2].device = 1;
  const auto unnamed = hf_device_map(placed(devices, nodes), {});
  CHECK(unnamed.status().message().find("'Reshape_9' does not fit") != std::string::npos);
}

TEST_CASE("a device map covers modules of few weights, and of those that others hold") {
  // small, and the tied weights of the head, which the embedding holds
  const std::vector<PlacedNode> nodes = {{"/model/embed_tokens/Gather", "", 1, 1'000},
                                         {"/model/Unsqueeze", "", 0, 8},  // its axes
                                         {"/model/layers.0/fc/MatMul", "", 0, 1'000},
                                         {"/model/layers.0/Pow", "", 1, 4},
                                         {"/model/norm/Mul", "", 0, 64},
                                         {"/model/pair/a/Add", "", 0, 64},
                                         {"/model/pair/b/Add", "", 1, 64},
                                         {"Reshape_9", "", 0, 0},
                                         {"/lm_head/MatMul", "", 1, 0}};
  const auto map = hf_device_map(placed({"cpu:0", "gpu:0"}, nodes), {});
  REQUIRE_MESSAGE(map.ok(), map.status().message());
  CHECK(nlohmann::json::parse(*map) == nlohmann::json{{"model.embed_tokens", 0},
                                                      {"model.layers", "cpu"},
                                                      {"model.norm", "cpu"},
                                                      {"model.pair.a", "cpu"},
                                                      {"model.pair.b", 0},
                                                      {"lm_head", 0}});
}

TEST_CASE("a device map takes names of many parts, and modules whose names begin alike") {
  std::string deep;
  for (int i = 0; i < 2'000; ++i) deep += ".a";
  std::vector<PlacedNode> nodes = {{"m.x-y.weight", "", 0, 8},
                                   {"m.x.z.weight", "", 1, 8},
                                   {"m.x.w.weight", "", 1, 8},
                                   {"m.x", "", 1, 0}};
  for (uint32_t i = 0; i < 200; ++i) {
    nodes.push_back({std::to_string(i) + deep, "", i % 2, 8});
    nodes.push_back({"both" + deep + "." + std::to_string(i), "", i % 2, 8});
  }
  const auto map = hf_device_map(placed({"cpu:0", "gpu:0"}, nodes), {});
  REQUIRE_MESSAGE(map.ok(), map.status().message());
  const auto object = nlohmann::json::parse(*map);
  CHECK(object.size() == 400 + 2);
  CHECK(object.at("m.x-y") == "cpu");
  CHECK(object.at("m.x") == 0);
  CHECK(object.at("199") == 0);
  CHECK(object.at("both" + deep + ".198") == "cpu");
}

TEST_CASE("tensor overrides list the layers of each device") {
  std::vector<PlacedNode> nodes = {{"/model/embed_tokens/Gather", "", 0, 8},
                                   {"/model/layers.2/mlp/fc1/MatMul", "", 1, 8},
                                   {"/model/layers.10/mlp/fc1/MatMul", "", 1, 8},
                                   {"blk.1.attn_q.weight", "", 0, 8},
                                   {"/lm_head/MatMul", "", 1, 8}};
  const std::vector<std::string> devices = {"cpu:0", "gpu:1"};
  CHECK(llama_override_tensor(placed(devices, nodes), {}).value() ==
        "^blk\\.(1)\\.=CPU,^token_embd\\.=CPU,^blk\\.(2|10)\\.=CUDA1,^output\\.=CUDA1");
  nodes.push_back({"/model/layers.2/mlp/fc2/MatMul", "", 0, 8});
  CHECK(llama_override_tensor(placed(devices, nodes), {})
            .status()
            .message()
            .find("fc2/MatMul' does not fit") != std::string::npos);
  nodes.back() = {"conv1", "", 0, 8};
  CHECK(llama_override_tensor(placed(devices, nodes), {})
            .status()
            .message()
            .find("'conv1' does not fit") != std::string::npos);
}

TEST_CASE("tensor overrides tell the layers of an encoder from those of its decoder") {
  const std::vector<std::string> devices = {"cpu:0", "gpu:0"};
  const auto overrides = [&](const std::vector<PlacedNode>& nodes) {
    return llama_override_tensor(placed(devices, nodes), {}).value();
  };
  CHECK(overrides({{"/shared/Gather", "", 0, 8},
                   {"/encoder/block.0/layer.0/SelfAttention/q/MatMul", "", 0, 8},
                   {"/encoder/final_layer_norm/Mul", "", 0, 8},
                   {"/decoder/block.0/layer.0/SelfAttention/q/MatMul", "", 1, 8},
                   {"dec.blk.1.attn_q.weight", "", 1, 8},
                   {"/decoder/final_layer_norm/Mul", "", 1, 8}}) ==
        "^enc\\.blk\\.(0)\\.=CPU,^enc\\.output_norm\\.=CPU,^token_embd\\.=CPU,"
        "^dec\\.blk\\.(0|1)\\.=CUDA0,^dec\\.output_norm\\.=CUDA0");
  CHECK(overrides({{"/bert/encoder/layer.0/attention/MatMul", "", 0, 8}}) == "^blk\\.(0)\\.=CPU");
  CHECK(overrides({{"/gpt_neox/embed_in/Gather", "", 0, 8},
                   {"/gpt_neox/layers.0/attention/dense/MatMul", "", 1, 8},
                   {"/gpt_neox/final_layer_norm/LayerNormalization", "", 1, 8},
                   {"/embed_out/MatMul", "", 1, 8}}) ==
        "^token_embd\\.=CPU,^blk\\.(0)\\.=CUDA0,^output\\.=CUDA0,^output_norm\\.=CUDA0");
}

TEST_CASE("neutral JSON and DOT name every node with its device") {
  GraphSpec spec;
  spec.name = "net";
  for (const char* name : {"a", "b\"\n"}) {
    NodeSpec node;
    node.name = name;
    node.cost_us = {1};
    node.outputs = {2048};
    spec.nodes.push_back(node);
  }
  spec.edges = {{0, 0, 1}};
  const Graph graph = Graph::build(spec).value();
  PlacementSpec placement;
  placement.devices = {"cpu:0", "gpu:0"};
  placement.assignment = {0, 1};
  const Placed both = placed_graph(placement, graph).value();
  const auto json = nlohmann::json::parse(neutral_json(both).value());
  CHECK(json["nodes"] == nlohmann::json{{"a", "cpu:0"}, {"b\"\n", "gpu:0"}});
  CHECK(json["devices"]["gpu:0"].size() == 1);
  const std::string dot = to_dot(both, graph);
  CHECK(dot.find("n0 -> n1 [penwidth=3, label=\"2.00 KiB\"]") != std::string::npos);
  CHECK(dot.find("label=\"b\\\"?\"") != std::string::npos);
  placement.assignment = {0};
  CHECK_FALSE(placed_graph(placement, graph).ok());
}

}  // namespace
}  // namespace placeto
