#include "trainer/pairwise/learner.h"

#include <algorithm>

#include "trainer/pairwise/training.h"

namespace placeto::train {

PairwiseLearner::PairwiseLearner(const LearnConfig& config, uint64_t seed)
    : self_(std::make_unique<PairwiseTraining>(config, seed)) {}

PairwiseLearner::~PairwiseLearner() = default;

void PairwiseLearner::set_normalisation(const Normalisation& normalisation) {
  self_->nets.network->set_normalisation(normalisation);
  self_->nets.average->set_normalisation(normalisation);
}

std::vector<float> PairwiseLearner::score(const Samples& samples) const {
  torch::NoGradGuard no_gradient;
  return floats_of(self_->nets.average->forward(samples) * kScoreUnit);
}

std::vector<float> PairwiseLearner::score_leaps(const Samples& samples) const {
  torch::NoGradGuard no_gradient;
  return floats_of(self_->nets.average->leap_logits(samples));
}

PolicySpec PairwiseLearner::policy() const {
  return self_->nets.average->policy();
}

PolicySpec PairwiseLearner::current_policy() const {
  return self_->nets.network->policy();
}

Status PairwiseLearner::begin_with(const PolicySpec& policy) {
  const PolicySpec expected = this->policy();
  const auto named_alike = [](const PolicyFeature& a, const PolicyFeature& b) {
    return a.name == b.name;
  };
  const auto is_asked = [&](const PolicyFeature& feature) {
    return std::ranges::any_of(expected.pair_features,
                               [&](const auto& other) { return named_alike(feature, other); });
  };
  PolicyDimensions wanted = expected.dimensions;
  const bool head_alone = policy.dimensions.embedding == 0;
  if (head_alone) {
    wanted = {};
    wanted.head_hidden = expected.dimensions.head_hidden;
  }
  wanted.grid = policy.dimensions.grid;  // rounded or not
  if (policy.dimensions.leap_hidden.empty()) wanted.leap_hidden.clear();
  const bool fits =
      policy.architecture == expected.architecture && policy.dimensions == wanted &&
      std::ranges::all_of(policy.pair_features, is_asked) &&
      (head_alone || std::ranges::equal(policy.node_features, expected.node_features, named_alike));
  if (!fits) {
    return Status::bad_input(
        "another architecture, hidden layers or features than asked, or leaps");
  }
  self_->nets.network->take(policy);
  self_->nets.average->take(policy);
  return {};
}

std::string PairwiseLearner::save() const {
  return self_->nets.save();
}

Status PairwiseLearner::load(const std::string& bytes) {
  return self_->nets.load(bytes);
}

}  // namespace placeto::train
