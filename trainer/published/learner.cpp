#include "trainer/published/learner.h"

#include <cmath>

#include "runtime/policy/published/features.h"
#include "trainer/nn/learner_state.h"
#include "trainer/published/network.h"

namespace placeto::train {
namespace {

// Of the mean square of logits. Sums of messages of sums can grow without bound, and one large
// update of f or g is enough to start that; a policy of large logits draws nothing new and so
// learns nothing more.
constexpr double kLogitWeight = 0.003;

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
    const bool is_start = feature.name == kStepFeatureList.back().name;
    if (is_start && !config.start_time) continue;
    spec.node_features.push_back({std::string(feature.name), 0, 1});
    width += columns_of(Architecture::kPlaceto, dimensions, feature.name);
  }
  spec.dimensions = {.embedding = width,
                     .rounds = config.rounds,
                     .devices = devices,
                     .encoder_hidden = {width, width},
                     .message_hidden = {width},
                     .pool_hidden = {width},
                     .head_hidden = {8 * width, 4 * width}};
  if (config.rounds == 0) spec.dimensions.message_hidden.clear();
  return spec;
}

struct PlacetoLearner::Implementation {
  Implementation(const PlacetoConfig& c, uint32_t devices)
      : config(c),
        spec(published_spec(c, devices)),
        net(spec),
        average(spec),
        adam(net->parameters(), torch::optim::AdamOptions(1e-3)) {}

  PolicySpec policy(const PlacetoNet& network) const {
    PolicySpec whole = spec;
    whole.tensors = network->tensors();
    return whole;
  }
  LearnerState state() { return {*net, *average, adam, steps}; }

  PlacetoConfig config;
  PolicySpec spec;
  PlacetoNet net;
  mutable PlacetoNet average;
  torch::optim::Adam adam;
  std::vector<GraphTensors> graphs;
  PolicyLosses losses;  // of what has been accumulated
  int64_t steps = 0;
};

PlacetoLearner::PlacetoLearner(const PlacetoConfig& config, uint32_t devices, uint64_t seed) {
  at::set_num_threads(1);
  torch::manual_seed(seed);
  self_ = std::make_unique<Implementation>(config, devices);
  torch::NoGradGuard no_gradient;
  const auto from = self_->net->parameters(), to = self_->average->parameters();
  for (size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
  self_->adam.zero_grad();
}

PlacetoLearner::~PlacetoLearner() = default;

uint32_t PlacetoLearner::add_graph(const Problem& problem) {
  self_->graphs.push_back(graph_tensors(problem));
  return static_cast<uint32_t>(self_->graphs.size()) - 1;
}

void PlacetoLearner::accumulate(uint32_t graph, const Episode& episode,
                                std::span<const float> advantages, std::span<const uint32_t> chosen,
                                double total_steps, const LossWeights& weights) {
  const torch::Tensor steps = index_of(chosen);
  const GraphTensors& tensors = self_->graphs[graph];
  const int64_t devices = episode.devices, count = episode.steps();
  const torch::Tensor logits = self_->net->forward(features_of(episode, steps), tensors,
                                                   steps.remainder(tensors.current.size(0)));
  const torch::Tensor allowed =
      view_of(episode.mask, {count, devices}, torch::kByte).index_select(0, steps).to(torch::kBool);
  const torch::Tensor log_pi = torch::log_softmax(logits.masked_fill(~allowed, -1e30f), 1);
  const torch::Tensor pi = log_pi.exp();
  const torch::Tensor choice = index_of(episode.choice).index_select(0, steps).unsqueeze(1);
  const torch::Tensor taken = log_pi.gather(1, choice).squeeze(1);
  const torch::Tensor advantage =
      torch::from_blob(const_cast<float*>(advantages.data()), {count}).index_select(0, steps);

  torch::Tensor policy;
  double clipped = 0;
  if (weights.clip > 0) {
    const torch::Tensor before =
        view_of(episode.log_probability, {count}, torch::kFloat).index_select(0, steps);
    const torch::Tensor ratio = (taken - before).exp();
    const torch::Tensor cut = ratio.clamp(1 - weights.clip, 1 + weights.clip);
    policy = -torch::minimum(ratio * advantage, cut * advantage).sum();
    clipped = (ratio != cut).sum().item<double>();
  } else {
    policy = -(taken * advantage).sum();
  }
  const torch::Tensor entropy = -(pi * log_pi).sum();
  torch::Tensor loss =
      policy - weights.entropy * entropy + kLogitWeight * torch::square(logits).sum();
  torch::Tensor all_action = torch::zeros({});
  if (!episode.gains.empty()) {
    const torch::Tensor gains =
        view_of(episode.gains, {count, devices}, torch::kFloat).index_select(0, steps);
    all_action = -(pi * gains).sum();
    loss = loss + weights.all_action * all_action;
  }
  (loss / total_steps).backward();

  PolicyLosses& sum = self_->losses;
  sum.policy += policy.item<double>() / total_steps;
  sum.entropy += entropy.item<double>() / total_steps;
  sum.all_action += all_action.item<double>() / total_steps;
  sum.clipped += clipped / total_steps;
}

std::vector<float> PlacetoLearner::added() const {
  std::vector<float> sum;
  for (const torch::Tensor& p : self_->net->parameters()) {
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

void PlacetoLearner::set_added(std::span<const float> sum) {
  for (torch::Tensor& p : self_->net->parameters()) {
    const auto count = static_cast<size_t>(p.numel());
    p.mutable_grad() =
        torch::tensor(at::ArrayRef<float>(sum.data(), count)).view(p.sizes()).clone();
    sum = sum.subspan(count);
  }
  PolicyLosses& l = self_->losses;
  l.policy = double{sum[0]}, l.entropy = double{sum[1]};
  l.all_action = double{sum[2]}, l.clipped = double{sum[3]};
}

PolicyLosses PlacetoLearner::apply(double learning_rate, double most_gradient) {
  Implementation& self = *self_;
  for (auto& group : self.adam.param_groups()) {
    static_cast<torch::optim::AdamOptions&>(group.options()).lr(learning_rate);
  }
  self.losses.gradient = torch::nn::utils::clip_grad_norm_(self.net->parameters(), most_gradient);
  if (std::isfinite(self.losses.gradient)) {
    self.adam.step();
    ++self.steps;
  }
  self.adam.zero_grad();
  self.state().follow(self.config.averaging);
  return std::exchange(self.losses, {});
}

std::vector<float> PlacetoLearner::logits(uint32_t graph, const Episode& episode) const {
  torch::NoGradGuard no_gradient;
  const GraphTensors& tensors = self_->graphs[graph];
  const torch::Tensor steps = torch::arange(static_cast<int64_t>(episode.steps()));
  const torch::Tensor logits =
      self_->average
          ->forward(features_of(episode, steps), tensors, steps.remainder(tensors.current.size(0)))
          .contiguous();
  return {logits.data_ptr<float>(), logits.data_ptr<float>() + logits.numel()};
}

PolicySpec PlacetoLearner::policy() const {
  return self_->policy(self_->average);
}

PolicySpec PlacetoLearner::acting_policy() const {
  return self_->policy(self_->net);
}

std::string PlacetoLearner::save() const {
  return self_->state().save();
}

Status PlacetoLearner::load(const std::string& bytes) {
  if (Status loaded = self_->state().load(bytes); !loaded.ok()) return loaded;
  if (!self_->net->has_shape() || !self_->average->has_shape()) {
    return Status::bad_input("state of a learner with other networks");
  }
  return {};
}

}  // namespace placeto::train
