// The walk over the nodes of a model. Private to analysis.cpp and control_flow.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/onnx/analysis.h"
#include "tools/onnx/library_inference.h"

namespace placeto {

using NodeInputs = std::vector<const Value*>;  // null: not given

// What holds for the nodes of one graph or function body.
struct Frame {
  const Opsets* opsets;
  int depth = 0;
  bool always = false;  // they run whenever the model does, and must be able to
};

// A visited body: what all its nodes do, and the first of them that could not be inferred.
struct Body {
  Work work;
  std::string problem;
  std::vector<Value> outputs;
};

class Analyzer {
 public:
  explicit Analyzer(const onnx::ModelProto& model);
  // The model's main graph.
  Status run(const onnx::ModelProto& model, Defaults defaults, Analysis& analysis);
  Decisions take_decisions() { return std::move(decided_); }

 private:
  Status visit_node(const onnx::NodeProto& node, const Scope& scope, const Frame& frame,
                    std::vector<Value>& outputs, NodeAnalysis& result);
  // Visits all nodes in that order, puts their outputs into the scope and hands each result to
  // `take(position, result)`.
  using Take = std::function<void(int, NodeAnalysis&&)>;
  Status visit_nodes(const onnx::GraphProto& graph, const std::vector<int>& order, Scope& scope,
                     const Frame& frame, const Take& take);
  // Visits a graph inside a node; `scope` holds the values of its inputs.
  Status visit_body(const onnx::GraphProto& graph, Scope& scope, const Frame& frame, Body& body);
  Status infer(const onnx::NodeProto& node, const NodeInputs& inputs, const Scope& scope,
               const Frame& frame, std::vector<Value>& outputs, NodeAnalysis& result);
  // control_flow.cpp
  Status visit_if(const onnx::NodeProto& node, const NodeInputs& inputs, const Scope& scope,
                  const Frame& frame, std::vector<Value>& outputs, NodeAnalysis& result);
  Status visit_loop(const onnx::NodeProto& node, const NodeInputs& inputs, const Scope& scope,
                    const Frame& frame, std::vector<Value>& outputs, NodeAnalysis& result);
  Status visit_scan(const onnx::NodeProto& node, const NodeInputs& inputs, const Scope& scope,
                    const Frame& frame, std::vector<Value>& outputs, NodeAnalysis& result);
  Status visit_sequence_map(const onnx::NodeProto& node, const NodeInputs& inputs,
                            const Scope& scope, const Frame& frame, std::vector<Value>& outputs,
                            NodeAnalysis& result);
  Status call(const onnx::FunctionProto& function, const onnx::NodeProto& node,
              const NodeInputs& inputs, const Frame& frame, std::vector<Value>& outputs,
              NodeAnalysis& result);

  // So many nodes more are gone through (visit_cost.h); a failure beyond what a model may have.
  Status charge(uint64_t visits);
  // Whether there is time to evaluate an operator on what is known of its inputs.
  bool may_fold(const NodeInputs& inputs);
  // The value without what there is no room for any more, if there was too much before it.
  Value bounded(Value value);
  void keep(const std::string& name, Value value, Scope& scope);
  void keep_initial_values(const onnx::GraphProto& graph, Scope& scope);

  std::map<std::string, const onnx::FunctionProto*> functions_;  // by function_key
  Opsets opsets_;
  LibraryInference library_;
  Decisions decided_;
  uint64_t visits_ = 0, most_visits_ = 0;
  uint64_t kept_bytes_ = 0;  // by values: their types and their elements
  uint64_t folding_ = 0;
};

// Version by domain of a model's or function's opset_import.
Opsets opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);

}  // namespace placeto
