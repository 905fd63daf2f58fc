#include "trainer/pairwise/learner.h"

#include <algorithm>

#include "trainer/nn/learner_state.h"
#include "trainer/pairwise/network.h"

namespace placeto::train {
namespace {

// exp() of larger scores adds nothing but overflow.
constexpr double kMostScore = 30;
// Likewise of scores / temperature.
constexpr double kMostLogit = 60;

torch::Tensor tensor_of(const std::vector<float>& values) {
  return torch::tensor(values);
}

}  // namespace

struct Learner::Implementation {
  explicit Implementation(const LearnConfig& c)
      : config(c),
        network(c),
        average(c),
        adam(network->parameters(), torch::optim::AdamOptions(c.learning_rate)) {}
  LearnerState state() { return {*network, *average, adam, steps}; }
  // One step of the optimizer down the gradient of the loss.
  void descend(const torch::Tensor& loss, double learning_rate);

  LearnConfig config;
  PairwiseNet network, average;
  torch::optim::Adam adam;
  int64_t steps = 0;
};

Learner::Learner(const LearnConfig& config, uint64_t seed) {
  at::set_num_threads(1);
  torch::manual_seed(seed);
  self_ = std::make_unique<Implementation>(config);
  torch::NoGradGuard no_gradient;
  const auto from = self_->network->parameters(), to = self_->average->parameters();
  for (size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
}

Learner::~Learner() = default;

void Learner::set_normalisation(const Normalisation& normalisation) {
  self_->network->set_normalisation(normalisation);
  self_->average->set_normalisation(normalisation);
}

namespace {

// Candidates of all decisions of a batch, one row each.
struct Candidates {
  torch::Tensor decision;  // [rows]: which one each belongs to
  torch::Tensor gains;     // [rows], hundredths
  torch::Tensor scores;    // [rows], hundredths
  int64_t decisions = 0;

  Candidates(const Samples& batch, PairwiseNet& network)
      : decision(decision_of_rows(batch)),
        gains(tensor_of(batch.gains) / kScoreUnit),
        scores(network->forward(batch)),
        decisions(batch.groups()) {}
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
  const Candidates candidates(batch, self.network);
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
  const Candidates c(batch, self.network);
  const torch::Tensor logits =
      torch::clamp(c.scores * (kScoreUnit / weights.temperature), -kMostLogit, kMostLogit);
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

std::vector<float> Learner::score(const Samples& samples) const {
  torch::NoGradGuard no_gradient;
  return floats_of(self_->average->forward(samples) * kScoreUnit);
}

PolicySpec Learner::policy() const {
  return self_->average->policy();
}

Status Learner::begin_with(const PolicySpec& policy) {
  const PolicySpec expected = this->policy();
  const auto named_alike = [](const auto& a, const auto& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.name == y.name; });
  };
  PolicyDimensions wanted = expected.dimensions;
  const bool head_alone = policy.dimensions.embedding == 0;
  if (head_alone) {
    wanted = {};
    wanted.head_hidden = expected.dimensions.head_hidden;
  }
  const bool fits = policy.architecture == expected.architecture && policy.dimensions == wanted &&
                    named_alike(policy.pair_features, expected.pair_features) &&
                    (head_alone || named_alike(policy.node_features, expected.node_features));
  if (!fits) return Status::bad_input("another architecture, hidden layers or features than asked");
  self_->network->take(policy);
  self_->average->take(policy);
  return {};
}

std::string Learner::save() const {
  return self_->state().save();
}

Status Learner::load(const std::string& bytes) {
  if (Status loaded = self_->state().load(bytes); !loaded.ok()) return loaded;
  if (!self_->network->has_shape() || !self_->average->has_shape()) {
    return Status::bad_input("state of a learner with other hidden layers");
  }
  return {};
}

}  // namespace placeto::train
