// Random recurrent language models from the search space of ENAS. Pham et al., "Efficient Neural
// Architecture Search via Parameter Sharing", ICML 2018, section 2.1 and appendix A: a cell of N
// nodes; the first reads the word and the previous state, each later one reads an earlier node;
// each computes c = sigmoid(h W_c), then h + c (f(h W) - h), with f drawn from {tanh, ReLU,
// identity, sigmoid}; the state is the mean of the nodes that no other reads. The cell is drawn
// from the seed and unrolled; the embedding is the output matrix as well (tied).
#include "runtime/base/random.h"
#include "tools/workloads/layers.h"
#include "tools/workloads/networks.h"

namespace placeto {
namespace {

constexpr uint32_t kFunctions = 4, kIdentity = 3;
constexpr Nonlinearity kActivations[kIdentity] = {Nonlinearity::kTanh, Nonlinearity::kRelu,
                                                  Nonlinearity::kSigmoid};

struct HighwayNode {
  uint32_t source;  // an earlier node; unused for the first
  uint32_t function;
  DenseParameters gate, candidate;
};

std::vector<HighwayNode> draw_cell(NetworkBuilder& b, uint32_t count, uint64_t hidden,
                                   Random& random) {
  std::vector<HighwayNode> cell;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = "cell/" + std::to_string(i);
    const uint32_t source = i == 0 ? 0 : random.below(i);
    const uint64_t in = i == 0 ? 2 * hidden : hidden;
    cell.push_back({source, random.below(kFunctions),
                    dense_parameters(b, name + "/gate", in, hidden, /*bias=*/false),
                    dense_parameters(b, name + "/candidate", in, hidden, /*bias=*/false)});
  }
  return cell;
}

// One time step: the new state.
Tensor step(NetworkBuilder& b, const std::string& name, const std::vector<HighwayNode>& cell,
            Tensor word, Tensor state) {
  std::vector<Tensor> nodes;
  std::vector<bool> used(cell.size(), false);
  for (size_t i = 0; i < cell.size(); ++i) {
    const std::string part = name + "/" + std::to_string(i);
    const Tensor previous = i == 0 ? state : nodes[cell[i].source];
    const std::vector<Tensor> inputs =
        i == 0 ? std::vector<Tensor>{word, state} : std::vector<Tensor>{previous};
    if (i > 0) used[cell[i].source] = true;
    const Tensor gate =
        activation(b, part + "/gate/sigmoid", dense(b, part + "/gate", inputs, cell[i].gate),
                   Nonlinearity::kSigmoid);
    Tensor candidate = dense(b, part + "/candidate", inputs, cell[i].candidate);
    if (cell[i].function != kIdentity) {
      candidate =
          activation(b, part + "/candidate/function", candidate, kActivations[cell[i].function]);
    }
    nodes.push_back(highway(b, part + "/highway", gate, candidate, previous));
  }
  std::vector<Tensor> loose;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!used[i]) loose.push_back(nodes[i]);
  }
  return loose.size() == 1 ? loose[0] : average(b, name + "/state", std::move(loose));
}

}  // namespace

Result<GraphSpec> build_enas_ptb(const WorkloadOptions& o) {
  Random random(o.seed);
  NetworkBuilder b("enas_ptb_" + std::to_string(o.seed), o);
  const Variable words = b.variable("words", product({o.vocabulary, o.hidden}));
  const std::vector<HighwayNode> cell = draw_cell(b, o.layers, o.hidden, random);
  const Tensor ids = input(b, "tokens", {o.batch, o.length}, kIndexBytes);
  const std::vector<Tensor> embedded =
      unstack(b, "steps", embedding(b, "word_rows", ids, words, o.hidden));
  Tensor state = input(b, "initial_state", {o.batch, o.hidden});
  for (size_t t = 0; t < embedded.size(); ++t) {
    const std::string name = std::to_string(t);
    state = step(b, "step" + name, cell, embedded[t], state);
    const Tensor logits = dense(b, "logits/" + name, {state}, {words, {}, o.hidden, o.vocabulary});
    if (!b.training()) continue;
    softmax_cross_entropy(b, "loss/" + name, logits,
                          input(b, "labels/" + name, {o.batch}, kIndexBytes));
  }
  return b.finish();
}

}  // namespace placeto
