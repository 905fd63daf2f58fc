// GPT-2. Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, table 2;
// vocabulary and context of the published models. Inference reads a whole prompt at once and
// gives the next token's logits at each of its positions.
#include "tools/workloads/networks.h"
#include "tools/workloads/transformer.h"

namespace placeto {
namespace {

constexpr uint64_t kBytePairs = 50257, kGptPositions = 1024;

struct Size {
  std::string_view name;
  int layers;
  uint64_t hidden;
};
constexpr Size kSizes[] = {
    {"small", 12, 768}, {"medium", 24, 1024}, {"large", 36, 1280}, {"xl", 48, 1600}};

// Normalisation in front of each half.
Tensor pre_norm_layer(NetworkBuilder& b, const std::string& name, Tensor x) {
  const Tensor attended =
      self_attention(b, name + "/attention", layer_norm(b, name + "/attention/norm", x));
  x = add(b, name + "/attention/add", {x, attended});
  const Tensor fed =
      feed_forward(b, name + "/feed_forward", layer_norm(b, name + "/feed_forward/norm", x));
  return add(b, name + "/feed_forward/add", {x, fed});
}

Result<GraphSpec> build(const WorkloadOptions& options, const Size& size) {
  NetworkBuilder b("gpt2_" + std::string(size.name), options);
  const Shape shape{options.batch, options.length};
  const Variable words = b.variable("embeddings/words", product({kBytePairs, size.hidden}));
  const Variable positions =
      b.variable("embeddings/positions", product({kGptPositions, size.hidden}));
  Tensor x = add(b, "embeddings/add",
                 {embedding(b, "embeddings/word_rows", input(b, "tokens", shape, kIndexBytes),
                            words, size.hidden),
                  embedding(b, "embeddings/position_rows",
                            input(b, "positions", shape, kIndexBytes), positions, size.hidden)});
  for (int i = 0; i < size.layers; ++i) x = pre_norm_layer(b, "layer" + std::to_string(i), x);
  x = layer_norm(b, "norm", x);
  const Tensor logits = dense(b, "logits", {x}, {words, {}, size.hidden, kBytePairs});
  if (b.training()) {
    softmax_cross_entropy(b, "loss", logits, input(b, "labels", shape, kIndexBytes));
  }
  return b.finish();
}

}  // namespace

Result<GraphSpec> build_gpt2(const WorkloadOptions& options) {
  for (const Size& size : kSizes) {
    if (size.name == options.size) return build(options, size);
  }
  return Status::internal("gpt2 has no size '" + options.size + "'");
}

}  // namespace placeto
