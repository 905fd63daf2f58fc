// Tensors that are there before a model runs, and those that nodes have inside.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>

namespace placeto {

struct Weights {
  uint64_t elements = 0, bytes = 0, external_bytes = 0;  // of the bytes
};

void add(Weights& total, const Weights& more);

Weights weights_of(const onnx::TensorProto& tensor);
Weights weights_of(const onnx::SparseTensorProto& tensor);
// Of a Constant node; nothing for one whose value is an attribute of the call around it.
Weights weights_of_constant(const onnx::NodeProto& node);

// Weights in graphs of nodes, and in the functions of a model that nodes call.
class InnerWeights {
 public:
  explicit InnerWeights(const onnx::ModelProto& model);  // which must outlive it
  // What an engine holds for the node: a function's weights as often as it is called, as engines
  // put its body in the place of each call. The node is no Constant.
  Weights of(const onnx::NodeProto& node);
  // All of the nodes so far, each tensor once.
  const Weights& distinct() const { return distinct_; }

 private:
  Weights counted(const Weights& weights);
  Weights of_graph(const onnx::GraphProto& graph);
  Weights of_any(const onnx::NodeProto& node);
  Weights of_call(const onnx::NodeProto& node);

  std::map<std::string, const onnx::FunctionProto*> functions_;  // by function_key
  std::map<std::string, Weights> known_;                         // the same keys
  Weights distinct_;
  int depth_ = 0;
};

}  // namespace placeto
