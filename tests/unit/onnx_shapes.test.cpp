// Shapes of operators that ONNX Runtime's optimizer writes, as its documentation says them, and of
// ONNX's own that libonnx does not know.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/text.h"
#include "tests/unit/onnx_fixture.h"

using namespace placeto;
using namespace placeto::test;

namespace {

void text(onnx::NodeProto& node, const char* name, const char* value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(value);
}

}  // namespace

TEST_CASE("SimplifiedLayerNormalization in ONNX's own domain is like its input") {
  OnnxBuilder b;
  b.input("x", {"2", "3", "8"});
  b.weight("scale", {8});
  b.node("SimplifiedLayerNormalization", {"x", "scale"}, {"y", "deviation"});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{2 * 3 * 8 * 4, 2 * 3 * 4});
}

TEST_CASE("odd channels are filled up to whole blocks, and cut off again") {
  OnnxBuilder b;
  b.model().add_opset_import()->set_domain("com.microsoft.nchwc");
  b.input("x", {"1", "24", "5", "7"});
  b.node("ReorderInput", {"x"}, {"blocked"}).set_domain("com.microsoft.nchwc");
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{32 * 5 * 7 * 4});
  auto& out = b.node("ReorderOutput", {"blocked"}, {"y"});
  out.set_domain("com.microsoft.nchwc");
  OnnxBuilder::set(out, "channels", int64_t{24});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{24 * 5 * 7 * 4});
}

TEST_CASE("Resize keeps the ratio of the axes that it resizes") {
  const auto resized = [](const char* policy) {
    OnnxBuilder b(19);
    b.input("x", {"1", "3", "100", "200"});
    b.integers("sizes", {50, 50});
    auto& node = b.node("Resize", {"x", "", "", "sizes"}, {"y"});
    OnnxBuilder::set(node, "axes", std::vector<int64_t>{2, 3});
    text(node, "keep_aspect_ratio_policy", policy);
    return outputs_of_last(b);
  };
  CHECK(resized("stretch") == std::vector<uint64_t>{3 * 50 * 50 * 4});
  CHECK(resized("not_larger") == std::vector<uint64_t>{3 * 25 * 50 * 4});
  CHECK(resized("not_smaller") == std::vector<uint64_t>{3 * 50 * 100 * 4});
}

TEST_CASE("images are sampled at places of a grid, in any number of axes") {
  OnnxBuilder b(20);
  b.input("x", {"2", "3", "4", "5", "6"});
  b.integers("size", {2, 3, 7, 8, 9});
  b.input("theta", {"2", "3", "4"});
  b.node("AffineGrid", {"theta", "size"}, {"grid"});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{2 * 7 * 8 * 9 * 3 * 4});
  b.node("GridSample", {"x", "grid"}, {"y"});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{2 * 3 * 7 * 8 * 9 * 4});
}

TEST_CASE("columns become images, and images get the lengths they are cut or filled up to") {
  OnnxBuilder b(18);
  b.input("x", {"2", "12", "9"});
  b.integers("image", {5, 7});
  b.integers("block", {2, 3});
  b.node("Col2Im", {"x", "image", "block"}, {"y"});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{2 * 2 * 5 * 7 * 4});
  b.integers("lengths", {9, 3});
  auto& some = b.node("CenterCropPad", {"y", "lengths"}, {"some"});
  OnnxBuilder::set(some, "axes", std::vector<int64_t>{-1, 0});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{3 * 2 * 5 * 9 * 4});
  b.integers("all", {1, 2, 3, 4});
  b.node("CenterCropPad", {"some", "all"}, {"z"});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{1 * 2 * 3 * 4 * 4});
}

TEST_CASE("a deformed convolution has the positions of one that is not") {
  OnnxBuilder b(19);
  b.input("x", {"1", "4", "9", "9"});
  b.weight("w", {6, 4, 3, 3});
  b.input("offset", {"1", "18", "5", "5"});
  auto& node = b.node("DeformConv", {"x", "w", "offset"}, {"y"});
  OnnxBuilder::set(node, "strides", std::vector<int64_t>{2, 2});
  OnnxBuilder::set(node, "pads", std::vector<int64_t>{1, 1, 1, 1});
  CHECK(outputs_of_last(b) == std::vector<uint64_t>{6 * 5 * 5 * 4});
}

TEST_CASE("convolutions with channels last have them last") {
  for (const char* op : {"NhwcConv", "NhwcFusedConv"}) {
    OnnxBuilder b;
    b.input("x", {"1", "9", "11", "4"});
    b.weight("w", {6, 4, 3, 3});
    b.node(op, {"x", "w"}, {"y"}).set_domain(kMicrosoft);
    b.node("Transpose", {"y"}, {"t"});
    CHECK(outputs_of_last(b) == std::vector<uint64_t>{7 * 9 * 6 * 4});
  }
  OnnxBuilder q;
  q.input("x", {"1", "9", "11", "4"}, onnx::TensorProto::UINT8);
  q.weight("w", {6, 4, 3, 3}, onnx::TensorProto::INT8, 1);
  q.weight("s", {1});
  q.weight("z", {1}, onnx::TensorProto::UINT8, 1);
  auto& conv = q.node("QLinearConv", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"y"});
  conv.set_domain(kMicrosoft);
  OnnxBuilder::set(conv, "channels_last", int64_t{1});
  CHECK(outputs_of_last(q) == std::vector<uint64_t>{7 * 9 * 6});
}

TEST_CASE("fused operators of language models have shapes") {
  OnnxBuilder b;
  b.input("x", {"2", "5", "32"});
  b.weight("bias", {32});
  b.weight("packed", {64, 1, 16}, onnx::TensorProto::UINT8, 1);
  b.weight("scales", {64});
  b.weight("table", {100, 16}, onnx::TensorProto::UINT8, 1);
  b.input("ids", {"2", "5"}, onnx::TensorProto::INT64);
  const uint64_t like_x = 2 * 5 * 32 * 4;
  const auto added = [&](onnx::NodeProto& node) {
    node.set_domain(kMicrosoft);
    return outputs_of_last(b);
  };
  CHECK(added(b.node("SkipSimplifiedLayerNormalization", {"x", "x", "bias"},
                     {"n", "", "", "sum"})) == std::vector<uint64_t>{like_x, 0, 0, like_x});
  CHECK(added(b.node("BiasGelu", {"x", "bias"}, {"g"})) == std::vector<uint64_t>{like_x});
  CHECK(added(b.node("QuickGelu", {"x"}, {"h"})) == std::vector<uint64_t>{like_x});
  CHECK(added(b.node("BiasSplitGelu", {"x", "bias"}, {"s"})) == std::vector<uint64_t>{like_x / 2});
  auto& product = b.node("MatMulNBits", {"x", "packed", "scales"}, {"p"});
  OnnxBuilder::set(product, "K", int64_t{32});
  OnnxBuilder::set(product, "N", int64_t{64});
  CHECK(added(product) == std::vector<uint64_t>{2 * like_x});
  auto& gather = b.node("GatherBlockQuantized", {"table", "ids", "scales"}, {"e"});
  OnnxBuilder::set(gather, "bits", int64_t{4});
  CHECK(added(gather) == std::vector<uint64_t>{2 * 5 * 32 * 4});
  // Ten of a hundred rows, their scales, the places and what is made.
  const std::string bytes = b.bytes();
  const auto imported = import_onnx(as_bytes(bytes), "model", {});
  REQUIRE(imported.ok());
  const uint64_t moved = imported->spec.nodes.back().bytes_accessed;
  CHECK(moved == 10 * 16 + 64 * 4 / 100 * 10 + 10 * 8 + 2 * 5 * 32 * 4);
}

// pytorch/pytorch#57178 and onnx/onnx#5741: engines leave such a window out.
TEST_CASE("a pool that rounds up makes no window that begins in the padding behind") {
  const auto pooled = [](const char* op, int64_t kernel, int64_t pad, const char* length) {
    OnnxBuilder b(19);
    b.input("x", {"1", "1", length});
    auto& node = b.node(op, {"x"}, {"y"});
    OnnxBuilder::set(node, "kernel_shape", std::vector<int64_t>{kernel});
    OnnxBuilder::set(node, "strides", std::vector<int64_t>{2});
    OnnxBuilder::set(node, "pads", std::vector<int64_t>{pad, pad});
    OnnxBuilder::set(node, "ceil_mode", int64_t{1});
    return outputs_of_last(b)[0] / 4;
  };
  CHECK(pooled("MaxPool", 2, 1, "3") == 2);
  CHECK(pooled("MaxPool", 2, 1, "4") == 3);
  CHECK(pooled("MaxPool", 1, 0, "4") == 2);
  CHECK(pooled("AveragePool", 3, 0, "6") == 3);
  CHECK(pooled("LpPool", 2, 0, "5") == 3);
}

TEST_CASE("Einsum leaves the axes that its equation says, and counts each index once") {
  const auto product = [](const char* equation) {
    OnnxBuilder b;
    b.input("q", {"2", "3", "4", "8"});
    b.input("k", {"2", "3", "5", "8"});
    text(b.node("Einsum", {"q", "k"}, {"y"}), "equation", equation);
    return last_node(b);
  };
  constexpr uint64_t kFlops = 2 * 2 * 3 * 4 * 5 * 8;
  for (const char* equation :
       {"bhqd,bhkd->bhqk", "b h q d, b h k d -> b h q k", "...qd,...kd->...qk"}) {
    CAPTURE(equation);
    const NodeSpec node = product(equation);
    CHECK(node.outputs == std::vector<uint64_t>{2 * 3 * 4 * 5 * 4});
    CHECK(node.flops == kFlops);
  }
  const NodeSpec implied = product("bhqd,bhkd");  // kq, by the alphabet
  CHECK(implied.outputs == std::vector<uint64_t>{4 * 5 * 4});
  CHECK(implied.flops == kFlops);
}

TEST_CASE("quantization makes the type that its attribute says, of tensors of any shape") {
  using onnx::TensorProto;
  OnnxBuilder b(23);
  b.input("x", {"2", "3"}, TensorProto::FLOAT16);
  b.input("lengths", {"n"}, TensorProto::INT64);
  b.weight("scale", {}, TensorProto::FLOAT16, 2);
  b.node("Reshape", {"x", "lengths"}, {"free"});  // of an unknown number of axes
  b.node("QuantizeLinear", {"free", "scale"}, {"bytes"});
  const std::pair<const char*, const char*> cases[] = {{"x", "of x"}, {"free", "of free"}};
  for (const auto& [data, name] : cases) {
    const std::string q = std::string("q ") + name, d = std::string("d ") + name;
    OnnxBuilder::set(b.node("QuantizeLinear", {data, "scale"}, {q}), "output_dtype",
                     int64_t{TensorProto::INT16});
    b.node("DequantizeLinear", {q, "scale"}, {d + " as scale"});
    OnnxBuilder::set(b.node("DequantizeLinear", {q, "scale"}, {d}), "output_dtype",
                     int64_t{TensorProto::FLOAT});
  }
  const Result<Analysis> analysis = analyze(b.model());
  REQUIRE_MESSAGE(analysis.ok(), analysis.status().message());
  const auto type = [&](const std::string& name) {
    return analysis->scope.find(name)->element_type();
  };
  for (const auto& [data, name] : cases) {
    CAPTURE(name);
    CHECK(type(std::string("q ") + name) == TensorProto::INT16);
    CHECK(type(std::string("d ") + name + " as scale") == TensorProto::FLOAT16);
    CHECK(type(std::string("d ") + name) == TensorProto::FLOAT);
  }
  CHECK(type("bytes") == TensorProto::UINT8);
  CHECK(dims_of(b, "d of x") == Dims{2, 3});
}
TEST_CASE("casts, texts and draws have the types that they say, of tensors of any shape") {
  using onnx::TensorProto;
  constexpr int kFloat8 = 17;  // newer than the library's enumeration
  OnnxBuilder b(23);
  b.input("x", {"2", "3"});
  b.input("text", {"2", "3"}, TensorProto::STRING);
  b.input("word", {"4", "1", "1"}, TensorProto::STRING);
  b.input("lengths", {"n"}, TensorProto::INT64);
  b.weight("byte", {1}, kFloat8, 1);
  OnnxBuilder::set(b.node("Cast", {"x"}, {"cast"}), "to", int64_t{kFloat8});
  b.node("CastLike", {"x", "byte"}, {"like"});
  b.node("Reshape", {"text", "lengths"}, {"free"});  // of an unknown number of axes
  b.node("Reshape", {"x", "lengths"}, {"free numbers"});
  for (const char* name : {"x", "free numbers"}) {
    const std::string to = std::string(" of ") + name;
    for (const char* op : {"Bernoulli", "RandomNormalLike", "Multinomial"}) {
      OnnxBuilder::set(b.node(op, {name}, {op + to}), "dtype", int64_t{TensorProto::INT64});
    }
    b.node("EyeLike", {name}, {"EyeLike" + to});
  }
  b.node("StringConcat", {"text", "word"}, {"joined"});
  b.node("StringConcat", {"free", "word"}, {"joined free"});
  b.node("StringSplit", {"text"}, {"parts", "counts"});
  b.node("StringSplit", {"free"}, {"parts of free", "counts of free"});
  b.node("RegexFullMatch", {"text"}, {"matches"});
  b.node("RegexFullMatch", {"free"}, {"matches of free"});
  const Result<Analysis> analysis = analyze(b.model());
  REQUIRE_MESSAGE(analysis.ok(), analysis.status().message());
  const auto is = [&](const char* name, int32_t type, const std::optional<Dims>& dims) {
    CAPTURE(name);
    const Value* value = analysis->scope.find(name);
    CHECK(value->element_type() == type);
    CHECK(value->dims() == dims);
  };
  is("cast", kFloat8, Dims{2, 3});
  is("like", kFloat8, Dims{2, 3});
  is("Bernoulli of x", TensorProto::INT64, Dims{2, 3});
  is("Bernoulli of free numbers", TensorProto::INT64, {});
  is("RandomNormalLike of free numbers", TensorProto::INT64, {});
  is("Multinomial of x", TensorProto::INT64, Dims{2, 1});
  is("Multinomial of free numbers", TensorProto::INT64, {});
  is("EyeLike of free numbers", TensorProto::FLOAT, {});
  is("joined", TensorProto::STRING, Dims{4, 2, 3});
  is("joined free", TensorProto::STRING, {});
  is("parts", TensorProto::STRING, Dims{2, 3, kUnknownDim});
  is("counts", TensorProto::INT64, Dims{2, 3});
  is("parts of free", TensorProto::STRING, {});
  is("counts of free", TensorProto::INT64, {});
  is("matches", TensorProto::BOOL, Dims{2, 3});
  is("matches of free", TensorProto::BOOL, {});
}

// As ONNX Runtime 1.30 computes them, for an axis of 5.
TEST_CASE("a transposed convolution pads the same no further than to the stride's multiple") {
  struct Case {
    const char* automatic;
    int64_t kernel, stride, added, dilation, length;
  };
  for (const Case& c : {Case{"SAME_UPPER", 3, 2, 0, 1, 10},
                        {"SAME_UPPER", 3, 2, 1, 1, 10},
                        {"SAME_LOWER", 1, 2, 0, 1, 9},
                        {"SAME_LOWER", 2, 3, 1, 1, 15},
                        {"SAME_UPPER", 2, 3, 0, 1, 14},
                        {"VALID", 3, 2, 1, 1, 12},
                        {"VALID", 3, 2, 0, 2, 13},
                        {"NOTSET", 3, 2, 1, 1, 11},
                        {"NOTSET", 3, 1, 0, 2, 8},
                        {"NOTSET", 2, 4, 3, 1, 20}}) {
    CAPTURE(c.automatic);
    CAPTURE(c.kernel);
    OnnxBuilder b;
    b.input("x", {"1", "4", "5"});
    b.weight("w", {4, 3, c.kernel});
    auto& node = b.node("ConvTranspose", {"x", "w"}, {"y"});
    auto* automatic = node.add_attribute();
    automatic->set_name("auto_pad");
    automatic->set_type(onnx::AttributeProto::STRING);
    automatic->set_s(c.automatic);
    if (c.automatic == std::string("NOTSET")) {
      OnnxBuilder::set(node, "pads", std::vector<int64_t>{1, 0});
    }
    OnnxBuilder::set(node, "group", int64_t{2});
    OnnxBuilder::set(node, "strides", std::vector<int64_t>{c.stride});
    OnnxBuilder::set(node, "dilations", std::vector<int64_t>{c.dilation});
    OnnxBuilder::set(node, "output_padding", std::vector<int64_t>{c.added});
    CHECK(dims_of(b, "y") == Dims{1, 6, c.length});
    OnnxBuilder::set(node, "output_shape", std::vector<int64_t>{9});
    CHECK(dims_of(b, "y") == Dims{1, 6, 9});
  }
}

TEST_CASE("what a pool took together is spread again, and entries are chosen along an axis") {
  OnnxBuilder b;
  b.input("x", {"1", "2", "3", "4"});
  b.input("places", {"1", "2", "3", "4"}, onnx::TensorProto::INT64);
  b.input("chosen", {"2"}, onnx::TensorProto::BOOL);
  b.integers("lengths", {1, 2, 7, 8});
  for (const char* out : {"y", "longer"}) {
    auto& node = b.node("MaxUnpool", {"x", "places"}, {out});
    if (out[0] == 'l') node.add_input("lengths");
    OnnxBuilder::set(node, "kernel_shape", std::vector<int64_t>{2, 2});
    OnnxBuilder::set(node, "strides", std::vector<int64_t>{2, 2});
  }
  OnnxBuilder::set(b.node("Compress", {"x", "chosen"}, {"rows"}), "axis", int64_t{-2});
  b.node("Compress", {"x", "chosen"}, {"list"});
  auto* some = b.graph().add_initializer();
  some->set_name("some");
  some->set_data_type(onnx::TensorProto::BOOL);
  some->add_dims(3);
  for (const int c : {1, 0, 1}) some->add_int32_data(c);
  OnnxBuilder::set(b.node("Compress", {"x", "some"}, {"two"}), "axis", int64_t{2});
  CHECK(dims_of(b, "y") == Dims{1, 2, 6, 8});
  CHECK(dims_of(b, "longer") == Dims{1, 2, 7, 8});
  CHECK(dims_of(b, "rows") == Dims{1, 2, kUnknownDim, 4});
  CHECK(dims_of(b, "list") == Dims{kUnknownDim});
  CHECK(dims_of(b, "two") == Dims{1, 2, 2, 4});
}

TEST_CASE("DFT transforms the axis that its operator set says") {
  const auto transformed = [](int opset, bool names_axis, bool halved) {
    OnnxBuilder b(opset);
    b.input("x", {"1", "10", "6", "1"});
    b.integers("axis", {1});
    auto& node = names_axis ? b.node("DFT", {"x", "", "axis"}, {"y"}) : b.node("DFT", {"x"}, {"y"});
    if (halved) OnnxBuilder::set(node, "onesided", int64_t{1});
    return outputs_of_last(b);
  };
  CHECK(transformed(17, false, true) == std::vector<uint64_t>{6 * 6 * 2 * 4});
  CHECK(transformed(20, false, true) == std::vector<uint64_t>{10 * 4 * 2 * 4});
  CHECK(transformed(20, true, true) == std::vector<uint64_t>{6 * 6 * 2 * 4});
  CHECK(transformed(20, false, false) == std::vector<uint64_t>{10 * 6 * 2 * 4});
}

TEST_CASE("a mixture of experts runs those that each row is sent to") {
  OnnxBuilder b;
  b.input("x", {"16", "32"});
  b.input("router", {"16", "8"});
  b.weight("w1", {8, 32, 64});
  b.weight("w2", {8, 64, 32});
  auto& node = b.node("MoE", {"x", "router", "w1", "", "w2"}, {"y"});
  node.set_domain(kMicrosoft);
  OnnxBuilder::set(node, "k", int64_t{2});
  CHECK(last_node(b).flops == 2u * 16 * 2 * (2 * 32 * 64));
}

TEST_CASE("an embedding reads of its tables what it is asked for") {
  OnnxBuilder b;
  b.input("ids", {"1", "128"}, onnx::TensorProto::INT32);
  b.weight("words", {3'000, 64});
  b.weight("places", {512, 64});
  b.weight("scale", {64});
  b.weight("shift", {64});
  auto& node = b.node("EmbedLayerNormalization",
                      {"ids", "", "words", "places", "", "scale", "shift"}, {"y", "mask"});
  node.set_domain(kMicrosoft);
  CHECK(last_node(b).bytes_accessed < 6 * 128 * 64 * 4);
}

TEST_CASE("what libonnx says of a node is cut where it lists every entry of an attribute") {
  OnnxBuilder b;
  b.input("x", {"2", "3"});
  auto& node = b.node("Transpose", {"x"}, {"y"}, "long");
  OnnxBuilder::set(node, "perm", std::vector<int64_t>(100'000, 7));
  const auto got = imported(b);
  REQUIRE(got.report.unknown.size() == 1);
  CHECK(test::contains(got.report.unknown[0].problem, "libonnx: "));
  CHECK(got.report.unknown[0].problem.size() < 400);
}
