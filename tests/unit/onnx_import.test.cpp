// Models to graphs: names, edges, bytes, parameters, operations, and what is not known.
#include <doctest/doctest.h>

#include "tests/support/colliding_names.h"
#include "tests/support/onnx_models.h"
#include "tests/support/text.h"
#include "tests/support/thread_time.h"
#include "tests/unit/onnx_fixture.h"

using namespace placeto;
using namespace placeto::test;

TEST_CASE("a convolutional model becomes a graph with bytes and operations") {
  const auto got = imported(convolutional_model(), {{"batch", 2}});
  CHECK(got.report.unknown.empty());
  CHECK(got.spec.name == "test");
  REQUIRE(got.spec.nodes.size() == 5);
  const NodeSpec conv = node(got, "conv");
  CHECK(conv.op == "Conv");
  CHECK(conv.outputs == std::vector<uint64_t>{2 * 16 * 16 * 16 * 4});
  CHECK(conv.resident_bytes == (16 * 27 + 16) * 4);
  CHECK(conv.flops == 2u * (2 * 16 * 16 * 16) * 27);
  CHECK(conv.bytes_accessed == 2 * 3 * 32 * 32 * 4 + (16 * 27 + 16) * 4 + 2 * 16 * 16 * 16 * 4);
  CHECK(node(got, "fc").flops == 2u * 2 * 10 * 16);
  CHECK(node(got, "pool").outputs == std::vector<uint64_t>{2 * 16 * 4});
  CHECK(got.spec.edges == std::vector<EdgeSpec>{{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {3, 0, 4}});
  CHECK(got.report.parameters == 16 * 27 + 16 + 160);
  CHECK(got.report.parameter_bytes == got.report.parameters * 4);
}

TEST_CASE("what follows from parameters alone costs no run, as engines compute it at load") {
  OnnxBuilder b;
  b.input("x", {"2", "32"});
  b.weight("w", {32, 32}, onnx::TensorProto::UINT8, 1);
  b.weight("scale", {1});
  b.weight("given", {32, 32});
  b.input("given", {"32", "32"});  // whoever runs the model may give another
  OnnxBuilder::set(b.node("Cast", {"w"}, {"wide"}, "cast"), "to", int64_t{1});
  b.node("Mul", {"wide", "scale"}, {"scaled"}, "mul");
  b.node("Mul", {"given", "scale"}, {"other"}, "every run");
  b.node("RandomNormalLike", {"scaled"}, {"noise"}, "random");
  b.node("MatMul", {"x", "scaled"}, {"y"}, "product");
  const auto got = imported(b, {});
  for (const char* name : {"cast", "mul"}) {
    CHECK(node(got, name).flops == 0);
    CHECK(node(got, name).bytes_accessed == 1);
  }
  CHECK(node(got, "every run").bytes_accessed > 32 * 32 * 4);
  CHECK(node(got, "random").bytes_accessed > 32 * 32 * 4);
  CHECK(node(got, "product").flops == 2u * 2 * 32 * 32);
  CHECK(got.report.flops ==
        node(got, "product").flops + node(got, "every run").flops + node(got, "random").flops);
}

TEST_CASE("what is computed at load is held in place of the parameters that it follows from") {
  OnnxBuilder b;
  b.input("x", {"2", "64"});
  b.weight("w", {64, 64}, onnx::TensorProto::UINT8, 1);
  b.weight("scale", {1});
  OnnxBuilder::set(b.node("Cast", {"w"}, {"wide"}, "cast"), "to", int64_t{1});
  b.node("Mul", {"wide", "scale"}, {"scaled"}, "mul");
  b.node("MatMul", {"x", "scaled"}, {"y"}, "product");
  b.node("Neg", {"scale"}, {"shared"}, "shared");
  b.node("Add", {"y", "shared"}, {"z"}, "add");
  b.node("Sub", {"z", "shared"}, {"u"}, "sub");
  b.node("Exp", {"scale"}, {"handed out"}, "handed out");
  b.node("Mul", {"u", "handed out"}, {"t"}, "last");
  b.output("t");
  b.output("handed out");
  const auto got = imported(b, {});
  CHECK(got.report.parameter_bytes == 64 * 64 + 4);
  CHECK(node(got, "cast").resident_bytes == 0);
  CHECK(node(got, "cast").outputs == std::vector<uint64_t>{0});
  CHECK(node(got, "mul").resident_bytes == 64 * 64 * 4);
  CHECK(node(got, "mul").outputs == std::vector<uint64_t>{0});
  CHECK(node(got, "product").resident_bytes == 0);
  CHECK(node(got, "mul").colocate == node(got, "product").colocate);
  CHECK_FALSE(node(got, "mul").colocate.empty());
  for (const char* passes : {"shared", "handed out"}) {
    CHECK(node(got, passes).resident_bytes == 0);
    CHECK(node(got, passes).outputs == std::vector<uint64_t>{4});
  }
}

TEST_CASE("what is computed at load is so in whatever order a model lists its nodes") {
  const auto model = [](bool sorted) {
    OnnxBuilder b;
    b.input("x", {"2", "64"});
    b.weight("w", {64, 64}, onnx::TensorProto::UINT8, 1);
    const auto cast = [&] {
      OnnxBuilder::set(b.node("Cast", {"w"}, {"wide"}, "cast"), "to", int64_t{1});
    };
    if (sorted) cast();
    b.node("Neg", {"wide"}, {"negative"}, "neg");
    b.node("MatMul", {"x", "negative"}, {"y"}, "product");
    if (!sorted) cast();
    return imported(b, {});
  };
  const auto sorted = model(true), unsorted = model(false);
  CHECK(sorted.report.flops == unsorted.report.flops);
  for (const char* name : {"cast", "neg", "product"}) {
    CHECK(node(sorted, name).bytes_accessed == node(unsorted, name).bytes_accessed);
    CHECK(node(sorted, name).resident_bytes == node(unsorted, name).resident_bytes);
    CHECK(node(sorted, name).outputs == node(unsorted, name).outputs);
  }
  CHECK(node(unsorted, "neg").resident_bytes == 64 * 64 * 4);
}

TEST_CASE("arithmetic on shapes that are settled costs no run, on others it does") {
  OnnxBuilder b = shape_arithmetic_model();
  b.node("NonZero", {"x"}, {"found"}, "nonzero");  // how many, only a run shows
  b.node("Shape", {"found"}, {"count"}, "shape_of_found");
  b.node("Cast", {"count"}, {"last"}, "cast");
  const auto got = imported(b, {{"batch", 1}, {"seq", 6}});
  for (const char* name : {"shape", "gather_batch", "gather_seq", "concat"}) {
    CHECK(node(got, name).fused);
    CHECK(node(got, name).bytes_accessed == 1);
  }
  CHECK(node(got, "concat").colocate == node(got, "reshape").colocate);
  for (const char* name : {"nonzero", "shape_of_found", "cast", "reshape"}) {
    CHECK_FALSE(node(got, name).fused);
  }
}

TEST_CASE("a shape is not tied to its reader, whose device need not have the tensor") {
  OnnxBuilder b;
  b.input("x", {"1000", "1000"});
  b.input("z", {"1000000"});
  b.node("Relu", {"x"}, {"large"}, "relu");
  b.node("Shape", {"large"}, {"s"}, "shape");
  b.node("Reshape", {"z", "s"}, {"y"}, "reshape");
  b.output("y");
  const auto got = imported(b, {});
  CHECK(node(got, "shape").fused);
  CHECK(node(got, "shape").outputs == std::vector<uint64_t>{2 * 8});
  CHECK(node(got, "shape").colocate.empty());
  CHECK(node(got, "reshape").colocate.empty());
}

TEST_CASE("dimensions without a value are an error that names them and the option") {
  OnnxBuilder b = shape_arithmetic_model();
  const std::string message = refusal(b, StatusCode::kInvalidArgument);
  CHECK(contains(message, "'batch'"));
  CHECK(contains(message, "dimension setting 'seq=1'"));
  CHECK(contains(refusal(b, StatusCode::kInvalidArgument, {{"batch", 1}}), "1 dimension"));
  CHECK(contains(refusal(b, StatusCode::kInvalidArgument, {{"*", 1}, {"sequence", 3}}),
                 "'batch', 'seq'"));
  OnnxBuilder nameless;
  nameless.input("x", {"", "2"});
  nameless.node("Relu", {"x"}, {"y"});
  CHECK(contains(refusal(nameless, StatusCode::kInvalidArgument), "without a value: 'x[0]'; add"));
}

TEST_CASE("an axis can be set by name, by position and by default") {
  OnnxBuilder b = shape_arithmetic_model();
  const auto got = imported(b, {{"*", 7}, {"seq", 5}, {"x[0]", 3}});
  CHECK(node(got, "transpose").outputs == std::vector<uint64_t>{3 * 5 * 8 * 4});
}

TEST_CASE("arithmetic on shapes is evaluated") {
  const auto got = imported(shape_arithmetic_model(), {{"batch", 1}, {"seq", 6}});
  CHECK(got.report.unknown.empty());
  CHECK(node(got, "reshape").outputs == std::vector<uint64_t>{6 * 8 * 4});
  CHECK(node(got, "concat").resident_bytes == 4 * 8);  // computed at load
}

// Exporters write the paddings of each axis, last axis first, and turn the list around as a matrix
// of two columns: {5, 6, 1, 2} becomes {1, 5, 2, 6}.
TEST_CASE("a list of paddings turned around by slicing a matrix backwards is evaluated") {
  OnnxBuilder b;
  b.input("x", {"8", "8"});
  b.integers("pads", {5, 6, 1, 2});
  b.integers("two_columns", {-1, 2});
  b.integers("from", {-1});
  b.integers("past_first", {INT64_MIN + 1});
  b.integers("rows", {0});
  b.integers("backwards", {-1});
  b.integers("flat", {-1});
  b.node("Reshape", {"pads", "two_columns"}, {"m"}, "matrix");
  b.node("Slice", {"m", "from", "past_first", "rows", "backwards"}, {"r"}, "slice");
  OnnxBuilder::set(b.node("Transpose", {"r"}, {"t"}, "turn"), "perm", std::vector<int64_t>{1, 0});
  b.node("Reshape", {"t", "flat"}, {"p"}, "list");
  b.node("Pad", {"x", "p"}, {"y"}, "pad");
  b.output("y");
  const auto got = imported(b);
  CHECK(got.report.unknown.empty());
  CHECK(node(got, "pad").outputs == std::vector<uint64_t>{(1 + 8 + 2) * (5 + 8 + 6) * 4});
}

TEST_CASE("slices of matrices have numpy's bounds, and wrong ones are not evaluated") {
  const auto sliced = [](const std::vector<int64_t>& starts, const std::vector<int64_t>& ends,
                         const std::vector<int64_t>& axes, const std::vector<int64_t>& steps) {
    OnnxBuilder b;
    b.integers("list", {3, 1, 4, 1, 5, 9});
    b.integers("shape", {2, 3});
    b.integers("starts", starts);
    b.integers("ends", ends);
    b.integers("axes", axes);
    b.integers("steps", steps);
    b.integers("flat", {-1});
    b.node("Reshape", {"list", "shape"}, {"m"}, "matrix");
    b.node("Slice", {"m", "starts", "ends", "axes", "steps"}, {"r"}, "slice");
    b.node("Reshape", {"r", "flat"}, {"s"}, "flatten");
    b.node("ConstantOfShape", {"s"}, {"y"}, "fill");  // its size tells the product
    b.output("y");
    const auto got = imported(b);
    return got.report.unknown.empty() ? node(got, "fill").outputs[0] / 4 : 0;
  };
  CHECK(sliced({0}, {1}, {0}, {1}) == 3 * 1 * 4);
  CHECK(sliced({1, -1}, {100, -100}, {0, 1}, {1, -2}) == 9 * 1);  // row 1: columns 2 and 0
  CHECK(sliced({0}, {3}, {-1}, {2}) == 3 * 4 * 1 * 9);
  CHECK(sliced({1}, {0}, {0}, {-1}) == 1 * 5 * 9);
  CHECK(sliced({0}, {1}, {2}, {1}) == 0);     // there is no axis 2
  CHECK(sliced({0}, {1}, {0}, {0}) == 0);     // no step of 0
  CHECK(sliced({0}, {1, 2}, {0}, {1}) == 0);  // lists of different lengths
}

TEST_CASE("nodes keep unique names; the others are called by operator and position") {
  //  x - Relu 'a' - Relu 'a' - Relu '' - Constant + Add 'Relu_2'
  OnnxBuilder b;
  b.input("x", {"2"});
  b.node("Relu", {"x"}, {"p"}, "a");
  b.node("Relu", {"p"}, {"q"}, "a");
  b.node("Relu", {"q"}, {"r"});
  auto& constant = b.node("Constant", {}, {"k"}, "k");
  auto* value = constant.add_attribute();
  value->set_name("value_float");
  value->set_type(onnx::AttributeProto::FLOAT);
  value->set_f(1);
  b.node("Add", {"r", "k"}, {"y"}, "Relu_2");
  b.output("y");
  const auto got = imported(b);
  std::vector<std::string> names;
  for (const NodeSpec& n : got.spec.nodes) names.push_back(n.name);
  CHECK(names == std::vector<std::string>{"a", "Relu_1", "Relu_2_", "Relu_2"});
  CHECK(node(got, "Relu_2").resident_bytes == 4);  // the constant is a parameter
}

TEST_CASE("outputs keep their positions, read or not, and several readers share one") {
  //        / relu(s0)
  //  split - s1 (unread)      three outputs, the last with two readers
  //        \ relu(s2), exp(s2)
  OnnxBuilder b;
  b.input("x", {"6", "2"});
  OnnxBuilder::set(b.node("Split", {"x"}, {"s0", "s1", "s2"}, "split"), "axis", int64_t{0});
  b.node("Relu", {"s0"}, {"a"}, "first");
  b.node("Relu", {"s2"}, {"b"}, "second");
  b.node("Exp", {"s2"}, {"c"}, "third");
  const auto got = imported(b);
  CHECK(node(got, "split").outputs == std::vector<uint64_t>{16, 16, 16});
  CHECK(got.spec.edges == std::vector<EdgeSpec>{{0, 0, 1}, {0, 2, 2}, {0, 2, 3}});
}

TEST_CASE("small shared parameters are copied, large ones keep their readers together") {
  const auto shared = [](int64_t rows) {
    OnnxBuilder b;
    b.input("x", {"1", std::to_string(rows)});
    b.weight("w", {rows, rows});
    b.node("MatMul", {"x", "w"}, {"p"}, "first");
    b.node("Relu", {"p"}, {"q"}, "between");
    b.node("MatMul", {"q", "w"}, {"y"}, "second");
    return b;
  };
  const auto small = imported(shared(8));
  CHECK(node(small, "first").resident_bytes == 256);
  CHECK(node(small, "second").resident_bytes == 256);
  CHECK(node(small, "first").colocate == "");
  const auto large = imported(shared(512));
  CHECK(node(large, "first").resident_bytes == 1 << 20);
  CHECK(node(large, "second").resident_bytes == 0);
  CHECK(node(large, "first").colocate != "");
  CHECK(node(large, "first").colocate == node(large, "second").colocate);
  CHECK(node(large, "between").colocate == "");
  CHECK(large.report.parameter_bytes == 1 << 20);
  const auto copied = imported(shared(512), {}, true);
  CHECK(node(copied, "second").resident_bytes == 1 << 20);
  CHECK(node(copied, "first").colocate == "");
}

TEST_CASE("external weights count by their metadata and are not looked for") {
  OnnxBuilder b;
  b.input("x", {"1", "1000000"});
  b.external("w", {1000000, 2000});
  b.node("MatMul", {"x", "w"}, {"y"}, "product");
  const auto got = imported(b);
  CHECK(node(got, "product").resident_bytes == 8'000'000'000);
  CHECK(got.report.external_bytes == 8'000'000'000);
  CHECK(node(got, "product").flops == 4'000'000'000);
}

TEST_CASE("operators that nobody knows are listed, and what the model says of them is used") {
  OnnxBuilder b;
  b.input("x", {"2", "3"});
  b.node("Frobnicate", {"x"}, {"u"}, "known_by_value_info");
  b.graph().mutable_node(0)->set_domain("example");
  b.node("Frobnicate", {"u"}, {"v"}, "unknown");
  b.graph().mutable_node(1)->set_domain("example");
  b.node("Relu", {"v"}, {"y"}, "after");
  OnnxBuilder::set_type(*b.graph().add_value_info(), "u", {"5", "7"});
  const auto got = imported(b);
  CHECK(node(got, "known_by_value_info").outputs == std::vector<uint64_t>{140});
  REQUIRE(got.report.unknown.size() == 2);
  CHECK(got.report.unknown[0].node == "unknown");
  CHECK(contains(got.report.unknown[0].problem, "'Frobnicate'"));
  CHECK(got.report.unknown[1].node == "after");
  CHECK(node(got, "after").outputs == std::vector<uint64_t>{0});
}

TEST_CASE("a mask that nobody reads has a shape in old operator sets, too") {
  OnnxBuilder b(9);
  b.input("x", {"2", "3"});
  b.node("Dropout", {"x"}, {"y", "mask"}, "dropout");
  const auto got = imported(b);
  CHECK(got.report.unknown.empty());
  CHECK(node(got, "dropout").outputs == std::vector<uint64_t>{24, 24});
}

TEST_CASE("operator sets newer than the library's import") {
  OnnxBuilder b(23);
  b.input("x", {"2", "8", "4"});
  b.integers("axes", {2});
  b.node("ReduceMean", {"x", "axes"}, {"m"}, "mean");  // axes became an input in 18
  OnnxBuilder::set(b.node("Split", {"x"}, {"a", "b"}, "split"), "num_outputs", int64_t{2});
  b.node("RMSNormalization", {"x", "scale"}, {"n"}, "norm");
  b.weight("scale", {4});
  const auto got = imported(b);
  CHECK(got.report.unknown.empty());
  CHECK(node(got, "mean").outputs == std::vector<uint64_t>{64});
  CHECK(node(got, "split").outputs == std::vector<uint64_t>{128, 128});
  CHECK(node(got, "norm").outputs == std::vector<uint64_t>{256});
}

//   x - reorder in - conv - upsample - reorder out - y     channels: 16, 32, 32, 20 of the 32
TEST_CASE("models in the layout of the engine's optimizer have shapes") {
  OnnxBuilder b;
  b.model().add_opset_import()->set_domain("com.microsoft.nchwc");
  b.input("x", {"1", "16", "8", "8"});
  b.weight("w", {32, 16, 3, 3});
  const auto blocked = [&](const char* op, const std::vector<std::string>& inputs,
                           const char* output) -> onnx::NodeProto& {
    auto& node = b.node(op, inputs, {output}, op);
    node.set_domain("com.microsoft.nchwc");
    return node;
  };
  blocked("ReorderInput", {"x"}, "a");
  OnnxBuilder::set(blocked("Conv", {"a", "w"}, "c"), "pads", std::vector<int64_t>{1, 1, 1, 1});
  OnnxBuilder::set(blocked("Upsample", {"c"}, "u"), "scales", std::vector<int64_t>{1, 1, 2, 2});
  auto& out = blocked("ReorderOutput", {"u"}, "y");
  OnnxBuilder::set(out, "channels", int64_t{20});
  OnnxBuilder::set(out, "channels_last", int64_t{1});
  b.output("y");
  const auto got = imported(b);
  CHECK(got.report.unknown.empty());
  CHECK(node(got, "ReorderInput").outputs == std::vector<uint64_t>{16 * 8 * 8 * 4});
  CHECK(node(got, "Conv").outputs == std::vector<uint64_t>{32 * 8 * 8 * 4});
  CHECK(node(got, "Upsample").outputs == std::vector<uint64_t>{32 * 16 * 16 * 4});
  CHECK(node(got, "ReorderOutput").outputs == std::vector<uint64_t>{20 * 16 * 16 * 4});
}

TEST_CASE("edges name the output that they carry, of nodes with many and of unnamed ones") {
  OnnxBuilder b;
  b.input("x", {"4"});
  auto& many = b.node("Many", {"x"}, {}, "many");
  auto& reader = b.node("Reader", {}, {"y"}, "reader");
  constexpr int kOutputs = 50'000;
  for (int i = 0; i < kOutputs; ++i) {
    many.add_output(i % 2 == 0 ? "" : "t" + std::to_string(i));
    if (i % 2 != 0) reader.add_input("t" + std::to_string(i));
  }
  OnnxBuilder::set_type(*b.graph().add_value_info(), "", Axes(64, "2"));  // is of none of them
  const auto got = imported(b);
  REQUIRE(got.spec.edges.size() == kOutputs / 2);
  for (uint32_t e = 0; e < kOutputs / 2; ++e) CHECK(got.spec.edges[e].output == 2 * e + 1);
  CHECK(node(got, "many").outputs == std::vector<uint64_t>(kOutputs, 0));
}

TEST_CASE("what reads a second output of a Constant reads nothing that is placed") {
  OnnxBuilder b;
  b.input("x", {"4"});
  auto& constant = b.node("Constant", {}, {"c", "d"}, "constant");
  OnnxBuilder::set(constant, "value_int", int64_t{1});
  b.node("Foo", {"x", "d"}, {"y"}, "reader");
  const auto got = imported(b);
  CHECK(got.spec.nodes.size() == 1);
  CHECK(got.spec.edges.empty());
}

TEST_CASE("a type of more axes than any engine takes is none, sparse or not") {
  OnnxBuilder b;
  auto* input = b.graph().add_input();
  input->set_name("x");
  auto* sparse = input->mutable_type()->mutable_sparse_tensor_type();
  for (int i = 0; i < 65; ++i) sparse->mutable_shape()->add_dim()->set_dim_value(1);
  b.node("Identity", {"x"}, {"y"}, "same");
  const auto got = imported(b);
  REQUIRE(got.report.unknown.size() == 1);
  CHECK(contains(got.report.unknown[0].problem, "the shape of its input 'x' is not known"));
}

TEST_CASE("an operator that reads more tensors than any has is imported without its shape") {
  OnnxBuilder b;
  b.input("x", {"4"});
  auto& node = b.node("Sum", {}, {"y"}, "sum");
  for (int i = 0; i < 70'000; ++i) node.add_input("x");
  const auto got = imported(b);
  REQUIRE(got.report.unknown.size() == 1);
  CHECK(contains(got.report.unknown[0].problem, "more than 65536 tensors"));
}

TEST_CASE("nodes that differ in names only have equal shapes, those of other inputs their own") {
  OnnxBuilder b;
  b.input("x", {"4", "8"});
  b.input("z", {"4", "16"});
  for (const char* name : {"a", "b"}) {
    auto& node = b.node("Softmax", {"x"}, {name}, name);
    OnnxBuilder::set(node, "axis", int64_t{1});
  }
  b.node("Mul", {"x", "x"}, {"square"}, "square");
  b.node("Mul", {"x", "a"}, {"product"}, "product");
  OnnxBuilder::set(b.node("Softmax", {"z"}, {"c"}, "c"), "axis", int64_t{1});
  const auto got = imported(b);
  CHECK(got.report.unknown.empty());
  for (const char* name : {"a", "b", "square", "product"}) {
    CHECK(node(got, name).outputs == std::vector<uint64_t>{4 * 8 * 4});
  }
  CHECK(node(got, "c").outputs == std::vector<uint64_t>{4 * 16 * 4});
}

TEST_CASE("malformed models are refused with the node and what was expected") {
  OnnxBuilder dangling = convolutional_model();
  dangling.graph().mutable_node(1)->set_input(0, "nothing");
  CHECK(contains(refusal(dangling, StatusCode::kBadInput, {{"batch", 1}}),
                 "graph.node[1] 'relu': reads 'nothing'"));
  OnnxBuilder cyclic = convolutional_model();
  cyclic.graph().mutable_node(0)->set_input(0, "r");
  CHECK(contains(refusal(cyclic, StatusCode::kBadInput, {{"batch", 1}}), "cycle"));
  OnnxBuilder twice = convolutional_model();
  twice.graph().mutable_node(1)->set_output(0, "c");
  CHECK(contains(refusal(twice, StatusCode::kBadInput, {{"batch", 1}}), "produces 'c'"));
  OnnxBuilder nameless = convolutional_model();
  nameless.graph().mutable_node(1)->clear_op_type();
  CHECK(contains(refusal(nameless, StatusCode::kBadInput, {{"batch", 1}}), "op_type"));
  OnnxBuilder promising = convolutional_model();
  promising.graph().add_output()->set_name("never");
  CHECK(contains(refusal(promising, StatusCode::kBadInput, {{"batch", 1}}),
                 "graph.output 'never': nothing makes it"));
  OnnxBuilder empty;
  CHECK(contains(refusal(empty), "no node"));
}

TEST_CASE("nodes in any order import as if they were sorted") {
  OnnxBuilder b;
  b.input("x", {"4"});
  b.node("Exp", {"p"}, {"y"}, "last");
  b.node("Relu", {"x"}, {"p"}, "first");
  const auto got = imported(b);
  CHECK(got.spec.edges == std::vector<EdgeSpec>{{1, 0, 0}});
  CHECK(node(got, "last").outputs == std::vector<uint64_t>{16});
}

TEST_CASE("names that hash alike take no longer than others") {
  constexpr size_t kNames = 10'000;
  const auto import_ms = [](const std::vector<std::string>& names) {
    OnnxBuilder b;
    b.input(names[0], {"4"});
    for (size_t i = 1; i < kNames; ++i) b.node("Relu", {names[i - 1]}, {names[i]}, names[i]);
    b.output(names.back());
    const double began_ms = thread_ms();
    CHECK(imported(b).spec.nodes.size() == kNames - 1);
    return thread_ms() - began_ms;
  };
  const std::vector<std::string> colliding = colliding_names(kNames);
  std::vector<std::string> others = colliding;
  for (std::string& name : others) name.back() = '!';  // they still begin unlike each other
  CHECK(import_ms(colliding) < 4 * import_ms(others) + 5);
}
