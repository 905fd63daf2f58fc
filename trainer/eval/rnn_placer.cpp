#include "trainer/eval/rnn_placer.h"

#include <torch/torch.h>

#include <algorithm>
#include <limits>

#include "runtime/base/random.h"
#include "trainer/eval/decisions.h"
#include "trainer/eval/sequence_model.h"
#include "trainer/nn/seeded.h"

namespace placeto::train {
namespace {

// [decisions, sizes + decisions]: sizes, and the row of the adjacency matrix: 1 where it sends to,
// -1 where it receives from.
torch::Tensor inputs_of(const Decisions& decisions) {
  constexpr auto kFirstDecision = static_cast<int64_t>(kDecisionSizes);
  torch::Tensor inputs = torch::zeros({decisions.count(), kFirstDecision + decisions.count()});
  auto in = inputs.accessor<float, 2>();
  for (uint32_t u = 0; u < decisions.count(); ++u) {
    for (size_t i = 0; i < kDecisionSizes; ++i)
      in[u][static_cast<int64_t>(i)] = decisions.sizes[u][i];
  }
  for (const auto& [from, to] : decisions.edges) {
    in[from][kFirstDecision + to] = 1;
    in[to][kFirstDecision + from] = -1;
  }
  return inputs;
}

// [decisions, devices]: -infinity where the rules forbid, else 0.
torch::Tensor barred_of(const Problem& problem, const Decisions& decisions) {
  torch::Tensor barred = torch::zeros({decisions.count(), problem.device_count()});
  auto at = barred.accessor<float, 2>();
  for (uint32_t u = 0; u < decisions.count(); ++u) {
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      if (!problem.allowed(decisions.group[u], d))
        at[u][d] = -std::numeric_limits<float>::infinity();
    }
  }
  return barred;
}

struct RnnModelImpl : torch::nn::Module {
  RnnModelImpl(int64_t type_count, int64_t width, int64_t devices, int64_t hidden)
      : types(register_module("types", torch::nn::Embedding(type_count, kTypeEmbedding))),
        sequence(
            register_module("sequence", SequenceModel(kTypeEmbedding + width, devices, hidden))) {}
  torch::nn::Embedding types;
  SequenceModel sequence;
};
TORCH_MODULE(RnnModel);

}  // namespace

Sampled place_by_rnn(const Instance& instance, const SamplingOptions& options) {
  const Problem& problem = *instance.problem;
  const Decisions decisions = read_decisions(problem);
  const torch::Tensor type = torch::tensor(decisions.type), sizes = inputs_of(decisions),
                      barred = barred_of(problem, decisions);
  SampleJudge judge(instance, options.baseline_decay);
  Random random(options.seed);
  RnnModel model = make_seeded(options.seed, [&] {
    return RnnModel(decisions.types, sizes.size(1), problem.device_count(), options.hidden);
  });
  torch::optim::Adam adam(model->parameters(), torch::optim::AdamOptions(options.learning_rate));
  for (uint32_t done = 0; done < options.placements;) {
    const uint32_t batch = std::min(options.batch, options.placements - done);
    const torch::Tensor inputs = torch::cat({model->types->forward(type), sizes}, 1).unsqueeze(1);
    const Sequences drawn = model->sequence->sample(inputs, barred, batch, random);
    std::vector<Assignment> placements;
    for (const auto& devices : drawn.device) {
      placements.push_back(placement_of(problem, decisions, devices));
    }
    const torch::Tensor advantage = torch::tensor(judge.advantages(placements));
    done += batch;
    adam.zero_grad();
    (-(advantage * drawn.log_probability).mean()).backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), options.most_gradient);
    adam.step();
  }
  return judge.sampled();
}

}  // namespace placeto::train
