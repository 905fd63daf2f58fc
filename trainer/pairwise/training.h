// What algorithms need of a PairwiseLearner to write a loss in LibTorch.
#pragma once

#include <span>

#include "trainer/nn/trained.h"
#include "trainer/pairwise/learner.h"
#include "trainer/pairwise/network.h"

namespace placeto::train {

// exp() of larger scores adds nothing but overflow.
inline constexpr double kMostScore = 30;

struct PairwiseTraining {
  PairwiseTraining(const LearnConfig& c, uint64_t seed)
      : config(c), nets(seed, c.averaging, processor_named(c.processor), c) {}
  // One step of the optimizer down the gradient of the loss.
  void descend(const torch::Tensor& loss, double learning_rate) {
    loss.backward();
    nets.step(learning_rate);
  }

  LearnConfig config;
  Trained<PairwiseNet> nets;
};

// Candidates of all decisions of a batch, one row each. Staying is no row: its score and gain are
// 0.
struct Candidates {
  torch::Tensor scores;    // [rows], in units of kScoreUnit; of leaps: logits
  torch::Tensor decision;  // [rows]: which one each belongs to
  torch::Tensor gains;     // [rows], in units of kScoreUnit
  int64_t decisions = 0;

  Candidates(const Samples& batch, const torch::Tensor& scores_of_rows)
      : scores(scores_of_rows),
        decision(decision_of_rows(batch).to(scores.device())),
        gains(here(batch.gains) / kScoreUnit),
        decisions(batch.decisions()) {}

  // Where LibTorch computes.
  template <class T>
  torch::Tensor here(const std::vector<T>& values) const {
    return torch::tensor(values).to(scores.device());
  }
  // Sums over the candidates of each decision.
  torch::Tensor sum(const torch::Tensor& rows) const {
    return torch::zeros({decisions}, scores.device()).index_add(0, decision, rows);
  }
  // The logit of each decision's choice, which is an index into its candidates; theirs plus one is
  // staying, whose logit is 0.
  torch::Tensor pick(const torch::Tensor& logits, const Samples& batch,
                     std::span<const uint32_t> choice) const {
    std::vector<int64_t> row(choice.size());
    for (size_t i = 0; i < choice.size(); ++i) {
      const bool stays = choice[i] >= batch.offset[i + 1] - batch.offset[i];
      row[i] = stays ? logits.size(0) : batch.offset[i] + choice[i];
    }
    return torch::cat({logits, torch::zeros({1}, logits.device())}).index_select(0, here(row));
  }
};

}  // namespace placeto::train
