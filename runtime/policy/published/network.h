// The networks of a `placeto` policy, run once per step of an episode. Addanki et al., NeurIPS
// 2019, section 3.2 and the appendix; hidden layers, and f and g, end in a ReLU.
//
//   e_v = encoder(features of v)
//   x_v <- g(sum of f(x_u) over whom v hears) + e_v        K rounds, from x = e
//          once along the edges, where v hears its predecessors, and once against them, its
//          successors, with an f and g for each; who hears nobody keeps e_v
//   x_v = [x_v along the edges | x_v against them]
//   logits = head([x_v | g(sum of f(x_u) over its ancestors) | over its descendants | over the
//   rest])
//
// Times are relative to the current node, so every row of the features changes at every step, and
// all of this is computed anew: but for what has settled, since no path that a node hears over is
// as long as the rounds so far.
//
// Layers are copied into rows padded to whole vectors: published widths are 5 + devices, and the
// remainder of such a row costs more than the row. Padding adds zeros to no sum.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/policy/file/policy.h"
#include "runtime/policy/published/reach.h"

namespace placeto {

// An Mlp with its own copy of the weights, whose outputs are padded with zeros.
class PaddedMlp {
 public:
  static constexpr uint32_t kLanes = 16;  // floats in the widest vector that kernels use
  static constexpr uint32_t kBlockRows = 256;
  static constexpr uint32_t padded(uint32_t width) {
    return (width + kLanes - 1) / kLanes * kLanes;
  }
  using Scratch = std::array<std::vector<float>, 2>;  // kBlockRows x widest() each

  PaddedMlp() = default;
  explicit PaddedMlp(const Mlp& mlp);

  uint32_t inputs() const { return layers_.front().inputs; }
  uint32_t widest() const;  // of its outputs, padded
  // y[rows x padded(outputs)] from x[rows x inputs].
  void run(const float* x, size_t x_stride, float* y, size_t y_stride, uint32_t rows,
           Kernels& kernels, Scratch& scratch) const;

 private:
  std::vector<std::vector<float>> numbers_;
  std::vector<DenseLayer> layers_;  // inputs as in the file, outputs padded
};

// One per placer; the policy is shared. No allocation after construction.
class PublishedNetwork {
 public:
  // The policy's architecture is kPlaceto. Graph and policy must outlive it. Stopped, it is not
  // usable.
  PublishedNetwork(const Policy& policy, const Graph& graph, KernelChoice kernels,
                   Stop* stop = nullptr);

  // Embeds every node. inputs: nodes x inputs of the encoder.
  void embed(const float* inputs);
  // One per device of the policy: what the head says of re-placing the node, from the last embed.
  std::span<const float> logits(uint32_t node);

  // nodes x stride(); a row begins with the node's two embeddings, one behind the other.
  const float* embeddings() const { return embeddings_.data(); }
  uint32_t stride() const { return size_.both; }

  // What one of a graph keeps, the tables of PublishedReach included.
  static size_t bytes(const Policy& policy, uint32_t nodes);

 private:
  struct SumOf {  // g(sum of f(x))
    PaddedMlp f, g;
  };
  // Its rows of x and messages are by ascending length of the longest path that a node hears over,
  // from the number of rounds on all alike.
  struct Direction {
    SumOf message;
    std::vector<uint32_t> nodes;            // of each row
    std::vector<uint32_t> offset, senders;  // CSR of rows: whom a node hears
    std::vector<uint32_t> first_row;        // of paths of a length or longer, up to the rounds
  };
  struct Scratch {
    std::vector<float> block_in, block_out;  // kBlockRows x both
    std::vector<float> pooled, head_in, logits;
    PaddedMlp::Scratch layers;
  };
  struct Sizes {
    uint32_t nodes, embedding, devices, rounds;
    uint32_t one, both;  // strides of rows of one embedding, and of two
  };

  static Sizes sizes_of(const Policy& policy, uint32_t nodes);
  template <class Heard>
  void arrange(Direction& d, std::span<const uint32_t> order, const Heard& heard, Stop* stop);
  void exchange(const Direction& d, uint32_t round);
  void sum_senders(const Direction& d, uint32_t first, uint32_t count);
  void pool(const SumOf& of, std::span<const uint32_t> members, float* out);

  Sizes size_;
  Kernels kernels_;
  PaddedMlp encoder_, head_;
  std::array<Direction, 2> directions_;  // along the edges, against them
  std::array<SumOf, 3> pools_;           // ancestors, descendants, the rest
  PublishedReach reach_;
  std::vector<float> encoding_, x_, messages_;  // nodes x one
  std::vector<float> embeddings_;               // nodes x both
  Scratch scratch_;
};

}  // namespace placeto
