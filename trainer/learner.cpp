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
// Likewise of scores / temperature.
constexpr double kMostLogit = 60;

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
  // One step of the optimizer down the gradient of the loss.
  void descend(const torch::Tensor& loss, double learning_rate);

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

namespace {

// Candidates of all decisions of a batch, one row each.
struct Candidates {
  torch::Tensor decision;  // [rows]: which one each belongs to
  torch::Tensor gains;     // [rows], hundredths
  torch::Tensor scores;    // [rows], hundredths
  int64_t decisions = 0;

  Candidates(const Samples& batch, Head& head) : decisions(batch.groups()) {
    std::vector<int64_t> of(batch.row_count());
    for (uint32_t g = 0; g < batch.groups(); ++g) {
      std::fill(of.begin() + batch.offset[g], of.begin() + batch.offset[g + 1], g);
    }
    decision = torch::tensor(of);
    gains = tensor_of(batch.gains) / kUnit;
    scores = head->forward(rows_tensor(batch.rows));
  }
  torch::Tensor sum(const torch::Tensor& rows) const {
    return torch::zeros({decisions}).index_add(0, decision, rows);
  }
  // Of the chosen of each decision: its logit, 0 for staying.
  torch::Tensor pick(const torch::Tensor& logits, const Samples& batch,
                     std::span<const uint32_t> choice) const {
    std::vector<int64_t> row(choice.size());
    for (size_t g = 0; g < choice.size(); ++g) {
      const bool stays = choice[g] >= batch.offset[g + 1] - batch.offset[g];
      row[g] = stays ? logits.size(0) : batch.offset[g] + choice[g];
    }
    return torch::cat({logits, torch::zeros({1})}).index_select(0, torch::tensor(row));
  }
};

// Regression and all-action; their losses.
torch::Tensor credit_loss(const Candidates& c, const LearnConfig& config, Losses& losses) {
  const torch::Tensor errors = torch::smooth_l1_loss(c.scores, c.gains, torch::Reduction::None);
  const torch::Tensor weights = 1 + config.improving_weight * (c.gains > 0).to(torch::kFloat);
  const torch::Tensor regression = (errors * weights).mean();

  const torch::Tensor likelihood = torch::exp(torch::clamp_max(c.scores, kMostScore));
  const torch::Tensor expected = c.sum(likelihood * c.gains) / (1 + c.sum(likelihood));
  const torch::Tensor all_action = -expected.mean();
  losses.regression = regression.item<double>();
  losses.all_action = all_action.item<double>();
  return regression + config.all_action_weight * all_action;
}

// Cross entropy of softmax(scores), staying included, and what the search made of the group.
torch::Tensor imitation_loss(const Candidates& c, const Samples& batch, Losses& losses) {
  std::vector<float> known;
  for (const uint32_t e : batch.expert) known.push_back(e == Samples::kNoExpert ? 0.0f : 1.0f);
  const torch::Tensor scores = torch::clamp_max(c.scores, kMostScore);
  const torch::Tensor log_pi =
      c.pick(scores, batch, batch.expert) - torch::log(1 + c.sum(torch::exp(scores)));
  const torch::Tensor weight = torch::tensor(known);
  const torch::Tensor loss = -(log_pi * weight).sum() / weight.sum().clamp_min(1);
  losses.imitation = loss.item<double>();
  return loss;
}

}  // namespace

void Learner::Implementation::descend(const torch::Tensor& loss, double learning_rate) {
  for (auto& group : adam.param_groups()) {
    static_cast<torch::optim::AdamOptions&>(group.options()).lr(learning_rate);
  }
  adam.zero_grad();
  loss.backward();
  adam.step();
  ++steps;
  state().follow(config.averaging);
}

Losses Learner::step(const Samples& batch, double learning_rate) {
  Implementation& self = *self_;
  Losses losses;
  const Candidates candidates(batch, self.head);
  torch::Tensor loss = credit_loss(candidates, self.config, losses);
  if (self.config.imitation > 0) {
    loss = loss + self.config.imitation * imitation_loss(candidates, batch, losses);
  }
  self.descend(loss, learning_rate);
  return losses;
}

Losses Learner::step(const Rollouts& rollouts, std::span<const uint32_t> steps,
                     const RolloutWeights& weights, double learning_rate) {
  Implementation& self = *self_;
  Samples batch;
  std::vector<uint32_t> choice;
  std::vector<float> before, advantage;
  for (const uint32_t i : steps) {
    batch.append_group(rollouts.samples, i);
    choice.push_back(rollouts.choice[i]);
    before.push_back(rollouts.log_probability[i]);
    advantage.push_back(rollouts.advantage[i]);
  }
  Losses losses;
  const Candidates c(batch, self.head);
  const torch::Tensor logits =
      torch::clamp(c.scores * (kUnit / weights.temperature), -kMostLogit, kMostLogit);
  const torch::Tensor likelihood = torch::exp(logits);
  const torch::Tensor total = 1 + c.sum(likelihood);
  const torch::Tensor log_pi = c.pick(logits, batch, choice) - torch::log(total);
  const torch::Tensor ratio = torch::exp(log_pi - tensor_of(before));
  const torch::Tensor cut = torch::clamp(ratio, 1 - weights.clip, 1 + weights.clip);
  const torch::Tensor worth = tensor_of(advantage) * weights.advantage;
  const torch::Tensor policy = -torch::minimum(ratio * worth, cut * worth).mean();
  const torch::Tensor entropy = (torch::log(total) - c.sum(likelihood * logits) / total).mean();
  torch::Tensor loss = policy - weights.entropy * entropy;
  if (weights.credit > 0) loss = loss + weights.credit * credit_loss(c, self.config, losses);
  losses.policy = policy.item<double>();
  losses.entropy = entropy.item<double>();
  losses.clipped = (ratio != cut).to(torch::kFloat).mean().item<double>();
  self.descend(loss, learning_rate);
  return losses;
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

Status Learner::begin_with(const PolicySpec& policy) {
  const auto expected = this->policy();
  bool fits = policy.architecture == expected.architecture &&
              policy.dimensions == expected.dimensions &&
              policy.pair_features.size() == expected.pair_features.size() &&
              policy.tensors.size() == expected.tensors.size();
  for (size_t c = 0; fits && c < kPairFeatures; ++c) {
    fits = policy.pair_features[c].name == expected.pair_features[c].name;
  }
  if (!fits) return Status::bad_input("another architecture, hidden layers or features than asked");
  Normalisation normalisation;
  for (const PolicyFeature& f : policy.pair_features) {
    normalisation.shift.push_back(f.shift);
    normalisation.scale.push_back(f.scale);
  }
  set_normalisation(normalisation);
  torch::NoGradGuard no_gradient;
  for (Head* head : {&self_->head, &self_->average}) {
    for (size_t i = 0; i < (*head)->layers.size(); ++i) {
      const PolicyTensor& weight = policy.tensors[2 * i];
      const double unit = i + 1 == (*head)->layers.size() ? kUnit : 1;
      (*head)->layers[i]->weight.copy_(
          tensor_of(weight.data).view({weight.shape[0], weight.shape[1]}).t() / unit);
      (*head)->layers[i]->bias.copy_(tensor_of(policy.tensors[2 * i + 1].data) / unit);
    }
  }
  return {};
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
