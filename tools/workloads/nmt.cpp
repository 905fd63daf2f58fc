// Neural machine translation: encoder and decoder of stacked LSTM layers with additive attention,
// unrolled over the length of the sentences. Wu et al., "Google's Neural Machine Translation
// System", 2016: the first encoder layer is bidirectional, residual connections start at the third
// layer, attention looks from the decoder's bottom layer and its result feeds every decoder layer.
//
// The decoder reads the reference translation (teacher forcing) in inference as well, so the graph
// is that of scoring a translation. All steps of a layer share its parameters, hence a device.
#include "tools/workloads/layers.h"
#include "tools/workloads/networks.h"

namespace placeto {
namespace {

using Sequence = std::vector<Tensor>;  // one [batch, width] tensor for each time step

// One LSTM layer and its running state.
class Lstm {
 public:
  Lstm(NetworkBuilder& b, std::string name, uint64_t in, uint64_t hidden, Tensor zero)
      : b_(b),
        name_(std::move(name)),
        parameters_(dense_parameters(b, name_, in + hidden, 4 * hidden)),
        state_{zero, zero} {}

  Tensor step(size_t t, std::vector<Tensor> inputs) {
    const std::string part = name_ + "/" + std::to_string(t);
    inputs.push_back(state_.hidden);
    const Tensor gates = dense(b_, part + "/gates", std::move(inputs), parameters_);
    state_ = lstm_cell(b_, part + "/cell", gates, state_.cell);
    return state_.hidden;
  }

 private:
  NetworkBuilder& b_;
  std::string name_;
  DenseParameters parameters_;
  LstmState state_;
};

// Score of each source position: v . tanh(key + query). Bahdanau et al., ICLR 2015.
Tensor additive_scores(NetworkBuilder& b, const std::string& name, Tensor keys, Tensor query,
                       Variable v) {
  const Shape shape = b.shape(keys);
  const uint64_t flops = product({elements(shape), kFunctionFlops + 3});
  const Tensor y = b.record1({.name = name,
                              .op = "AdditiveScores",
                              .inputs = {keys, query},
                              .outputs = {{{shape[0], shape[1]}}},
                              .variables = {v},
                              .flops = flops});
  b.add_backward(y, {.op = "AdditiveScoresGrad",
                     .saved = {keys, query},
                     .reads = {v},
                     .inputs = {0, 1},
                     .variables = {v},
                     .flops = product({2, flops})});
  return y;
}

// [batch, T, width] from T tensors of [batch, width].
Tensor stack(NetworkBuilder& b, const std::string& name, Sequence steps) {
  Shape shape = b.shape(steps[0]);
  shape.insert(shape.begin() + 1, steps.size());
  BackwardNode backward{.op = "Unstack"};
  for (uint32_t t = 0; t < steps.size(); ++t) backward.inputs.push_back(t);
  const Tensor y =
      b.record1({.name = name, .op = "Stack", .inputs = std::move(steps), .outputs = {{shape}}});
  b.add_backward(y, std::move(backward));
  return y;
}

struct Memory {
  Tensor states, keys;  // what attention mixes, and what it compares with
};

class Attention {
 public:
  Attention(NetworkBuilder& b, Memory memory, uint64_t hidden)
      : b_(b),
        memory_(memory),
        query_(dense_parameters(b, "attention/query", hidden, hidden, /*bias=*/false)),
        v_(b.variable("attention/v", hidden)) {}

  Tensor context(size_t t, Tensor decoder_hidden) {
    const std::string part = "attention/" + std::to_string(t);
    const Shape shape = b_.shape(memory_.states);
    const Tensor query = dense(b_, part + "/query", {decoder_hidden}, query_);
    const Tensor scores = additive_scores(b_, part + "/scores", memory_.keys, query, v_);
    return batch_matmul(
        b_, part + "/context", softmax(b_, part + "/softmax", scores), memory_.states,
        {.groups = shape[0], .m = 1, .k = shape[1], .n = shape[2], .shape = {shape[0], shape[2]}});
  }

 private:
  NetworkBuilder& b_;
  Memory memory_;
  DenseParameters query_;
  Variable v_;
};

Sequence embed(NetworkBuilder& b, const std::string& name, const WorkloadOptions& o) {
  const Variable table = b.variable(name + "/words", product({o.vocabulary, o.hidden}));
  const Tensor ids = input(b, name + "/tokens", {o.batch, o.length}, kIndexBytes);
  return unstack(b, name + "/steps", embedding(b, name + "/rows", ids, table, o.hidden));
}

Tensor residual(NetworkBuilder& b, const std::string& name, size_t t, Tensor x, Tensor y) {
  return add(b, name + "/" + std::to_string(t) + "/residual", {x, y});
}

Memory encode(NetworkBuilder& b, const WorkloadOptions& o, Tensor zero) {
  const Sequence embedded = embed(b, "source", o);
  const size_t steps = embedded.size();
  Lstm forward(b, "encoder/0/forward", o.hidden, o.hidden, zero);
  Lstm backward(b, "encoder/0/backward", o.hidden, o.hidden, zero);
  Sequence left(steps), right(steps);
  for (size_t t = 0; t < steps; ++t) left[t] = forward.step(t, {embedded[t]});
  for (size_t t = steps; t-- > 0;) right[t] = backward.step(t, {embedded[t]});

  Sequence x(steps);
  for (uint32_t l = 1; l < o.layers; ++l) {
    const std::string name = "encoder/" + std::to_string(l);
    Lstm lstm(b, name, l == 1 ? 2 * uint64_t{o.hidden} : o.hidden, o.hidden, zero);
    for (size_t t = 0; t < steps; ++t) {
      const Tensor y = l == 1 ? lstm.step(t, {left[t], right[t]}) : lstm.step(t, {x[t]});
      x[t] = l == 1 ? y : residual(b, name, t, x[t], y);
    }
  }
  const Tensor states = stack(b, "attention/memory", std::move(x));
  return {states, dense(b, "attention/keys", states, o.hidden, /*bias=*/false)};
}

// The top layer's output at each step.
Sequence decode(NetworkBuilder& b, const WorkloadOptions& o, Tensor zero, Memory memory) {
  const Sequence embedded = embed(b, "target", o);
  Attention attention(b, memory, o.hidden);
  std::vector<Lstm> layers;
  for (uint32_t l = 0; l < o.layers; ++l) {
    layers.emplace_back(b, "decoder/" + std::to_string(l), 2 * uint64_t{o.hidden}, o.hidden, zero);
  }
  Sequence outputs;
  Tensor context = zero;
  for (size_t t = 0; t < embedded.size(); ++t) {
    Tensor x = layers[0].step(t, {embedded[t], context});
    context = attention.context(t, x);
    for (uint32_t l = 1; l < o.layers; ++l) {
      const Tensor y = layers[l].step(t, {x, context});
      x = l == 1 ? y : residual(b, "decoder/" + std::to_string(l), t, x, y);
    }
    outputs.push_back(x);
  }
  return outputs;
}

}  // namespace

Result<GraphSpec> build_nmt(const WorkloadOptions& o) {
  NetworkBuilder b("nmt", o);
  const Tensor zero = input(b, "zero_state", {o.batch, o.hidden});
  const Memory memory = encode(b, o, zero);
  const Sequence outputs = decode(b, o, zero, memory);
  const DenseParameters projection = dense_parameters(b, "logits", o.hidden, o.vocabulary);
  for (size_t t = 0; t < outputs.size(); ++t) {
    const std::string step = std::to_string(t);
    const Tensor logits = dense(b, "logits/" + step, {outputs[t]}, projection);
    if (!b.training()) continue;
    softmax_cross_entropy(b, "loss/" + step, logits,
                          input(b, "labels/" + step, {o.batch}, kIndexBytes));
  }
  return b.finish();
}

}  // namespace placeto
