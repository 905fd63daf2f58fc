// A decoder-only transformer in which every other feed-forward half is a mixture of experts with
// the two best experts for each token. Routing and capacity: Lepikhin et al., "GShard", ICLR 2021;
// proportions: Artetxe et al., "Efficient Large Scale Language Modeling with Mixtures of Experts",
// EMNLP 2022 (12 layers, hidden 768 and 512 experts are its 15B model).
//
// Each expert's layers are nodes of their own, so experts can be spread over devices. An expert
// processes its capacity of tokens, whether or not the router fills it.
#include "tools/workloads/networks.h"
#include "tools/workloads/transformer.h"

namespace placeto {
namespace {

constexpr uint64_t kExpertsPerToken = 2;

// For each token the experts it goes to, and with what weight.
struct Routes {
  Tensor experts, weights;
};

Routes route(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t experts) {
  const Tensor scores =
      softmax(b, name + "/softmax", dense(b, name + "/scores", x, experts, /*bias=*/false));
  Shape chosen = b.shape(scores);
  chosen.back() = kExpertsPerToken;
  const uint64_t scanned = product({kExpertsPerToken, elements(b.shape(scores))});
  const std::vector<Tensor> outputs = b.record({.name = name + "/top",
                                                .op = "TopK",
                                                .inputs = {scores},
                                                .outputs = {{chosen, kIndexBytes}, {chosen}},
                                                .flops = scanned});
  b.add_backward(outputs[1], {.op = "TopKGrad", .saved = {outputs[0]}, .inputs = {0}});
  return {outputs[0], outputs[1]};
}

// The tokens of each expert, [capacity, hidden] for each.
std::vector<Tensor> dispatch(NetworkBuilder& b, const std::string& name, Tensor x,
                             const Routes& routes, uint64_t experts) {
  const Shape shape = b.shape(x);
  const uint64_t routed = product({shape[0], shape[1], kExpertsPerToken});
  const uint64_t capacity = (routed + experts - 1) / experts;
  const std::vector<Tensor> parts =
      b.record({.name = name,
                .op = "Dispatch",
                .inputs = {x, routes.experts},
                .outputs = std::vector<OutputSpec>(experts, OutputSpec{{capacity, shape[2]}})});
  b.add_backward(parts[0], {.op = "DispatchGrad",
                            .saved = {routes.experts},
                            .inputs = {0},
                            .flops = product({routed, shape[2]})});
  return parts;
}

Tensor combine(NetworkBuilder& b, const std::string& name, std::vector<Tensor> parts,
               const Routes& routes, const Shape& shape) {
  const uint64_t flops = product({2, kExpertsPerToken, elements(shape)});
  BackwardNode backward{.op = "CombineGrad", .saved = parts, .flops = product({2, flops})};
  std::vector<Tensor> inputs = std::move(parts);
  inputs.push_back(routes.weights);
  for (uint32_t i = 0; i < inputs.size(); ++i) backward.inputs.push_back(i);
  inputs.push_back(routes.experts);
  backward.saved.insert(backward.saved.end(), {routes.weights, routes.experts});
  const Tensor y = b.record1({.name = name,
                              .op = "Combine",
                              .inputs = std::move(inputs),
                              .outputs = {{shape}},
                              .flops = flops});
  b.add_backward(y, std::move(backward));
  return y;
}

Tensor mixture(NetworkBuilder& b, const std::string& name, Tensor x, uint64_t experts) {
  const Routes routes = route(b, name + "/router", x, experts);
  std::vector<Tensor> parts = dispatch(b, name + "/dispatch", x, routes, experts);
  for (size_t e = 0; e < parts.size(); ++e) {
    parts[e] = feed_forward(b, name + "/expert" + std::to_string(e), parts[e]);
  }
  return combine(b, name + "/combine", std::move(parts), routes, Shape(b.shape(x)));
}

}  // namespace

Result<GraphSpec> build_mixture_of_experts(const WorkloadOptions& options) {
  if (Status s = check_heads(options.hidden); !s.ok()) return s;
  NetworkBuilder b("mixture_of_experts", options);
  const Shape shape{options.batch, options.length};
  const Variable words =
      b.variable("embeddings/words", product({options.vocabulary, options.hidden}));
  // Positions are sinusoids in this model: no parameters, added with the token embedding.
  Tensor x = embedding(b, "embeddings/word_rows", input(b, "tokens", shape, kIndexBytes), words,
                       options.hidden);
  for (uint32_t i = 0; i < options.layers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const Tensor attended =
        self_attention(b, name + "/attention", layer_norm(b, name + "/attention/norm", x));
    x = add(b, name + "/attention/add", {x, attended});
    const Tensor normal = layer_norm(b, name + "/feed_forward/norm", x);
    const Tensor fed = i % 2 == 1 ? mixture(b, name + "/mixture", normal, options.experts)
                                  : feed_forward(b, name + "/feed_forward", normal);
    x = add(b, name + "/feed_forward/add", {x, fed});
  }
  x = layer_norm(b, "norm", x);
  const Tensor logits = dense(b, "logits", {x}, {words, {}, options.hidden, options.vocabulary});
  if (b.training()) {
    softmax_cross_entropy(b, "loss", logits, input(b, "labels", shape, kIndexBytes));
  }
  return b.finish();
}

}  // namespace placeto
