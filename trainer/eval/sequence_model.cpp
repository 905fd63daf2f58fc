#include "trainer/eval/sequence_model.h"

namespace placeto::train {

constexpr int64_t kDeviceEmbedding = 8;

torch::Tensor draw_choices(const torch::Tensor& probabilities, Random& random) {
  const auto p = probabilities.accessor<float, 2>();
  torch::Tensor choice = torch::zeros({p.size(0)}, torch::kLong);
  auto chosen = choice.accessor<int64_t, 1>();
  for (int64_t b = 0; b < p.size(0); ++b) {
    double left = random.uniform();
    int64_t last = 0;
    for (int64_t d = 0; d < p.size(1); ++d) {
      if (p[b][d] <= 0) continue;
      last = d;
      left -= double{p[b][d]};
      if (left < 0) break;
    }
    chosen[b] = last;
  }
  return choice;
}

SequenceModelImpl::SequenceModelImpl(int64_t width, int64_t devices, int64_t hidden)
    : devices_before_(
          register_module("devices", torch::nn::Embedding(devices + 1, kDeviceEmbedding))),
      encoder_(register_module("encoder", torch::nn::LSTM(width, hidden))),
      decoder_(register_module("decoder", torch::nn::LSTMCell(hidden + kDeviceEmbedding, hidden))),
      keys_(register_module("keys", torch::nn::Linear(hidden, hidden))),
      query_(register_module("query", torch::nn::Linear(hidden, hidden))),
      energy_(register_module("energy", torch::nn::Linear(hidden, 1))),
      logits_(register_module("logits", torch::nn::Linear(2 * hidden, devices))) {}

Sequences SequenceModelImpl::sample(const torch::Tensor& inputs, const torch::Tensor& barred,
                                    int64_t batch, Random& random) {
  const auto [states, last] = encoder_->forward(inputs);
  const torch::Tensor memory = states.transpose(0, 1);  // [batch or 1, length, hidden]
  const torch::Tensor keys = keys_->forward(memory);    // the same
  torch::Tensor h = std::get<0>(last).squeeze(0).expand({batch, -1}).contiguous();
  torch::Tensor c = std::get<1>(last).squeeze(0).expand({batch, -1}).contiguous();
  torch::Tensor context = torch::zeros_like(h);
  torch::Tensor before = torch::full({batch}, barred.size(1), torch::kLong);
  Sequences result{std::vector<std::vector<uint32_t>>(static_cast<size_t>(batch)),
                   torch::zeros({batch})};
  for (int64_t position = 0; position < inputs.size(0); ++position) {
    const torch::Tensor input = torch::cat({context, devices_before_->forward(before)}, 1);
    std::tie(h, c) = decoder_->forward(input, std::make_tuple(h, c));
    const torch::Tensor mixed = torch::tanh(keys + query_->forward(h).unsqueeze(1));
    const torch::Tensor weight = torch::softmax(energy_->forward(mixed).squeeze(2), 1);
    context = memory.size(0) == 1 ? torch::matmul(weight, memory[0])
                                  : torch::bmm(weight.unsqueeze(1), memory).squeeze(1);
    const torch::Tensor scores = logits_->forward(torch::cat({h, context}, 1)) + barred[position];
    const torch::Tensor log_p = torch::log_softmax(scores, 1);
    before = draw_choices(log_p.detach().exp(), random);
    result.log_probability =
        result.log_probability + log_p.gather(1, before.unsqueeze(1)).squeeze(1);
    for (int64_t b = 0; b < batch; ++b) {
      result.device[static_cast<size_t>(b)].push_back(
          static_cast<uint32_t>(before[b].item<int64_t>()));
    }
  }
  return result;
}

}  // namespace placeto::train
