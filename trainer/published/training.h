// What algorithms need of a PublishedLearner to write a loss in LibTorch.
#pragma once

#include <torch/torch.h>

namespace placeto::train {

// Steps of an episode.
struct Chosen {
  torch::Tensor log_pi;         // of what was chosen
  torch::Tensor log_pi_before;  // when it was chosen
  torch::Tensor advantage;
};

struct ChosenLoss {
  torch::Tensor sum;   // over the steps
  double clipped = 0;  // steps where a clip cuts
};

}  // namespace placeto::train
