#include "trainer/published/learner.h"

#include <cmath>

#include "runtime/policy/file/architecture.h"
#include "runtime/policy/published/features.h"
#include "trainer/nn/trained.h"
#include "trainer/published/network.h"
#include "trainer/published/training.h"

namespace placeto::train {
namespace {

constexpr int64_t kLosses = 4;  // that follow a gradient: policy, entropy, all-action, clipped

torch::Tensor index_of(std::span<const uint32_t> values) {
  return torch::tensor(std::vector<int64_t>(values.begin(), values.end()), torch::kLong);
}

// Some steps of an episode, as tensors where LibTorch computes.
struct ChosenSteps {
  const Episode& episode;
  torch::Tensor chosen;  // [steps], on the CPU
  torch::Device processor;

  torch::Tensor there(const torch::Tensor& tensor) const { return tensor.to(processor); }
  // Rows of a list that has one, of that shape, for each step of the episode.
  template <class T>
  torch::Tensor rows(std::span<const T> list, std::vector<int64_t> shape,
                     torch::ScalarType type) const {
    shape.insert(shape.begin(), episode.steps());
    const torch::Tensor all = torch::from_blob(const_cast<T*>(list.data()), shape, type);
    return there(all.index_select(0, chosen));
  }
  torch::Tensor floats(std::span<const float> list, std::vector<int64_t> shape = {}) const {
    return rows(list, std::move(shape), torch::kFloat);
  }
  // [nodes, steps, columns]
  torch::Tensor features() const {
    return floats(episode.features, {episode.nodes, step_columns(episode.devices)})
        .transpose(0, 1)
        .contiguous();
  }
  // The step of a pass that each is.
  torch::Tensor of_pass(const GraphTensors& graph) const {
    return there(chosen.remainder(graph.current.size(0)));
  }
};

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
  Implementation(const PlacetoConfig& config, uint32_t devices, uint64_t seed,
                 const std::string& processor)
      : spec(published_spec(config, devices)),
        nets(seed, config.averaging, processor_named(processor), spec) {}

  PolicySpec policy(const PlacetoNet& network) const {
    PolicySpec whole = spec;
    whole.tensors = network->tensors();
    return whole;
  }

  PolicySpec spec;
  Trained<PlacetoNet> nets;
  std::vector<GraphTensors> graphs;
};

PublishedLearner::PublishedLearner(const PlacetoConfig& config, uint32_t devices, uint64_t seed,
                                   const std::string& processor)
    : self_(std::make_unique<Implementation>(config, devices, seed, processor)) {}

PublishedLearner::~PublishedLearner() = default;

uint32_t PublishedLearner::add_graph(const Problem& problem) {
  self_->graphs.push_back(graph_tensors(problem).on(self_->nets.processor));
  return static_cast<uint32_t>(self_->graphs.size()) - 1;
}

std::vector<float> PublishedLearner::gradient(uint32_t graph, const Episode& episode,
                                              std::span<const float> advantages,
                                              std::span<const uint32_t> chosen, double total_steps,
                                              const PolicyLoss& policy_loss,
                                              const LossWeights& weights) const {
  const ChosenSteps steps{episode, index_of(chosen), self_->nets.processor};
  const GraphTensors& tensors = self_->graphs[graph];
  const int64_t devices = episode.devices;
  const torch::Tensor logits =
      self_->nets.network->forward(steps.features(), tensors, steps.of_pass(tensors));
  const torch::Tensor allowed =
      steps.rows<uint8_t>(episode.mask, {devices}, torch::kByte).to(torch::kBool);
  const torch::Tensor log_pi = torch::log_softmax(logits.masked_fill(~allowed, -1e30f), 1);
  const torch::Tensor pi = log_pi.exp();
  const torch::Tensor choice =
      steps.there(index_of(episode.choice).index_select(0, steps.chosen)).unsqueeze(1);
  const torch::Tensor taken = log_pi.gather(1, choice).squeeze(1);
  const ChosenLoss policy =
      policy_loss({taken, steps.floats(episode.log_probability), steps.floats(advantages)});
  const torch::Tensor entropy = -(pi * log_pi).sum();
  torch::Tensor loss = policy.sum - weights.entropy * entropy;
  torch::Tensor all_action = torch::zeros({});
  if (!episode.gains.empty()) {
    all_action = -(pi * steps.floats(episode.gains, {devices})).sum();
    loss = loss + weights.all_action * all_action;
  }
  const auto parameters = self_->nets.network->parameters();
  const auto gradients =
      torch::autograd::grad({loss / total_steps}, parameters, {}, false, false, true);
  std::vector<float> numbers;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool used = gradients[i].defined();
    const std::vector<float> g = floats_of(used ? gradients[i] : torch::zeros_like(parameters[i]));
    numbers.insert(numbers.end(), g.begin(), g.end());
  }
  for (const double sum : {policy.sum.item<double>(), entropy.item<double>(),
                           all_action.item<double>(), policy.clipped}) {
    numbers.push_back(static_cast<float>(sum / total_steps));
  }
  return numbers;
}

std::vector<float> PublishedLearner::no_gradient() const {
  int64_t count = kLosses;
  for (const torch::Tensor& p : self_->nets.network->parameters()) count += p.numel();
  return std::vector<float>(static_cast<size_t>(count));
}

PolicyLosses PublishedLearner::descend(std::span<const float> sum, double learning_rate,
                                       double most_gradient) {
  auto& nets = self_->nets;
  for (torch::Tensor& p : nets.network->parameters()) {
    const at::ArrayRef<float> numbers(sum.data(), static_cast<size_t>(p.numel()));
    p.mutable_grad() = torch::tensor(numbers).view(p.sizes()).clone().to(p.device());  // no view
    sum = sum.subspan(numbers.size());
  }
  PolicyLosses losses{.policy = double{sum[0]},
                      .entropy = double{sum[1]},
                      .all_action = double{sum[2]},
                      .clipped = double{sum[3]}};
  losses.gradient = torch::nn::utils::clip_grad_norm_(nets.network->parameters(), most_gradient);
  if (std::isfinite(losses.gradient)) {
    nets.step(learning_rate);
  } else {
    nets.adam.zero_grad();
    nets.follow();
  }
  return losses;
}

std::vector<float> PublishedLearner::logits(uint32_t graph, const Episode& episode) const {
  torch::NoGradGuard no_gradient;
  const GraphTensors& tensors = self_->graphs[graph];
  const ChosenSteps all{episode, torch::arange(static_cast<int64_t>(episode.steps())),
                        self_->nets.processor};
  return floats_of(self_->nets.average->forward(all.features(), tensors, all.of_pass(tensors)));
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
