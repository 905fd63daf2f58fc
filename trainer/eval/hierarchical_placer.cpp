#include "trainer/eval/hierarchical_placer.h"

#include <torch/torch.h>

#include <algorithm>

#include "runtime/base/random.h"
#include "trainer/eval/sequence_model.h"
#include "trainer/eval/units.h"

namespace placeto::train {
namespace {

constexpr int64_t kSizeColumns = kUnitSizes, kPlaces = 3;

// [units, sizes + places]: where a unit stands in topological order, and where those stand on
// average that it receives from and sends to.
torch::Tensor features_of(const Units& units) {
  torch::Tensor features = torch::zeros({units.count(), kSizeColumns + kPlaces});
  auto x = features.accessor<float, 2>();
  std::vector<float> sources(units.count()), targets(units.count());
  const auto place = [&](uint32_t u) {
    return static_cast<float>(u) / static_cast<float>(units.count());
  };
  for (const auto& [from, to] : units.edges) {
    x[to][kSizeColumns + 1] += place(from);
    x[from][kSizeColumns + 2] += place(to);
    ++sources[to];
    ++targets[from];
  }
  for (uint32_t u = 0; u < units.count(); ++u) {
    for (int64_t i = 0; i < kSizeColumns; ++i) x[u][i] = units.sizes[u][static_cast<size_t>(i)];
    x[u][kSizeColumns] = place(u);
    if (sources[u] > 0) x[u][kSizeColumns + 1] /= sources[u];
    if (targets[u] > 0) x[u][kSizeColumns + 2] /= targets[u];
  }
  return features;
}

struct HierarchicalModelImpl : torch::nn::Module {
  HierarchicalModelImpl(const Units& units, int64_t devices, const HierarchicalOptions& options)
      : types(register_module("types", torch::nn::Embedding(units.types, kTypeEmbedding))),
        hidden(register_module(
            "hidden", torch::nn::Linear(kTypeEmbedding + kSizeColumns + kPlaces, options.hidden))),
        groups(register_module("groups", torch::nn::Linear(options.hidden, options.groups))),
        placer(register_module("placer", SequenceModel(units.types + kSizeColumns + options.groups,
                                                       devices, options.hidden))) {}
  torch::nn::Embedding types;
  torch::nn::Linear hidden, groups;
  SequenceModel placer;
};
TORCH_MODULE(HierarchicalModel);

class HierarchicalPlacer {
 public:
  HierarchicalPlacer(const Instance& operators, const HierarchicalOptions& options)
      : problem_(*operators.problem),
        options_(options),
        units_(read_units(problem_)),
        type_(torch::tensor(units_.type)),
        features_(features_of(units_)),
        judge_(operators, options.baseline_decay),
        random_(options.seed) {}

  Sampled run() {
    at::set_num_threads(1);
    torch::manual_seed(options_.seed);
    HierarchicalModel model(units_, problem_.device_count(), options_);
    torch::optim::Adam adam(model->parameters(), torch::optim::AdamOptions(options_.learning_rate));
    const torch::Tensor barred = torch::zeros({options_.groups, problem_.device_count()});
    for (uint32_t done = 0; done < options_.placements;) {
      const uint32_t batch = std::min(options_.batch, options_.placements - done);
      const Groups drawn = draw_groups(model, batch);
      const Sequences placed =
          model->placer->sample(inputs_of(drawn.of_unit), barred, batch, random_);
      std::vector<Assignment> placements;
      for (size_t b = 0; b < batch; ++b) {
        placements.push_back(
            placement_of(problem_, units_, devices_of(drawn.of_unit[b], placed.device[b])));
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
    std::vector<std::vector<uint32_t>> of_unit;  // [batch][unit]
    torch::Tensor log_probability;               // [batch]
  };

  Groups draw_groups(HierarchicalModel& model, uint32_t batch) {
    const torch::Tensor x = torch::cat({model->types->forward(type_), features_}, 1);
    const torch::Tensor log_p = torch::log_softmax(
        model->groups->forward(torch::relu(model->hidden->forward(x))), 1);  // [units, groups]
    const torch::Tensor p = log_p.detach().exp();
    Groups drawn;
    std::vector<torch::Tensor> sums;
    for (uint32_t b = 0; b < batch; ++b) {
      const torch::Tensor choice = draw_choices(p, random_);
      const auto chosen = choice.accessor<int64_t, 1>();
      auto& of_unit = drawn.of_unit.emplace_back(units_.count());
      for (uint32_t u = 0; u < units_.count(); ++u) of_unit[u] = static_cast<uint32_t>(chosen[u]);
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
        torch::zeros({options_.groups, batch, units_.types + kSizeColumns + options_.groups});
    auto in = inputs.accessor<float, 3>();
    std::vector<float> of_type(static_cast<size_t>(units_.types));
    std::array<float, kUnitSizes> of_size{1e-9f, 1e-9f, 1e-9f};
    for (uint32_t u = 0; u < units_.count(); ++u) {
      ++of_type[static_cast<size_t>(units_.type[u])];
      for (size_t i = 0; i < kUnitSizes; ++i) of_size[i] += units_.sizes[u][i];
    }
    for (int64_t b = 0; b < batch; ++b) {
      const std::vector<uint32_t>& group = groups[static_cast<size_t>(b)];
      for (uint32_t u = 0; u < units_.count(); ++u) {
        auto row = in[group[u]][b];
        row[units_.type[u]] += 1 / of_type[static_cast<size_t>(units_.type[u])];
        for (size_t i = 0; i < kUnitSizes; ++i) {
          row[units_.types + static_cast<int64_t>(i)] += units_.sizes[u][i] / of_size[i];
        }
      }
      for (const auto& [from, to] : units_.edges) {
        if (group[from] == group[to]) continue;
        in[group[from]][b][units_.types + kSizeColumns + group[to]] = 1;
        in[group[to]][b][units_.types + kSizeColumns + group[from]] = -1;
      }
    }
    return inputs;
  }

  // Per unit: its group's device, or the first that it may be on where rules forbid that.
  std::vector<uint32_t> devices_of(const std::vector<uint32_t>& group,
                                   const std::vector<uint32_t>& device) const {
    std::vector<uint32_t> devices;
    for (uint32_t u = 0; u < units_.count(); ++u) {
      uint32_t d = device[group[u]];
      if (!problem_.allowed(units_.group[u], d)) {
        for (d = 0; !problem_.allowed(units_.group[u], d);) ++d;
      }
      devices.push_back(d);
    }
    return devices;
  }

  const Problem& problem_;
  const HierarchicalOptions& options_;
  Units units_;
  torch::Tensor type_, features_;
  SampleJudge judge_;
  Random random_;
};

}  // namespace

Sampled place_by_hierarchy(const Instance& operators, const HierarchicalOptions& options) {
  return HierarchicalPlacer(operators, options).run();
}

}  // namespace placeto::train
