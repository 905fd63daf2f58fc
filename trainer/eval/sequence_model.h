// The sequence-to-sequence network of Mirhoseini et al. (ICML 2017, section 3.2), which both of
// their placers share. Private to the files that include LibTorch.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "runtime/base/random.h"

namespace placeto::train {

struct Sequences {
  std::vector<std::vector<uint32_t>> device;  // [batch][position]
  torch::Tensor log_probability;              // [batch]
};

// Rows of probabilities [B, choices] to one choice each [B].
torch::Tensor draw_choices(const torch::Tensor& probabilities, Random& random);

// An LSTM reads what is to be placed; a second LSTM with attention over the first's states
// (Bahdanau et al., ICLR 2015) emits one device for each, and is fed each device that it chose.
struct SequenceModelImpl : torch::nn::Module {
  SequenceModelImpl(int64_t width, int64_t devices, int64_t hidden);

  // Samples `batch` times. inputs: [length, batch or 1, width], 1: all place the same. barred:
  // [length, devices], -infinity where a device is not to be chosen.
  Sequences sample(const torch::Tensor& inputs, const torch::Tensor& barred, int64_t batch,
                   Random& random);

 private:
  torch::nn::Embedding devices_before_;
  torch::nn::LSTM encoder_;
  torch::nn::LSTMCell decoder_;
  torch::nn::Linear keys_, query_, energy_, logits_;
};
TORCH_MODULE(SequenceModel);

}  // namespace placeto::train
