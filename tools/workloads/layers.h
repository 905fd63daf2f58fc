// The operators that networks are made of. Each function records one operator (or the few that its
// name says) with its shapes, parameters, floating-point operations, bytes and gradients.
//
// Conventions: a multiply-add counts 2 operations; an elementary function (exp, tanh, erf) counts
// kFunctionFlops; padding counts nothing. Convolutions read N, C, H, W; dense layers transform the
// innermost dimension. The gradient of a matrix product or convolution with respect to each of its
// operands costs what the forward operator costs.
#pragma once

#include <string>
#include <vector>

#include "tools/costs/function_flops.h"
#include "tools/workloads/network_builder.h"

namespace placeto {

enum class Padding : uint8_t { kSame, kValid };

// A fed tensor: images, token ids, labels, an initial state.
Tensor input(NetworkBuilder& b, const std::string& name, Shape shape,
             uint64_t element_bytes = kFloatBytes);

struct ConvSpec {
  uint64_t channels;  // of the output
  uint64_t kernel_h, kernel_w;
  uint64_t stride = 1;
  Padding padding = Padding::kSame;
};
// 2-D convolution without bias (batch normalisation follows in every network here).
Tensor conv2d(NetworkBuilder& b, const std::string& name, Tensor x, const ConvSpec& spec);
// One kernel x kernel filter for each channel.
Tensor depthwise_conv2d(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t kernel,
                        uint64_t stride);

// Scale and shift per channel are parameters; the moving mean and variance are resident only.
Tensor batch_norm(NetworkBuilder& b, const std::string& name, Tensor x);

enum class Pool : uint8_t { kMax, kAverage };
Tensor pool2d(NetworkBuilder& b, const std::string& name, Tensor x, Pool kind, uint64_t kernel,
              uint64_t stride, Padding padding);
// N, C, H, W to N, C.
Tensor global_average_pool(NetworkBuilder& b, const std::string& name, Tensor x);

enum class Nonlinearity : uint8_t { kRelu, kSigmoid, kTanh, kGelu };
Tensor activation(NetworkBuilder& b, const std::string& name, Tensor x, Nonlinearity kind);

// Elementwise on equal shapes.
Tensor add(NetworkBuilder& b, const std::string& name, std::vector<Tensor> inputs);
Tensor average(NetworkBuilder& b, const std::string& name, std::vector<Tensor> inputs);
// Joins along a dimension; the other dimensions are equal.
Tensor concat(NetworkBuilder& b, const std::string& name, std::vector<Tensor> inputs,
              size_t dimension);
// T tensors of shape [N, ...] from one of shape [N, T, ...].
std::vector<Tensor> unstack(NetworkBuilder& b, const std::string& name, Tensor x);

// Parameters of a dense layer, so that layers can share them. weight: in x out elements.
struct DenseParameters {
  Variable weight;
  std::vector<Variable> bias;  // one or none
  uint64_t in, out;
};
DenseParameters dense_parameters(NetworkBuilder& b, const std::string& name, uint64_t in,
                                 uint64_t out, bool bias = true);
// [..., in] to [..., out]. Several inputs are read side by side as one (no copy): their innermost
// dimensions sum to `in`.
Tensor dense(NetworkBuilder& b, const std::string& name, std::vector<Tensor> inputs,
             const DenseParameters& parameters);
// With parameters of its own.
Tensor dense(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t out, bool bias = true);

// Product of two activations: `groups` independent [m, k] x [k, n] products; the result has
// groups x m x n elements in `shape`.
struct MatMulSpec {
  uint64_t groups, m, k, n;
  Shape shape;
};
Tensor batch_matmul(NetworkBuilder& b, const std::string& name, Tensor x, Tensor y,
                    const MatMulSpec& spec);

// Over the innermost dimension.
Tensor softmax(NetworkBuilder& b, const std::string& name, Tensor x);
Tensor layer_norm(NetworkBuilder& b, const std::string& name, Tensor x);

// Rows of `table` (rows x width elements): ids of shape [...] to [..., width]. Its gradient holds
// the looked-up rows only.
Tensor embedding(NetworkBuilder& b, const std::string& name, Tensor ids, Variable table,
                 uint64_t width);

// The elementwise part of an LSTM cell (Hochreiter and Schmidhuber 1997): four gates [N, 4 H] and
// the previous state [N, H] to the hidden state and the state.
struct LstmState {
  Tensor hidden, cell;
};
LstmState lstm_cell(NetworkBuilder& b, const std::string& name, Tensor gates, Tensor previous_cell);

// previous + gate * (candidate - previous), the highway step of ENAS's recurrent cell.
Tensor highway(NetworkBuilder& b, const std::string& name, Tensor gate, Tensor candidate,
               Tensor previous);

// Mean loss over the rows of logits [..., classes]; differentiation starts here.
Tensor softmax_cross_entropy(NetworkBuilder& b, const std::string& name, Tensor logits,
                             Tensor labels);

}  // namespace placeto
