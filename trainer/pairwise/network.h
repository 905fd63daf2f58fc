// PairwiseNet: the networks of a `pairwise` policy in LibTorch, for decisions on many states of
// many graphs at once. The same functions as runtime/policy/pairwise/move_scorer.h; a test holds
// the two together. Private to the files that include LibTorch.
#pragma once

#include <array>
#include <vector>

#include "trainer/base/config.h"
#include "trainer/nn/networks.h"
#include "trainer/pairwise/normalisation.h"
#include "trainer/pairwise/samples.h"

namespace placeto::train {

// The head computes in this unit of log makespan, so that all magnitudes are near 1. A power of
// two: exact sums stay exact.
inline constexpr double kScoreUnit = 1.0 / 128;

// A decision per row: [rows].
torch::Tensor decision_of_rows(const Samples& batch);

struct PairwiseNetImpl : torch::nn::Module {
  explicit PairwiseNetImpl(const LearnConfig& config);

  // Log makespan in units of kScoreUnit, [rows of the batch].
  torch::Tensor forward(const Samples& batch);
  // Logits of the network of leaps, [rows of the batch]; staying has 0.
  torch::Tensor leap_logits(const Samples& batch);

  // For the features that no policy taken has set.
  void set_normalisation(const Normalisation& normalisation);
  // As a policy, whose scores are decreases of log makespan, without provenance; and back, from one
  // of the same dimensions and node features, or without a graph network. That, and pair features
  // that it does not know, count for nothing at first.
  PolicySpec policy() const;
  void take(const PolicySpec& policy);
  // Every parameter has the shape that the configuration asks for.
  bool has_shape() const;

 private:
  torch::Tensor inputs_of(const Samples& batch);
  torch::Tensor embed_groups(const Samples& batch);
  void set_pair(size_t feature, float shift, float scale);
  void set_node(const Columns& columns);

  LearnConfig config_;
  std::vector<torch::nn::Linear> layers_;  // of the head
  std::vector<torch::nn::Linear> leap_;    // none: no leaps
  torch::Tensor shift_, scale_;            // of pair features
  Networks graph_{nullptr};                // null without embedding
  torch::Tensor node_shift_, node_scale_;
  std::array<bool, kPairFeatures> pair_taken_{};
  bool node_taken_ = false;
};
TORCH_MODULE(PairwiseNet);

}  // namespace placeto::train
