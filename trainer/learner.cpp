#include "trainer/learner.h"

#include <algorithm>
#include <cmath>

#include "trainer/learner_state.h"

namespace placeto::train {
namespace {

// The network's outputs and the losses are in hundredths of log makespan, so that all magnitudes
// are near 1.
constexpr double kUnit = 0.01;
// exp() of larger scores adds nothing but overflow.
constexpr double kMostScore = 30;

torch::Tensor rows_tensor(std::span<const float> rows) {
  const auto count = static_cast<int64_t>(rows.size() / kPairFeatures);
  return torch::from_blob(const_cast<float*>(rows.data()), {count, kPairFeatures});
}

torch::Tensor tensor_of(const std::vector<float>& values) {
  return torch::tensor(values);
}

struct HeadImpl : torch::nn::Module {
  explicit HeadImpl(const std::vector<uint32_t>& hidden) {
    int64_t inputs = kPairFeatures;
    for (size_t i = 0; i <= hidden.size(); ++i) {
      const int64_t outputs = i < hidden.size() ? hidden[i] : 1;
      layers.push_back(
          register_module("layer" + std::to_string(i), torch::nn::Linear(inputs, outputs)));
      inputs = outputs;
    }
    shift = register_buffer("shift", torch::zeros({kPairFeatures}));
    scale = register_buffer("scale", torch::ones({kPairFeatures}));
  }
  // Hundredths of log makespan, [rows].
  torch::Tensor forward(torch::Tensor x) {
    x = (x - shift) * scale;
    for (size_t i = 0; i < layers.size(); ++i) {
      x = layers[i]->forward(x);
      if (i + 1 < layers.size()) x = torch::relu(x);
    }
    return x.squeeze(1);
  }
  bool has_shape(const std::vector<uint32_t>& hidden) const {
    int64_t inputs = kPairFeatures;
    for (size_t i = 0; i <= hidden.size(); ++i) {
      const int64_t outputs = i < hidden.size() ? hidden[i] : 1;
      if (layers[i]->weight.sizes() != at::IntArrayRef{outputs, inputs}) return false;
      inputs = outputs;
    }
    return true;
  }
  std::vector<torch::nn::Linear> layers;
  torch::Tensor shift, scale;
};
TORCH_MODULE(Head);

std::vector<float> floats_of(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().contiguous().flatten();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

}  // namespace

Normalisation measure_normalisation(const Samples& samples) {
  Normalisation n{std::vector<float>(kPairFeatures, 0), std::vector<float>(kPairFeatures, 1)};
  const double rows = samples.row_count();
  for (uint32_t c = 0; c < kPairFeatures && rows > 0; ++c) {
    double sum = 0, squares = 0;
    for (uint32_t r = 0; r < samples.row_count(); ++r) {
      const double x = samples.row(r)[c];
      sum += x;
      squares += x * x;
    }
    const double mean = sum / rows,
                 deviation = std::sqrt(std::max(0.0, squares / rows - mean * mean));
    n.shift[c] = static_cast<float>(mean);
    if (deviation > 1e-3) n.scale[c] = static_cast<float>(1 / deviation);
  }
  return n;
}

struct Learner::Implementation {
  explicit Implementation(const LearnConfig& c)
      : config(c),
        head(c.hidden),
        average(c.hidden),
        adam(head->parameters(), torch::optim::AdamOptions(c.learning_rate)) {}
  LearnerState state() { return {*head, *average, adam, steps}; }

  LearnConfig config;
  Head head, average;
  torch::optim::Adam adam;
  int64_t steps = 0;
};

Learner::Learner(const LearnConfig& config, uint64_t seed) {
  at::set_num_threads(1);
  torch::manual_seed(seed);
  self_ = std::make_unique<Implementation>(config);
  torch::NoGradGuard no_gradient;
  const auto from = self_->head->parameters(), to = self_->average->parameters();
  for (size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
}

Learner::~Learner() = default;

void Learner::set_normalisation(const Normalisation& normalisation) {
  torch::NoGradGuard no_gradient;
  for (Head* head : {&self_->head, &self_->average}) {
    (*head)->shift.copy_(tensor_of(normalisation.shift));
    (*head)->scale.copy_(tensor_of(normalisation.scale));
  }
}

Losses Learner::step(const Samples& batch, double learning_rate) {
  Implementation& self = *self_;
  for (auto& group : self.adam.param_groups()) {
    static_cast<torch::optim::AdamOptions&>(group.options()).lr(learning_rate);
  }
  std::vector<int64_t> decision(batch.row_count());
  for (uint32_t g = 0; g < batch.groups(); ++g) {
    std::fill(decision.begin() + batch.offset[g], decision.begin() + batch.offset[g + 1], g);
  }
  const torch::Tensor index = torch::tensor(decision);
  const torch::Tensor gains = tensor_of(batch.gains) / kUnit;
  const torch::Tensor scores = self.head->forward(rows_tensor(batch.rows));

  const torch::Tensor errors = torch::smooth_l1_loss(scores, gains, torch::Reduction::None);
  const torch::Tensor weights = 1 + self.config.improving_weight * (gains > 0).to(torch::kFloat);
  const torch::Tensor regression = (errors * weights).mean();

  const torch::Tensor likelihood = torch::exp(torch::clamp_max(scores, kMostScore));
  const torch::Tensor zero = torch::zeros({static_cast<int64_t>(batch.groups())});
  const torch::Tensor total = 1 + zero.index_add(0, index, likelihood);
  const torch::Tensor expected = zero.index_add(0, index, likelihood * gains) / total;
  const torch::Tensor all_action = -expected.mean();

  self.adam.zero_grad();
  (regression + self.config.all_action_weight * all_action).backward();
  self.adam.step();
  ++self.steps;
  self.state().follow(self.config.averaging);
  return {regression.item<double>(), all_action.item<double>()};
}

std::vector<float> Learner::score(std::span<const float> rows) const {
  torch::NoGradGuard no_gradient;
  return floats_of(self_->average->forward(rows_tensor(rows)) * kUnit);
}

PolicySpec Learner::policy() const {
  PolicySpec spec;
  spec.architecture = "pairwise";
  spec.dimensions.head_hidden = self_->config.hidden;
  const std::vector<float> shift = floats_of(self_->average->shift);
  const std::vector<float> scale = floats_of(self_->average->scale);
  for (uint32_t c = 0; c < kPairFeatures; ++c) {
    spec.pair_features.push_back({std::string(kPairFeatureList[c].name), shift[c], scale[c]});
  }
  const auto& layers = self_->average->layers;
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool last = i + 1 == layers.size();
    const double unit = last ? kUnit : 1;
    const std::string name = "head." + std::to_string(i);
    const torch::Tensor weight = layers[i]->weight.t() * unit, bias = layers[i]->bias * unit;
    spec.tensors.push_back(
        {name + ".weight",
         {static_cast<uint32_t>(weight.size(0)), static_cast<uint32_t>(weight.size(1))},
         floats_of(weight)});
    spec.tensors.push_back(
        {name + ".bias", {static_cast<uint32_t>(bias.size(0))}, floats_of(bias)});
  }
  return spec;
}

std::string Learner::save() const {
  return self_->state().save();
}

Status Learner::load(const std::string& bytes) {
  if (Status loaded = self_->state().load(bytes); !loaded.ok()) return loaded;
  for (const Head* network : {&self_->head, &self_->average}) {
    if (!(*network)->has_shape(self_->config.hidden)) {
      return Status::bad_input("state of a learner with other hidden layers");
    }
  }
  return {};
}

}  // namespace placeto::train
