// Attention, in all the ways that operators are given queries, keys and values: shapes and work.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/onnx_fixture.h"
#include "tools/costs/function_flops.h"

using namespace placeto;
using namespace placeto::test;

namespace {

struct Given {
  std::string name;
  Axes axes;
  int type = onnx::TensorProto::FLOAT;
};
using Attributes = std::vector<std::pair<std::string, int64_t>>;

// One node of com.microsoft that reads these inputs ("": not given).
OnnxBuilder attending(const char* op, const std::vector<Given>& inputs,
                      const std::vector<std::string>& outputs, const Attributes& attributes) {
  OnnxBuilder b;
  std::vector<std::string> names;
  for (const Given& input : inputs) {
    names.push_back(input.name);
    if (!input.name.empty()) b.input(input.name, input.axes, input.type);
  }
  auto& node = b.node(op, names, outputs);
  node.set_domain(kMicrosoft);
  for (const auto& [name, value] : attributes) OnnxBuilder::set(node, name, value);
  return b;
}

void fix(OnnxBuilder& b, const char* name, int32_t value) {  // an input becomes a number
  auto& inputs = *b.graph().mutable_input();
  for (int i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name() == name) inputs.DeleteSubrange(i--, 1);
  }
  auto* tensor = b.graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::INT32);
  tensor->add_dims(1);
  tensor->add_int32_data(value);
}

// Every query with every key: two products and a softmax.
uint64_t attended(uint64_t heads, uint64_t queries, uint64_t keys, uint64_t width,
                  uint64_t value_width) {
  return heads * queries * keys * (2 * (width + value_width) + kFunctionFlops + 3);
}

const Given kNotGiven = {"", {}};

}  // namespace

TEST_CASE("attention tells its present keys and values") {
  const auto attention = [](const char* op, bool packed, int64_t kv_heads) {
    OnnxBuilder b;
    b.input("q", {"2", "5", packed ? "64" : "32"});
    b.input("k", {"2", "5", "16"});
    b.input("past", {"2", std::to_string(kv_heads), "7", "8"});
    const std::string key = packed ? "" : "k";
    std::vector<std::string> inputs = {"q", key, key, "past", "past"};
    if (op[0] == 'M') inputs = {"q", "q", "q", "", "", "", "past", "past"};
    auto& node = b.node(op, inputs, {"y", "keys", "values"});
    node.set_domain(kMicrosoft);
    OnnxBuilder::set(node, "num_heads", int64_t{4});
    if (op[0] == 'G') OnnxBuilder::set(node, "kv_num_heads", kv_heads);
    return outputs_of_last(b);
  };
  const uint64_t present = 2 * 2 * (7 + 5) * 8 * 4;
  CHECK(attention("GroupQueryAttention", false, 2) ==
        std::vector<uint64_t>{2 * 5 * 32 * 4, present, present});
  CHECK(attention("GroupQueryAttention", true, 2) ==
        std::vector<uint64_t>{2 * 5 * 32 * 4, present, present});
  CHECK(attention("MultiHeadAttention", false, 4) ==
        std::vector<uint64_t>{2 * 5 * 32 * 4, 2 * present, 2 * present});
  OnnxBuilder b(23);
  b.input("q", {"2", "5", "32"});
  b.input("k", {"2", "6", "16"});
  auto& node = b.node("Attention", {"q", "k", "k"}, {"y"});
  OnnxBuilder::set(node, "q_num_heads", int64_t{4});
  OnnxBuilder::set(node, "kv_num_heads", int64_t{2});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{2 * 5 * 32 * 4});
}

TEST_CASE("present keys are as long as the past where it has room for all of them") {
  for (const int64_t total : {3, 12}) {
    OnnxBuilder b;
    b.input("q", {"1", "3", "32"});
    b.input("k", {"1", "3", "16"});
    b.input("past", {"1", "2", "7", "8"});
    b.input("lengths", {"1"}, onnx::TensorProto::INT32);
    b.integers("total", {total});
    auto& node = b.node("GroupQueryAttention", {"q", "k", "k", "past", "past", "lengths", "total"},
                        {"y", "keys", "values"});
    node.set_domain(kMicrosoft);
    OnnxBuilder::set(node, "num_heads", int64_t{4});
    OnnxBuilder::set(node, "kv_num_heads", int64_t{2});
    const uint64_t present = 2 * static_cast<uint64_t>(std::max<int64_t>(7, total)) * 8 * 4;
    CHECK(outputs_of_last(b) == std::vector<uint64_t>{3 * 32 * 4, present, present});
  }
}

TEST_CASE("attention counts all its heads and all that is kept of earlier calls") {
  const auto packed = [](const std::vector<std::vector<std::string>>& inputs) {
    OnnxBuilder b;
    std::vector<std::string> names;
    for (const auto& axes : inputs) {
      names.push_back("x" + std::to_string(names.size()));
      b.input(names.back(), axes);
    }
    auto& node = b.node("MultiHeadAttention", names, {"y"});
    node.set_domain(kMicrosoft);
    OnnxBuilder::set(node, "num_heads", int64_t{8});
    return last_node(b).flops;
  };
  CHECK(packed({{"2", "64", "8", "3", "40"}}) ==
        packed({{"2", "64", "320"}, {"2", "64", "320"}, {"2", "64", "320"}}));
  OnnxBuilder b(23);
  for (const char* name : {"q", "k", "v"}) b.input(name, {"1", "8", "1", "64"});
  for (const char* name : {"past_k", "past_v"}) b.input(name, {"1", "8", "1000", "64"});
  b.node("Attention", {"q", "k", "v", "", "past_k", "past_v"}, {"y", "keys", "values"});
  CHECK(last_node(b).flops >= 4 * 8 * 64 * 1001);
}

TEST_CASE("attention with weights attends to its past, and divides weights as it says") {
  OnnxBuilder b = attending("Attention",
                            {{"x", {"2", "5", "32"}},
                             {"w", {"32", "96"}},
                             {"b", {"96"}},
                             kNotGiven,
                             {"past", {"2", "2", "4", "7", "8"}}},
                            {"y", "present"}, {{"num_heads", 4}});
  const uint64_t projected = 2 * (2 * 5) * 32 * 96;
  CHECK(last_node(b).flops == projected + 2 * attended(4, 5, 12, 8, 8));
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{2 * 5 * 32 * 4, 2 * 2 * 4 * (7 + 5) * 8 * 4});
  OnnxBuilder c = attending("Attention", {{"x", {"2", "5", "24"}}, {"w", {"24", "128"}}}, {"y"},
                            {{"num_heads", 4}});
  OnnxBuilder::set(*c.graph().mutable_node(0), "qkv_hidden_sizes",
                   std::vector<int64_t>{32, 32, 64});
  CHECK(last_node(c).flops == 2 * (2 * 5) * 24 * 128 + 2 * attended(4, 5, 5, 8, 16));
  CHECK(outputs_of_last(c) == std::vector<uint64_t>{2 * 5 * 64 * 4});
}

TEST_CASE("attention counts heads of values that are wider than those of keys") {
  const OnnxBuilder b =
      attending("MultiHeadAttention",
                {{"q", {"2", "5", "32"}}, {"k", {"2", "9", "32"}}, {"v", {"2", "9", "64"}}}, {"y"},
                {{"num_heads", 4}});
  CHECK(last_node(b).flops == 2 * attended(4, 5, 9, 8, 16));
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{2 * 5 * 64 * 4});
  OnnxBuilder own(23);
  own.input("q", {"2", "4", "5", "8"});
  own.input("k", {"2", "2", "9", "8"});
  own.input("v", {"2", "2", "9", "16"});
  own.node("Attention", {"q", "k", "v"}, {"y"});
  CHECK(last_node(own).flops == 2 * attended(4, 5, 9, 8, 16));
  OnnxBuilder flat(23);
  flat.input("q", {"2", "5", "32"});
  flat.input("k", {"2", "9", "16"});
  flat.input("v", {"2", "9", "32"});
  auto& node = flat.node("Attention", {"q", "k", "v"}, {"y"});
  OnnxBuilder::set(node, "q_num_heads", int64_t{4});
  OnnxBuilder::set(node, "kv_num_heads", int64_t{2});
  CHECK(last_node(flat).flops == 2 * attended(4, 5, 9, 8, 16));
}

TEST_CASE("a buffer of keys has its length, and is attended to as far as it is filled") {
  const std::vector<Given> inputs = {{"q", {"2", "1", "32"}},
                                     {"k", {"2", "1", "16"}},
                                     {"v", {"2", "1", "16"}},
                                     {"past_k", {"2", "2", "16", "8"}},
                                     {"past_v", {"2", "2", "16", "8"}},
                                     {"lengths", {"2"}, onnx::TensorProto::INT32},
                                     {"total", {"1"}, onnx::TensorProto::INT32}};
  OnnxBuilder b = attending("GroupQueryAttention", inputs, {"y", "keys", "values"},
                            {{"num_heads", 4}, {"kv_num_heads", 2}});
  const uint64_t buffer = 2 * 2 * 16 * 8 * 4;
  const std::vector<uint64_t> outputs = {2 * 32 * 4, buffer, buffer};
  CHECK(outputs_of_last(b) == outputs);
  CHECK(last_node(b).flops == 2 * attended(4, 1, 16, 8, 8));
  fix(b, "total", 9);
  CHECK(outputs_of_last(b) == outputs);
  CHECK(last_node(b).flops == 2 * attended(4, 1, 9, 8, 8));
  OnnxBuilder::set(*b.graph().mutable_node(0), "local_window_size", int64_t{3});
  CHECK(last_node(b).flops == 2 * attended(4, 1, 3, 8, 8));
}

TEST_CASE("attention of one step keeps keys and values in a buffer, or adds to the past") {
  const std::vector<Given> inputs = {
      {"q", {"2", "1", "32"}},
      {"k", {"2", "1", "32"}},
      {"v", {"2", "1", "32"}},
      kNotGiven,
      kNotGiven,
      {"past_k", {"2", "4", "16", "8"}},
      {"past_v", {"2", "4", "16", "8"}},
      {"length", {"1"}, onnx::TensorProto::INT32},
  };
  for (const int64_t shared : {0, 1}) {
    OnnxBuilder b = attending("DecoderMaskedMultiHeadAttention", inputs, {"y", "keys", "values"},
                              {{"num_heads", 4}, {"past_present_share_buffer", shared}});
    const uint64_t kept = shared != 0 ? 16 : 17;
    const uint64_t present = 2 * 4 * kept * 8 * 4;
    CHECK(outputs_of_last(b) == std::vector<uint64_t>{2 * 32 * 4, present, present});
    CHECK(last_node(b).flops == 2 * attended(4, 1, kept, 8, 8));
    fix(b, "length", 9);
    CHECK(last_node(b).flops == 2 * attended(4, 1, shared != 0 ? 10 : 17, 8, 8));
  }
}

TEST_CASE("attention without padding has no batches") {
  const OnnxBuilder apart = attending("PackedMultiHeadAttention",
                                      {{"q", {"11", "32"}},
                                       {"k", {"11", "32"}},
                                       {"v", {"11", "64"}},
                                       kNotGiven,
                                       {"places", {"3", "5"}, onnx::TensorProto::INT32},
                                       {"sums", {"4"}, onnx::TensorProto::INT32}},
                                      {"y"}, {{"num_heads", 4}});
  CHECK(outputs_of_last(apart) == std::vector<uint64_t>{11 * 64 * 4});
  CHECK(last_node(apart).flops == attended(4, 11, 5, 8, 16));
  const OnnxBuilder in_one = attending("PackedMultiHeadAttention",
                                       {{"q", {"11", "4", "3", "8"}},
                                        kNotGiven,
                                        kNotGiven,
                                        kNotGiven,
                                        {"places", {"3", "5"}, onnx::TensorProto::INT32},
                                        {"sums", {"4"}, onnx::TensorProto::INT32}},
                                       {"y"}, {{"num_heads", 4}});
  CHECK(outputs_of_last(in_one) == std::vector<uint64_t>{11 * 32 * 4});
  const OnnxBuilder projected = attending("PackedAttention",
                                          {{"x", {"11", "32"}},
                                           {"w", {"32", "96"}},
                                           {"b", {"96"}},
                                           {"places", {"3", "5"}, onnx::TensorProto::INT32},
                                           {"sums", {"4"}, onnx::TensorProto::INT32}},
                                          {"y"}, {{"num_heads", 4}});
  CHECK(outputs_of_last(projected) == std::vector<uint64_t>{11 * 32 * 4});
  CHECK(last_node(projected).flops == 2 * 11 * 32 * 96 + attended(4, 11, 5, 8, 8));
}
