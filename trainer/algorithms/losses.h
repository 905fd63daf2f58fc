// Parts of losses that several algorithms use; each is explained in the file of the algorithm that
// it comes from. For files that see LibTorch.
#pragma once

#include "trainer/pairwise/training.h"

namespace placeto::train {

struct CreditLosses;

// credit.cpp: regression on exact gains, and the expected gain.
torch::Tensor credit_loss(const Candidates& candidates, const LearnConfig& config,
                          CreditLosses& losses);

// credit.cpp: minus the mean log-likelihood of what a search made of each group, where known.
torch::Tensor imitation_loss(const Candidates& candidates, const Samples& batch);

// siblings.cpp: minus min(r A, clip(r) A) of each step, and where the clip cuts.
struct Clipped {
  torch::Tensor loss, cut;
};
Clipped clipped_loss(const torch::Tensor& log_pi, const torch::Tensor& log_pi_before,
                     const torch::Tensor& advantage, double clip);

}  // namespace placeto::train
