#include "trainer/eval/hierarchical_placer.h"

#include <torch/torch.h>

#include <algorithm>

#include "runtime/base/random.h"
#include "trainer/eval/decisions.h"
#include "trainer/eval/sequence_model.h"
#include "trainer/nn/seeded.h"

namespace placeto::train {
namespace {

constexpr int64_t kSizeColumns = kDecisionSizes, kPlaces = 3;

// [decisions, sizes + places]: where a decision stands in topological order, and where those stand
// on average that it receives from and sends to.
torch::Tensor features_of(const Decisions& decisions) {
  torch::Tensor features = torch::zeros({decisions.count(), kSizeColumns + kPlaces});
  auto x = features.accessor<float, 2>();
  std::vector<float> sources(decisions.count()), targets(decisions.count());
  const auto place = [&](uint32_t u) {
    return static_cast<float>(u) / static_cast<float>(decisions.count());
  };
  for (const auto& [from, to] : decisions.edges) {
    x[to][kSizeColumns + 1] += place(from);
    x[from][kSizeColumns + 2] += place(to);
    ++sources[to];
    ++targets[from];
  }
  for (uint32_t u = 0; u < decisions.count(); ++u) {
    for (int64_t i = 0; i < kSizeColumns; ++i) x[u][i] = decisions.sizes[u][static_cast<size_t>(i)];
    x[u][kSizeColumns] = place(u);
    if (sources[u] > 0) x[u][kSizeColumns + 1] /= sources[u];
    if (targets[u] > 0) x[u][kSizeColumns + 2] /= targets[u];
  }
  return features;
}

struct HierarchicalModelImpl : torch::nn::Module {
  HierarchicalModelImpl(const Decisions& decisions, int64_t devices, int64_t group_count,
                        int64_t width)
      : types(register_module("types", torch::nn::Embedding(decisions.types, kTypeEmbedding))),
        hidden(register_module("hidden",
                               torch::nn::Linear(kTypeEmbedding + kSizeColumns + kPlaces, width))),
        groups(register_module("groups", torch::nn::Linear(width, group_count))),
        placer(register_module("placer", SequenceModel(decisions.types + kSizeColumns + group_count,
                                                       devices, width))) {}
  torch::nn::Embedding types;
  torch::nn::Linear hidden, groups;
  SequenceModel placer;
};
TORCH_MODULE(HierarchicalModel);

class HierarchicalPlacer {
 public:
  HierarchicalPlacer(const Instance& operators, const SamplingOptions& options, uint32_t groups)
      : problem_(*operators.problem),
        options_(options),
        groups_(groups),
        decisions_(read_decisions(problem_)),
        type_(torch::tensor(decisions_.type)),
        features_(features_of(decisions_)),
        judge_(operators, options.baseline_decay),
        random_(options.seed) {}

  Sampled run() {
    HierarchicalModel model = make_seeded(options_.seed, [&] {
      return HierarchicalModel(decisions_, problem_.device_count(), groups_, options_.hidden);
    });
    torch::optim::Adam adam(model->parameters(), torch::optim::AdamOptions(options_.learning_rate));
    const torch::Tensor barred = torch::zeros({groups_, problem_.device_count()});
    for (uint32_t done = 0; done < options_.placements;) {
      const uint32_t batch = std::min(options_.batch, options_.placements - done);
      const Groups drawn = draw_groups(model, batch);
      const Sequences placed =
          model->placer->sample(inputs_of(drawn.of_decision), barred, batch, random_);
      std::vector<Assignment> placements;
      for (size_t b = 0; b < batch; ++b) {
        placements.push_back(
            placement_of(problem_, decisions_, devices_of(drawn.of_decision[b], placed.device[b])));
      }
      const torch::Tensor advantage = torch::tensor(judge_.advantages(placements));
      done += batch;
      adam.zero_grad();
      (-(advantage * (drawn.log_probability + placed.log_probability)).mean()).backward();
      torch::nn::utils::clip_grad_norm_(model->parameters(), options_.most_gradient);
      adam.step();
    }
    return judge_.sampled();
  }

 private:
  struct Groups {
    std::vector<std::vector<uint32_t>> of_decision;  // [batch][decision]
    torch::Tensor log_probability;                   // [batch]
  };

  Groups draw_groups(HierarchicalModel& model, uint32_t batch) {
    const torch::Tensor x = torch::cat({model->types->forward(type_), features_}, 1);
    const torch::Tensor log_p = torch::log_softmax(
        model->groups->forward(torch::relu(model->hidden->forward(x))), 1);  // [decisions, groups]
    const torch::Tensor p = log_p.detach().exp();
    Groups drawn;
    std::vector<torch::Tensor> sums;
    for (uint32_t b = 0; b < batch; ++b) {
      const torch::Tensor choice = draw_choices(p, random_);
      const auto chosen = choice.accessor<int64_t, 1>();
      auto& of_decision = drawn.of_decision.emplace_back(decisions_.count());
      for (uint32_t u = 0; u < decisions_.count(); ++u)
        of_decision[u] = static_cast<uint32_t>(chosen[u]);
      sums.push_back(log_p.gather(1, choice.unsqueeze(1)).sum());
    }
    drawn.log_probability = torch::stack(sums);
    return drawn;
  }

  // [groups, batch, types + sizes + groups]: shares of all operators of a type, of all sizes, and
  // which groups it sends to (1) or receives from (-1).
  torch::Tensor inputs_of(const std::vector<std::vector<uint32_t>>& groups) const {
    const auto batch = static_cast<int64_t>(groups.size());
    torch::Tensor inputs =
        torch::zeros({groups_, batch, decisions_.types + kSizeColumns + groups_});
    auto in = inputs.accessor<float, 3>();
    std::vector<float> of_type(static_cast<size_t>(decisions_.types));
    std::array<float, kDecisionSizes> of_size{1e-9f, 1e-9f, 1e-9f};
    for (uint32_t u = 0; u < decisions_.count(); ++u) {
      ++of_type[static_cast<size_t>(decisions_.type[u])];
      for (size_t i = 0; i < kDecisionSizes; ++i) of_size[i] += decisions_.sizes[u][i];
    }
    for (int64_t b = 0; b < batch; ++b) {
      const std::vector<uint32_t>& group = groups[static_cast<size_t>(b)];
      for (uint32_t u = 0; u < decisions_.count(); ++u) {
        auto row = in[group[u]][b];
        row[decisions_.type[u]] += 1 / of_type[static_cast<size_t>(decisions_.type[u])];
        for (size_t i = 0; i < kDecisionSizes; ++i) {
          row[decisions_.types + static_cast<int64_t>(i)] += decisions_.sizes[u][i] / of_size[i];
        }
      }
      for (const auto& [from, to] : decisions_.edges) {
        if (group[from] == group[to]) continue;
        in[group[from]][b][decisions_.types + kSizeColumns + group[to]] = 1;
        in[group[to]][b][decisions_.types + kSizeColumns + group[from]] = -1;
      }
    }
    return inputs;
  }

  // Per decision: its group's device, or the first that it may be on where rules forbid that.
  std::vector<uint32_t> devices_of(const std::vector<uint32_t>& group,
                                   const std::vector<uint32_t>& device) const {
    std::vector<uint32_t> devices;
    for (uint32_t u = 0; u < decisions_.count(); ++u) {
      const uint32_t own = decisions_.group[u], d = device[group[u]];
      devices.push_back(problem_.allowed(own, d) ? d : problem_.next_allowed(own, 0));
    }
    return devices;
  }

  const Problem& problem_;
  const SamplingOptions& options_;
  uint32_t groups_;
  Decisions decisions_;
  torch::Tensor type_, features_;
  SampleJudge judge_;
  Random random_;
};

}  // namespace

Sampled place_by_hierarchy(const Instance& operators, const SamplingOptions& options,
                           uint32_t groups) {
  return HierarchicalPlacer(operators, options, groups).run();
}

}  // namespace placeto::train
