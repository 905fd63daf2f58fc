#include "trainer/published/learner.h"

#include <cmath>

#include "runtime/policy/file/architecture.h"
#include "runtime/policy/published/features.h"
#include "trainer/nn/trained.h"
#include "trainer/published/network.h"
#include "trainer/published/training.h"

namespace placeto::train {
namespace {

template <class T>
torch::Tensor view_of(const std::vector<T>& values, at::IntArrayRef shape, torch::ScalarType type) {
  return torch::from_blob(const_cast<T*>(values.data()), shape, type);
}

torch::Tensor index_of(std::span<const uint32_t> values) {
  return torch::tensor(std::vector<int64_t>(values.begin(), values.end()), torch::kLong);
}

// [nodes, steps, columns] of the steps listed.
torch::Tensor features_of(const Episode& e, const torch::Tensor& steps) {
  const int64_t columns = step_columns(e.devices);
  return view_of(e.features, {e.steps(), e.nodes, columns}, torch::kFloat)
      .index_select(0, steps)
      .transpose(0, 1)
      .contiguous();
}

}  // namespace

PolicySpec published_spec(const PlacetoConfig& config, uint32_t devices) {
  PolicySpec spec;
  spec.architecture = "placeto";
  PolicyDimensions dimensions;
  dimensions.devices = devices;
  uint32_t width = 0;
  for (const Feature& feature : kStepFeatureList) {
    spec.node_features.push_back({std::string(feature.name), 0, 1});
    width += columns_of(Architecture::kPlaceto, dimensions, feature.name);
  }
  spec.dimensions = published_dimensions(width, devices, config.rounds);
  return spec;
}

struct PublishedLearner::Implementation {
  Implementation(const PlacetoConfig& config, uint32_t devices, uint64_t seed)
      : spec(published_spec(config, devices)), nets(seed, config.averaging, spec) {}

  PolicySpec policy(const PlacetoNet& network) const {
    PolicySpec whole = spec;
    whole.tensors = network->tensors();
    return whole;
  }

  PolicySpec spec;
  Trained<PlacetoNet> nets;
  std::vector<GraphTensors> graphs;
  PolicyLosses losses;  // of what has been accumulated
};

PublishedLearner::PublishedLearner(const PlacetoConfig& config, uint32_t devices, uint64_t seed)
    : self_(std::make_unique<Implementation>(config, devices, seed)) {}

PublishedLearner::~PublishedLearner() = default;

uint32_t PublishedLearner::add_graph(const Problem& problem) {
  self_->graphs.push_back(graph_tensors(problem));
  return static_cast<uint32_t>(self_->graphs.size()) - 1;
}

void PublishedLearner::accumulate(uint32_t graph, const Episode& episode,
                                  std::span<const float> advantages,
                                  std::span<const uint32_t> chosen, double total_steps,
                                  const PolicyLoss& policy_loss, const LossWeights& weights) {
  const torch::Tensor steps = index_of(chosen);
  const GraphTensors& tensors = self_->graphs[graph];
  const int64_t devices = episode.devices, count = episode.steps();
  const torch::Tensor logits = self_->nets.network->forward(
      features_of(episode, steps), tensors, steps.remainder(tensors.current.size(0)));
  const torch::Tensor allowed =
      view_of(episode.mask, {count, devices}, torch::kByte).index_select(0, steps).to(torch::kBool);
  const torch::Tensor log_pi = torch::log_softmax(logits.masked_fill(~allowed, -1e30f), 1);
  const torch::Tensor pi = log_pi.exp();
  const torch::Tensor choice = index_of(episode.choice).index_select(0, steps).unsqueeze(1);
  const torch::Tensor taken = log_pi.gather(1, choice).squeeze(1);
  const torch::Tensor advantage =
      torch::from_blob(const_cast<float*>(advantages.data()), {count}).index_select(0, steps);

  const torch::Tensor before =
      view_of(episode.log_probability, {count}, torch::kFloat).index_select(0, steps);
  const ChosenLoss policy = policy_loss({taken, before, advantage});
  const torch::Tensor entropy = -(pi * log_pi).sum();
  torch::Tensor loss = policy.sum - weights.entropy * entropy;
  torch::Tensor all_action = torch::zeros({});
  if (!episode.gains.empty()) {
    const torch::Tensor gains =
        view_of(episode.gains, {count, devices}, torch::kFloat).index_select(0, steps);
    all_action = -(pi * gains).sum();
    loss = loss + weights.all_action * all_action;
  }
  (loss / total_steps).backward();

  PolicyLosses& sum = self_->losses;
  sum.policy += policy.sum.item<double>() / total_steps;
  sum.entropy += entropy.item<double>() / total_steps;
  sum.all_action += all_action.item<double>() / total_steps;
  sum.clipped += policy.clipped / total_steps;
}

std::vector<float> PublishedLearner::added() const {
  std::vector<float> sum;
  for (const torch::Tensor& p : self_->nets.network->parameters()) {
    const torch::Tensor g =
        p.grad().defined() ? p.grad().contiguous().flatten() : torch::zeros({p.numel()});
    sum.insert(sum.end(), g.data_ptr<float>(), g.data_ptr<float>() + g.numel());
  }
  const PolicyLosses& l = self_->losses;
  for (const double loss : {l.policy, l.entropy, l.all_action, l.clipped}) {
    sum.push_back(static_cast<float>(loss));
  }
  return sum;
}

void PublishedLearner::set_added(std::span<const float> sum) {
  for (torch::Tensor& p : self_->nets.network->parameters()) {
    const auto count = static_cast<size_t>(p.numel());
    p.mutable_grad() =
        torch::tensor(at::ArrayRef<float>(sum.data(), count)).view(p.sizes()).clone();
    sum = sum.subspan(count);
  }
  PolicyLosses& l = self_->losses;
  l.policy = double{sum[0]}, l.entropy = double{sum[1]};
  l.all_action = double{sum[2]}, l.clipped = double{sum[3]};
}

PolicyLosses PublishedLearner::apply(double learning_rate, double most_gradient) {
  Implementation& self = *self_;
  auto& nets = self.nets;
  self.losses.gradient =
      torch::nn::utils::clip_grad_norm_(nets.network->parameters(), most_gradient);
  if (std::isfinite(self.losses.gradient)) {
    nets.step(learning_rate);
  } else {
    nets.adam.zero_grad();
    nets.follow();
  }
  return std::exchange(self.losses, {});
}

std::vector<float> PublishedLearner::logits(uint32_t graph, const Episode& episode) const {
  torch::NoGradGuard no_gradient;
  const GraphTensors& tensors = self_->graphs[graph];
  const torch::Tensor steps = torch::arange(static_cast<int64_t>(episode.steps()));
  const torch::Tensor logits =
      self_->nets.average
          ->forward(features_of(episode, steps), tensors, steps.remainder(tensors.current.size(0)))
          .contiguous();
  return {logits.data_ptr<float>(), logits.data_ptr<float>() + logits.numel()};
}

PolicySpec PublishedLearner::policy() const {
  return self_->policy(self_->nets.average);
}

PolicySpec PublishedLearner::current_policy() const {
  return self_->policy(self_->nets.network);
}

Status PublishedLearner::begin_with(const PolicySpec& policy) {
  const PolicySpec& expected = self_->spec;
  const bool fits = policy.architecture == expected.architecture &&
                    policy.dimensions == expected.dimensions &&
                    policy.node_features == expected.node_features;
  if (!fits)
    return Status::bad_input("another architecture, widths or number of devices than asked");
  torch::NoGradGuard no_gradient;
  for (PlacetoNet& net : {std::ref(self_->nets.network), std::ref(self_->nets.average)}) {
    std::span<const PolicyTensor> tensors = policy.tensors;
    net->take_tensors(tensors);
  }
  return {};
}

std::string PublishedLearner::save() const {
  return self_->nets.save();
}

Status PublishedLearner::load(const std::string& bytes) {
  return self_->nets.load(bytes);
}

}  // namespace placeto::train
