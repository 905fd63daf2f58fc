// BERT. Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language
// Understanding", NAACL 2019; sizes of the uncased English models. Inference ends at the pooled
// output; a training step is one of pre-training, with both of its losses.
#include <algorithm>

#include "tools/workloads/networks.h"
#include "tools/workloads/transformer.h"

namespace placeto {
namespace {

constexpr uint64_t kWordPieces = 30522, kBertPositions = 512, kSegments = 2;
constexpr uint64_t kMaskedPercent = 15;

struct Embedded {
  Tensor x;
  Variable words;
};

Embedded embed(NetworkBuilder& b, const WorkloadOptions& options, uint64_t hidden) {
  const Shape shape{options.batch, options.length};
  const Variable words = b.variable("embeddings/words", product({kWordPieces, hidden}));
  std::vector<Tensor> parts;
  parts.push_back(
      embedding(b, "embeddings/word_rows", input(b, "tokens", shape, kIndexBytes), words, hidden));
  for (auto [name, rows] :
       {std::pair{"positions", kBertPositions}, std::pair{"segments", kSegments}}) {
    const Variable table = b.variable(std::string("embeddings/") + name, product({rows, hidden}));
    parts.push_back(embedding(b, std::string("embeddings/") + name + "_rows",
                              input(b, name, shape, kIndexBytes), table, hidden));
  }
  const Tensor sum = add(b, "embeddings/add", std::move(parts));
  return {layer_norm(b, "embeddings/norm", sum), words};
}

// Normalisation behind each half.
Tensor post_norm_layer(NetworkBuilder& b, const std::string& name, Tensor x) {
  const Tensor attended = self_attention(b, name + "/attention", x);
  x = layer_norm(b, name + "/attention/norm", add(b, name + "/attention/add", {attended, x}));
  const Tensor fed = feed_forward(b, name + "/feed_forward", x);
  return layer_norm(b, name + "/feed_forward/norm", add(b, name + "/feed_forward/add", {fed, x}));
}

// Predicts the masked words with the embedding as the output matrix, and whether the second
// sentence follows the first.
void pretraining_losses(NetworkBuilder& b, const WorkloadOptions& options, const Embedded& embedded,
                        Tensor x, Tensor pooled) {
  const uint64_t hidden = b.shape(x).back();
  const uint64_t masked = std::max<uint64_t>(1, options.length * kMaskedPercent / 100);
  Tensor y = take_rows(b, "words/masked", x, {masked});
  y = activation(b, "words/gelu", dense(b, "words/transform", y, hidden), Nonlinearity::kGelu);
  y = layer_norm(b, "words/norm", y);
  const DenseParameters output{
      embedded.words, {b.variable("words/bias", kWordPieces)}, hidden, kWordPieces};
  const Tensor logits = dense(b, "words/logits", {y}, output);
  softmax_cross_entropy(b, "words/loss", logits,
                        input(b, "words/labels", {options.batch, masked}, kIndexBytes));
  softmax_cross_entropy(b, "sentence/loss", dense(b, "sentence/logits", pooled, 2),
                        input(b, "sentence/labels", {options.batch}, kIndexBytes));
}

Result<GraphSpec> build(const char* name, const WorkloadOptions& options, int layers,
                        uint64_t hidden) {
  NetworkBuilder b(name, options);
  Embedded embedded = embed(b, options, hidden);
  Tensor x = embedded.x;
  for (int i = 0; i < layers; ++i) x = post_norm_layer(b, "layer" + std::to_string(i), x);
  const Tensor first = take_rows(b, "pooler/first", x, {});
  const Tensor pooled =
      activation(b, "pooler/tanh", dense(b, "pooler/dense", first, hidden), Nonlinearity::kTanh);
  if (b.training()) pretraining_losses(b, options, embedded, x, pooled);
  return b.finish();
}

}  // namespace

Result<GraphSpec> build_bert_base(const WorkloadOptions& options) {
  return build("bert_base", options, 12, 768);
}

Result<GraphSpec> build_bert_large(const WorkloadOptions& options) {
  return build("bert_large", options, 24, 1024);
}

}  // namespace placeto
