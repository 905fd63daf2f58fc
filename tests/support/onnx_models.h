// Small ONNX models for tests, built node by node.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/graph/text.h"

namespace placeto::test {

using Axes = std::vector<std::string>;  // "3" is fixed, anything else a free dimension of that name

class OnnxBuilder {
 public:
  explicit OnnxBuilder(int opset = 17) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
    model_.mutable_graph()->set_name("test");
  }

  onnx::ModelProto& model() { return model_; }
  const onnx::ModelProto& model() const { return model_; }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  static void set_type(onnx::ValueInfoProto& tensor, const std::string& name, const Axes& axes,
                       int type = onnx::TensorProto::FLOAT) {
    tensor.set_name(name);
    auto* typed = tensor.mutable_type()->mutable_tensor_type();
    typed->set_elem_type(type);
    typed->mutable_shape();
    for (const std::string& axis : axes) {
      const bool fixed = axis.find_first_not_of("0123456789") == std::string::npos;
      auto* dim = typed->mutable_shape()->add_dim();
      if (fixed && !axis.empty()) dim->set_dim_value(std::stoll(axis));
      if (!fixed) dim->set_dim_param(axis);
    }
  }
  void input(const std::string& name, const Axes& axes, int type = onnx::TensorProto::FLOAT) {
    set_type(*graph().add_input(), name, axes, type);
  }
  void output(const std::string& name) { graph().add_output()->set_name(name); }

  // Parameters with content (zeros).
  void weight(const std::string& name, const std::vector<int64_t>& dims,
              int type = onnx::TensorProto::FLOAT, size_t element_bytes = 4) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(type);
    size_t count = 1;
    for (int64_t dim : dims) tensor->add_dims(dim), count *= static_cast<size_t>(dim);
    tensor->set_raw_data(std::string(count * element_bytes, '\0'));
  }
  void integers(const std::string& name, const std::vector<int64_t>& values) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::INT64);
    tensor->add_dims(static_cast<int64_t>(values.size()));
    for (int64_t value : values) tensor->add_int64_data(value);
  }
  // An external weight: only its metadata is in the model.
  void external(const std::string& name, const std::vector<int64_t>& dims) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    for (int64_t dim : dims) tensor->add_dims(dim);
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    auto* location = tensor->add_external_data();
    location->set_key("location");
    location->set_value("/nonexistent/weights.bin");
  }

  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& name = "") {
    return add_node(graph(), op, inputs, outputs, name);
  }
  static onnx::NodeProto& add_node(onnx::GraphProto& graph, const std::string& op,
                                   const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs,
                                   const std::string& name = "") {
    auto& node = *graph.add_node();
    node.set_op_type(op);
    if (!name.empty()) node.set_name(name);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
  }
  static void set(onnx::NodeProto& node, const std::string& name, int64_t value) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }
  static void set(onnx::NodeProto& node, const std::string& name,
                  const std::vector<int64_t>& values) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values) attribute->add_ints(value);
  }
  static onnx::GraphProto& body(onnx::NodeProto& node, const std::string& name) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    attribute->mutable_g()->set_name(name);
    return *attribute->mutable_g();
  }

  std::string bytes() const { return model_.SerializeAsString(); }

 private:
  onnx::ModelProto model_;
};

// Image classifier, in a batch of free size; x: [batch, 3, 32, 32].
//
//   x - conv - relu - pool - flatten - fc - y
inline OnnxBuilder convolutional_model() {
  OnnxBuilder b;
  b.input("x", {"batch", "3", "32", "32"});
  b.weight("w", {16, 3, 3, 3});
  b.weight("bias", {16});
  b.weight("fw", {16, 10});
  auto& conv = b.node("Conv", {"x", "w", "bias"}, {"c"}, "conv");
  OnnxBuilder::set(conv, "pads", std::vector<int64_t>{1, 1, 1, 1});
  OnnxBuilder::set(conv, "strides", std::vector<int64_t>{2, 2});
  b.node("Relu", {"c"}, {"r"}, "relu");
  b.node("GlobalAveragePool", {"r"}, {"p"}, "pool");
  b.node("Flatten", {"p"}, {"f"}, "flatten");
  b.node("Gemm", {"f", "fw"}, {"y"}, "fc");
  b.output("y");
  return b;
}

// Sequences of free length whose heads are split by arithmetic on shapes, as exporters write it;
// x: [batch, seq, 8].
//
//   x - shape - gather(0), gather(1) - concat(., ., 2, 4) - reshape(x, .) - transpose - y
inline OnnxBuilder shape_arithmetic_model() {
  OnnxBuilder b;
  b.input("x", {"batch", "seq", "8"});
  b.integers("zero", {0});
  b.integers("one", {1});
  b.integers("heads", {2, 4});
  b.node("Shape", {"x"}, {"s"}, "shape");
  b.node("Gather", {"s", "zero"}, {"n"}, "gather_batch");
  b.node("Gather", {"s", "one"}, {"l"}, "gather_seq");
  OnnxBuilder::set(b.node("Concat", {"n", "l", "heads"}, {"t"}, "concat"), "axis", int64_t{0});
  b.node("Reshape", {"x", "t"}, {"h"}, "reshape");
  OnnxBuilder::set(b.node("Transpose", {"h"}, {"y"}, "transpose"), "perm",
                   std::vector<int64_t>{0, 2, 1, 3});
  b.output("y");
  return b;
}

// A Loop of 5 iterations and an If, whose bodies read `w` and `x` from outside.
//
//   x - loop(x @ w) - if(c: relu, else: x + .) - y
inline OnnxBuilder control_flow_model() {
  OnnxBuilder b;
  b.input("x", {"4", "4"});
  b.input("c", {}, onnx::TensorProto::BOOL);
  b.weight("w", {4, 4});
  b.integers("trips", {5});
  b.graph().mutable_initializer(1)->clear_dims();
  auto& loop = b.node("Loop", {"trips", "", "x"}, {"l", "steps"}, "loop");
  auto& body = OnnxBuilder::body(loop, "body");
  OnnxBuilder::set_type(*body.add_input(), "i", {}, onnx::TensorProto::INT64);
  OnnxBuilder::set_type(*body.add_input(), "go_in", {}, onnx::TensorProto::BOOL);
  OnnxBuilder::set_type(*body.add_input(), "state", {"4", "4"});
  OnnxBuilder::add_node(body, "Identity", {"go_in"}, {"go"});
  OnnxBuilder::add_node(body, "MatMul", {"state", "w"}, {"next"});
  OnnxBuilder::add_node(body, "Identity", {"next"}, {"step"});
  for (const char* name : {"go", "next", "step"}) body.add_output()->set_name(name);
  auto& branch = b.node("If", {"c"}, {"y"}, "if");
  auto& then_branch = OnnxBuilder::body(branch, "then_branch");
  OnnxBuilder::add_node(then_branch, "Relu", {"l"}, {"a"});
  then_branch.add_output()->set_name("a");
  auto& else_branch = OnnxBuilder::body(branch, "else_branch");
  OnnxBuilder::add_node(else_branch, "Add", {"l", "x"}, {"b"});
  else_branch.add_output()->set_name("b");
  b.output("y");
  b.output("steps");
  return b;
}

}  // namespace placeto::test
