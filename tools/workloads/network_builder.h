// NetworkBuilder: records the operators of a network, then writes them down as a graph, for
// inference or for a training step.
//
// An operator says what its forward node reads, produces and computes, and which nodes compute its
// gradients; the backward half of a training step follows from that by reverse-mode
// differentiation (gradient.cpp), so a network is written once.
//
// What becomes a node: every operator that moves or computes something. Reshapes, slices along the
// outermost dimension and other views of memory do not. A variable (parameters) is not a node: its
// bytes are resident on the first operator that uses it, in training together with the
// optimizer's state. Nodes that share a variable share a device: all that read it, compute its
// gradient or update it carry one colocation key. In inference a variable with a single user needs
// no key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/base/no_index.h"
#include "tools/workloads/workload.h"

namespace placeto {

inline constexpr uint64_t kFloatBytes = 4;
inline constexpr uint64_t kIndexBytes = 4;  // token ids, labels, routes

using Shape = std::vector<uint64_t>;  // outermost dimension first; images are N, C, H, W

struct Tensor {
  uint32_t id;
};
struct Variable {
  uint32_t id;
};

// A node of the backward half. It reads the gradients of its operator's outputs, which need not be
// said, and produces the gradients listed.
struct BackwardNode {
  std::string op;
  std::vector<Tensor> saved = {};        // forward tensors it reads
  std::vector<Variable> reads = {};      // variables whose value it reads
  std::vector<uint32_t> inputs = {};     // positions of the operator's inputs it differentiates
  std::vector<Variable> variables = {};  // variables it differentiates
  uint64_t flops = 0;
  uint64_t sparse_bytes = 0;  // of a variable's gradient; 0: as large as the variable
};

struct OutputSpec {
  Shape shape;
  uint64_t element_bytes = kFloatBytes;
};

struct OperatorSpec {
  std::string name, op;
  std::vector<Tensor> inputs = {};
  std::vector<OutputSpec> outputs = {};
  std::vector<Variable> variables = {};
  uint64_t flops = 0;
  uint64_t bytes_accessed = 0;   // 0: inputs, outputs and variables, each once
  bool passes_gradient = false;  // every input's gradient is the output's: no node needed
  bool loss = false;             // where differentiation starts
};

// a x b x ..., or kMostSize (runtime/base/saturating.h) where it is more; finish() then fails.
uint64_t product(std::initializer_list<uint64_t> factors);
uint64_t elements(const Shape& shape);

class NetworkBuilder {
 public:
  // Only `training` and `optimizer` of the options matter here.
  NetworkBuilder(std::string name, const WorkloadOptions& options)
      : name_(std::move(name)), training_(options.training), optimizer_(options.optimizer) {}

  bool training() const { return training_; }
  const Shape& shape(Tensor t) const { return tensors_[t.id].shape; }

  // A variable of so many float32 elements. One that is not trainable (moving averages) has no
  // gradient and no optimizer state.
  Variable variable(std::string name, uint64_t count, bool trainable = true);

  // Adds an operator; returns its outputs in order. Names should be distinct.
  std::vector<Tensor> record(OperatorSpec spec);
  // The same for an operator with one output.
  Tensor record1(OperatorSpec spec) { return record(std::move(spec))[0]; }

  // Adds a node to the backward half of the operator that produced `output`. Without one (and
  // without passes_gradient) no gradient flows through an operator.
  void add_backward(Tensor output, BackwardNode node) {
    backward_[tensors_[output.id].node].push_back(std::move(node));
  }

  // The graph of everything recorded. Fails with kInvalidArgument when its nodes exceed the
  // default limits or its bytes or flops exceed 2^62.
  Result<GraphSpec> finish();

 private:
  struct TensorInfo {
    Shape shape;
    uint64_t bytes;
    uint32_t node, output;  // what produces it
    bool needs_gradient;    // depends on a trainable variable
  };
  struct VariableInfo {
    std::string name;
    uint64_t count;
    bool trainable;
    uint32_t users = 0;  // operators
    uint32_t parent;     // union-find: variables that one operator uses stay together
  };
  // A gradient: output `output` of node `node`.
  struct Gradient {
    uint32_t node = kNoIndex, output = 0;
    uint64_t bytes = 0;
  };

  uint32_t root(uint32_t variable);
  std::string colocation_key(const std::vector<Variable>& variables);
  uint64_t bytes(const std::vector<Variable>& variables) const;
  void place_variables(GraphSpec& graph);
  void connect(GraphSpec& graph, uint32_t source, uint32_t output, uint32_t target) const;

  // gradient.cpp
  void differentiate(GraphSpec& graph);
  std::vector<Gradient> output_gradients(uint32_t op) const;
  NodeSpec backward_node(uint32_t op, size_t which, const std::vector<Tensor>& targets,
                         const std::vector<Gradient>& incoming);
  void emit_backward(GraphSpec& graph, uint32_t op, size_t which,
                     const std::vector<Gradient>& incoming);
  Gradient accumulate(GraphSpec& graph, Gradient sum, Gradient term, const std::string& name,
                      const std::string& key) const;
  void emit_update(GraphSpec& graph, uint32_t variable);

  std::string name_;
  bool training_;
  Optimizer optimizer_;
  std::vector<OperatorSpec> operators_;  // operator i is node i
  std::vector<std::vector<Tensor>> produced_;
  std::vector<std::vector<BackwardNode>> backward_;
  std::vector<TensorInfo> tensors_;
  std::vector<VariableInfo> variables_;
  std::vector<Gradient> tensor_gradient_, variable_gradient_;
};

}  // namespace placeto
