// Operators on any shape: inputs, elementwise operators, normalisation, dense layers, loss.
// Convolutions and pooling are in layers_image.cpp, recurrence in layers_recurrent.cpp.
#include "tools/workloads/layers.h"

#include <cassert>

namespace placeto {
namespace {

uint64_t innermost(const NetworkBuilder& b, Tensor t) {
  return b.shape(t).back();
}

// Positions 0..count-1, for gradients of every input.
std::vector<uint32_t> positions(size_t count) {
  std::vector<uint32_t> result(count);
  for (uint32_t i = 0; i < count; ++i) result[i] = i;
  return result;
}

struct ActivationCost {
  const char* op;
  uint64_t forward, backward;  // operations per element
  bool saves_output;           // else the gradient is computed from the input
};

ActivationCost activation_cost(Nonlinearity kind) {
  switch (kind) {
    case Nonlinearity::kRelu:
      return {"Relu", 1, 1, true};
    case Nonlinearity::kSigmoid:
      return {"Sigmoid", kFunctionFlops, 3, true};
    case Nonlinearity::kTanh:
      return {"Tanh", kFunctionFlops, 3, true};
    case Nonlinearity::kGelu:
      return {"Gelu", kFunctionFlops + 4, 2 * kFunctionFlops, false};
  }
  return {"Relu", 1, 1, true};
}

}  // namespace

Tensor input(NetworkBuilder& b, const std::string& name, Shape shape, uint64_t element_bytes) {
  return b.record1({.name = name, .op = "Input", .outputs = {{std::move(shape), element_bytes}}});
}

Tensor activation(NetworkBuilder& b, const std::string& name, Tensor x, Nonlinearity kind) {
  const ActivationCost cost = activation_cost(kind);
  const uint64_t n = elements(b.shape(x));
  const Tensor y = b.record1({.name = name,
                              .op = cost.op,
                              .inputs = {x},
                              .outputs = {{b.shape(x)}},
                              .flops = product({n, cost.forward})});
  b.add_backward(y, {.op = std::string(cost.op) + "Grad",
                     .saved = {cost.saves_output ? y : x},
                     .inputs = {0},
                     .flops = product({n, cost.backward})});
  return y;
}

Tensor add(NetworkBuilder& b, const std::string& name, std::vector<Tensor> inputs) {
  assert(!inputs.empty());
  const Shape shape = b.shape(inputs[0]);
  const uint64_t flops = product({elements(shape), inputs.size() - 1});
  return b.record1({.name = name,
                    .op = "Add",
                    .inputs = std::move(inputs),
                    .outputs = {{shape}},
                    .flops = flops,
                    .passes_gradient = true});
}

Tensor average(NetworkBuilder& b, const std::string& name, std::vector<Tensor> inputs) {
  assert(!inputs.empty());
  const Shape shape = b.shape(inputs[0]);
  const size_t count = inputs.size();
  // One scaled gradient serves every input, so differentiate the sum and pass the rest through.
  const Tensor sum = add(b, name + "/sum", std::move(inputs));
  if (count == 1) return sum;
  const Tensor y = b.record1({.name = name + "/scale",
                              .op = "Scale",
                              .inputs = {sum},
                              .outputs = {{shape}},
                              .flops = elements(shape)});
  b.add_backward(y, {.op = "ScaleGrad", .inputs = {0}, .flops = elements(shape)});
  return y;
}

Tensor concat(NetworkBuilder& b, const std::string& name, std::vector<Tensor> inputs,
              size_t dimension) {
  assert(!inputs.empty());
  Shape shape = b.shape(inputs[0]);
  for (size_t i = 1; i < inputs.size(); ++i) shape[dimension] += b.shape(inputs[i])[dimension];
  const size_t count = inputs.size();
  const Tensor y =
      b.record1({.name = name, .op = "Concat", .inputs = std::move(inputs), .outputs = {{shape}}});
  b.add_backward(y, {.op = "ConcatGrad", .inputs = positions(count)});
  return y;
}

std::vector<Tensor> unstack(NetworkBuilder& b, const std::string& name, Tensor x) {
  Shape part = b.shape(x);
  const uint64_t count = part[1];
  part.erase(part.begin() + 1);
  const std::vector<Tensor> parts =
      b.record({.name = name,
                .op = "Unstack",
                .inputs = {x},
                .outputs = std::vector<OutputSpec>(count, OutputSpec{part})});
  b.add_backward(parts[0], {.op = "Stack", .inputs = {0}});
  return parts;
}

DenseParameters dense_parameters(NetworkBuilder& b, const std::string& name, uint64_t in,
                                 uint64_t out, bool bias) {
  DenseParameters p{b.variable(name + "/weight", product({in, out})), {}, in, out};
  if (bias) p.bias.push_back(b.variable(name + "/bias", out));
  return p;
}

Tensor dense(NetworkBuilder& b, const std::string& name, std::vector<Tensor> inputs,
             const DenseParameters& p) {
  Shape shape = b.shape(inputs[0]);
  shape.back() = p.out;
  const uint64_t rows = elements(shape) / p.out;
  const uint64_t product_flops = product({2, rows, p.in, p.out});
  const uint64_t bias_flops = p.bias.empty() ? 0 : product({rows, p.out});
  std::vector<Variable> variables = p.bias;
  variables.insert(variables.begin(), p.weight);
  const Tensor y = b.record1({.name = name,
                              .op = "MatMul",
                              .inputs = inputs,
                              .outputs = {{shape}},
                              .variables = variables,
                              .flops = product_flops + bias_flops});
  b.add_backward(y, {.op = "MatMulGradInput",
                     .reads = {p.weight},
                     .inputs = positions(inputs.size()),
                     .flops = product_flops});
  b.add_backward(y, {.op = "MatMulGradWeight",
                     .saved = std::move(inputs),
                     .variables = std::move(variables),
                     .flops = product_flops + bias_flops});
  return y;
}

Tensor dense(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t out, bool bias) {
  return dense(b, name, std::vector<Tensor>{x},
               dense_parameters(b, name, innermost(b, x), out, bias));
}

Tensor batch_matmul(NetworkBuilder& b, const std::string& name, Tensor x, Tensor y,
                    const MatMulSpec& spec) {
  const uint64_t flops = product({2, spec.groups, spec.m, spec.k, spec.n});
  const Tensor z = b.record1({.name = name,
                              .op = "BatchMatMul",
                              .inputs = {x, y},
                              .outputs = {{spec.shape}},
                              .flops = flops});
  b.add_backward(z, {.op = "BatchMatMulGrad", .saved = {y}, .inputs = {0}, .flops = flops});
  b.add_backward(z, {.op = "BatchMatMulGrad", .saved = {x}, .inputs = {1}, .flops = flops});
  return z;
}

Tensor softmax(NetworkBuilder& b, const std::string& name, Tensor x) {
  const uint64_t n = elements(b.shape(x));
  // Maximum, subtraction, exponential, sum, division.
  const Tensor y = b.record1({.name = name,
                              .op = "Softmax",
                              .inputs = {x},
                              .outputs = {{b.shape(x)}},
                              .flops = product({n, kFunctionFlops + 4})});
  b.add_backward(y, {.op = "SoftmaxGrad", .saved = {y}, .inputs = {0}, .flops = product({n, 4})});
  return y;
}

Tensor layer_norm(NetworkBuilder& b, const std::string& name, Tensor x) {
  const uint64_t n = elements(b.shape(x));
  const uint64_t width = innermost(b, x);
  const std::vector<Variable> variables = {b.variable(name + "/scale", width),
                                           b.variable(name + "/shift", width)};
  // Mean 1, variance 3, normalise 2, scale and shift 2; about twice that backward.
  const Tensor y = b.record1({.name = name,
                              .op = "LayerNorm",
                              .inputs = {x},
                              .outputs = {{b.shape(x)}},
                              .variables = variables,
                              .flops = product({n, 8})});
  b.add_backward(y, {.op = "LayerNormGrad",
                     .saved = {x},
                     .reads = {variables[0]},
                     .inputs = {0},
                     .variables = variables,
                     .flops = product({n, 16})});
  return y;
}

Tensor embedding(NetworkBuilder& b, const std::string& name, Tensor ids, Variable table,
                 uint64_t width) {
  Shape shape = b.shape(ids);
  shape.push_back(width);
  const uint64_t rows_bytes = product({elements(shape), kFloatBytes});
  const uint64_t id_bytes = product({elements(b.shape(ids)), kIndexBytes});
  const Tensor y = b.record1({.name = name,
                              .op = "Gather",
                              .inputs = {ids},
                              .outputs = {{shape}},
                              .variables = {table},
                              .bytes_accessed = product({2, rows_bytes}) + id_bytes});
  b.add_backward(y, {.op = "GatherGrad",
                     .saved = {ids},
                     .variables = {table},
                     .sparse_bytes = rows_bytes + id_bytes});
  return y;
}

Tensor softmax_cross_entropy(NetworkBuilder& b, const std::string& name, Tensor logits,
                             Tensor labels) {
  const uint64_t n = elements(b.shape(logits));
  const std::vector<Tensor> outputs =
      b.record({.name = name,
                .op = "SoftmaxCrossEntropy",
                .inputs = {logits, labels},
                .outputs = {{{1}}, {b.shape(logits)}},  // loss, probabilities
                .flops = product({n, kFunctionFlops + 5}),
                .loss = true});
  b.add_backward(outputs[0], {.op = "SoftmaxCrossEntropyGrad",
                              .saved = {outputs[1], labels},
                              .inputs = {0},
                              .flops = product({n, 2})});
  return outputs[0];
}

}  // namespace placeto
