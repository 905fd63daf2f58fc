// The networks of a `placeto` policy, run once per step of an episode.
//
// Successive steps see nearly the same inputs, so the network keeps the embeddings of every half
// round and recomputes those rows that a changed input can reach, half round by half round, until
// more than half of the rows are in play. Rows do not influence each other's arithmetic, so with
// portable kernels this gives the bits of a full computation.
//
// That helps policies without the feature `start_time`. With it every row changes at every step:
// times are relative to the current node, and the shift goes through a ReLU in the first layer that
// sees it, so no later value follows from the old one. Then everything is recomputed, which is
// cheapest without keeping anything (Reuse::kNever).
//
// g(sum of f(x)) has two linear layers around the sum, the last of f and the first of g. They are
// multiplied into one when the network is built: f without its last layer is summed, and the number
// of summands beside it, since each brings the bias of that layer. A quarter of the arithmetic less
// at the published depth, for a difference in the last bits.
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
  // No layers: copies its input.
  explicit PaddedMlp(std::span<const DenseLayer> layers);

  uint32_t widest() const;
  // y[rows x padded(outputs)] from x[rows x inputs]. Without layers, the first y_stride columns.
  void run(const float* x, size_t x_stride, float* y, size_t y_stride, uint32_t rows,
           Kernels& kernels, Scratch& scratch) const;

 private:
  std::vector<std::vector<float>> numbers_;
  std::vector<DenseLayer> layers_;  // inputs as in the file, outputs padded
};

// g(sum of f(x)), with f and g cut where it is cheapest.
struct PaddedSum {
  PaddedSum() = default;
  PaddedSum(const Mlp& f, const Mlp& g);

  uint32_t width = 0;  // of a summand; the number of summands is behind it in the sum
  PaddedMlp each;      // x -> summand
  PaddedMlp total;     // sum -> g
};

// One per placer; the policy is shared. No allocation after the first embed.
class PublishedNetwork {
 public:
  enum class Reuse : uint8_t {
    kWherePossible,  // unless keeping every half round takes more than kMostKeptBytes
    kNever,
  };
  static constexpr size_t kMostKeptBytes = 64'000'000;

  // The policy's architecture is kPlaceto. Graph and policy must outlive it. Stopped, it is not
  // usable.
  PublishedNetwork(const Policy& policy, const Graph& graph, KernelChoice kernels, Reuse reuse,
                   Stop* stop = nullptr);

  // Embeds every node. inputs: nodes x inputs of the encoder; changed: the rows that differ from
  // the last call, each once (at the first call it makes no difference).
  void embed(const float* inputs, std::span<const uint32_t> changed);
  // One per device of the policy: what the head says of re-placing the node, from the last embed.
  std::span<const float> logits(uint32_t node);

  // nodes x stride(); the first columns of a row are the node's embedding, zeros follow.
  const float* embeddings() const { return stage(size_.half_rounds); }
  uint32_t stride() const { return size_.stride; }
  // Rows of embeddings that have been worked on since construction, for tests and profiles.
  uint64_t rows_updated() const { return rows_updated_; }

 private:
  struct Direction {
    PaddedSum message;
    std::vector<uint32_t> offset, senders;             // CSR: whom a node hears
    std::vector<uint32_t> receiver_offset, receivers;  // CSR: who hears it
  };

  void list_edges(const Graph& graph);
  void allocate();
  const float* stage(uint32_t i) const { return &stages_[keep_ ? i * stage_size() : 0]; }
  float* stage(uint32_t i) { return &stages_[keep_ ? i * stage_size() : 0]; }
  float* messages(uint32_t i) { return &messages_[keep_ ? i * message_size() : 0]; }
  size_t stage_size() const { return size_t{size_.nodes} * size_.stride; }
  size_t message_size() const { return size_t{size_.nodes} * size_.message_stride; }
  size_t kept_bytes() const;

  void encode(const float* inputs);
  void update_all(uint32_t half_round);
  void update_rows(uint32_t half_round);
  void send_messages(const Direction& d, uint32_t half_round);
  void find_affected(const Direction& d);
  template <class NodeAt>
  void sum_senders(const Direction& d, const float* sent, size_t count, NodeAt node_at);
  void gather(std::span<const uint32_t> rows, const float* from, size_t width, float* to) const;
  void pool(const PaddedSum& sum, std::span<const uint32_t> members, float* out);

  struct Sizes {
    uint32_t nodes, embedding, inputs, devices, half_rounds;
    uint32_t stride, message_stride, sum_stride = 0;  // of embeddings, messages, sums
  };
  struct InPlay {  // rows that a half round works on
    bool all = true;
    std::vector<uint32_t> rows, affected;  // before and after it
    std::vector<uint8_t> is_affected;
  };
  struct Scratch {
    std::vector<float> block_in, block_out, pooled, head_in, logits;
    PaddedMlp::Scratch layers;
  };

  static Sizes sizes_of(const Policy& policy, const Graph& graph);

  Sizes size_;
  bool keep_;
  Kernels kernels_;
  PaddedMlp encoder_, head_;
  std::array<Direction, 2> directions_;  // along the edges, against them
  std::array<PaddedSum, 3> pools_;       // ancestors, descendants, unrelated
  PublishedReach reach_;
  InPlay play_;
  bool embedded_ = false;
  uint64_t rows_updated_ = 0;
  std::vector<float> stages_, messages_;
  Scratch scratch_;
};

}  // namespace placeto
