#include "trainer/eval/rnn_placer.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "runtime/base/random.h"
#include "runtime/cost/evaluator.h"
#include "trainer/base/time_ratio.h"
#include "trainer/data/merge.h"

namespace placeto::train {
namespace {

constexpr int64_t kTypeEmbedding = 16, kDeviceEmbedding = 8, kSizes = 3;
// A placement that exceeds memory counts as this many times the slowest device alone: "a large
// constant" where the paper's run fails.
constexpr double kFailure = 10;

// What is decided, in topological order of the first nodes.
struct Units {
  std::vector<uint32_t> group;  // per unit: the problem's group
  std::vector<int64_t> type;    // per unit: of its longest node
  int64_t types = 0;
  torch::Tensor inputs;  // [units, kSizes + units]
  torch::Tensor barred;  // [units, devices]: -inf where the rules forbid, else 0
};

Units read_units(const Problem& problem) {
  const Graph& graph = problem.graph();
  Units units;
  std::vector<int64_t> unit_of(problem.group_count(), -1);
  for (const uint32_t v : graph.topological_order()) {
    int64_t& unit = unit_of[problem.group_of(v)];
    if (unit >= 0) continue;
    unit = static_cast<int64_t>(units.group.size());
    units.group.push_back(problem.group_of(v));
  }
  const auto count = static_cast<int64_t>(units.group.size());
  units.inputs = torch::zeros({count, kSizes + count});
  units.barred = torch::zeros({count, problem.device_count()});
  auto in = units.inputs.accessor<float, 2>();
  auto barred = units.barred.accessor<float, 2>();
  std::map<std::string, int64_t> numbers;
  for (int64_t u = 0; u < count; ++u) {
    const uint32_t group = units.group[static_cast<size_t>(u)];
    uint32_t longest = problem.members(group)[0];
    for (const uint32_t v : problem.members(group)) {
      if (problem.mean_run_us(v) > problem.mean_run_us(longest)) longest = v;
      in[u][0] += static_cast<float>(problem.mean_run_us(v));
      for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
        in[u][1] += static_cast<float>(problem.mean_transfer_us(o));
      }
      for (const OutEdge& e : graph.out_edges(v)) {
        const int64_t to = unit_of[problem.group_of(e.target)];
        if (to == u) continue;
        in[u][kSizes + to] = 1;
        in[to][kSizes + u] = -1;
      }
    }
    in[u][2] = static_cast<float>(problem.resident_bytes(group));
    const auto number = numbers.insert({graph.node(longest).op, units.types}).first;
    units.types = static_cast<int64_t>(numbers.size());
    units.type.push_back(number->second);
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      if (!problem.allowed(group, d)) barred[u][d] = -std::numeric_limits<float>::infinity();
    }
  }
  using torch::indexing::Slice;
  torch::Tensor sizes = units.inputs.index({Slice(), Slice(0, kSizes)});
  sizes.div_(sizes.amax(0).clamp_min(1e-9));
  return units;
}

struct ModelImpl : torch::nn::Module {
  ModelImpl(const Units& units, int64_t devices, int64_t hidden)
      : types(register_module("types", torch::nn::Embedding(units.types, kTypeEmbedding))),
        devices_before(
            register_module("devices", torch::nn::Embedding(devices + 1, kDeviceEmbedding))),
        encoder(register_module("encoder",
                                torch::nn::LSTM(kTypeEmbedding + units.inputs.size(1), hidden))),
        decoder(register_module("decoder", torch::nn::LSTMCell(hidden + kDeviceEmbedding, hidden))),
        keys(register_module("keys", torch::nn::Linear(hidden, hidden))),
        query(register_module("query", torch::nn::Linear(hidden, hidden))),
        energy(register_module("energy", torch::nn::Linear(hidden, 1))),
        logits(register_module("logits", torch::nn::Linear(2 * hidden, devices))) {}
  torch::nn::Embedding types, devices_before;
  torch::nn::LSTM encoder;
  torch::nn::LSTMCell decoder;
  torch::nn::Linear keys, query, energy, logits;
};
TORCH_MODULE(Model);

struct Sample {
  std::vector<std::vector<uint32_t>> device;  // [batch][unit]
  torch::Tensor log_probability;              // [batch]
};

// Rows of probabilities to one choice each.
torch::Tensor draw(const torch::Tensor& probabilities, Random& random) {
  const auto p = probabilities.accessor<float, 2>();
  torch::Tensor choice = torch::zeros({p.size(0)}, torch::kLong);
  auto chosen = choice.accessor<int64_t, 1>();
  for (int64_t b = 0; b < p.size(0); ++b) {
    double left = random.uniform();
    int64_t last = 0;
    for (int64_t d = 0; d < p.size(1); ++d) {
      if (p[b][d] <= 0) continue;
      last = d;
      left -= double{p[b][d]};
      if (left < 0) break;
    }
    chosen[b] = last;
  }
  return choice;
}

Sample sample(Model& model, const Units& units, uint32_t batch, Random& random) {
  const auto count = static_cast<int64_t>(units.group.size());
  const torch::Tensor type = torch::tensor(units.type);
  const torch::Tensor in = torch::cat({model->types->forward(type), units.inputs}, 1).unsqueeze(1);
  const auto [states, last] = model->encoder->forward(in);
  const torch::Tensor memory = states.squeeze(1);                        // [units, hidden]
  const torch::Tensor keys = model->keys->forward(memory).unsqueeze(0);  // [1, units, hidden]
  torch::Tensor h = std::get<0>(last).squeeze(0).expand({batch, -1}).contiguous();
  torch::Tensor c = std::get<1>(last).squeeze(0).expand({batch, -1}).contiguous();
  torch::Tensor context = torch::zeros_like(h);
  torch::Tensor before = torch::full({batch}, units.barred.size(1), torch::kLong);
  Sample result{std::vector<std::vector<uint32_t>>(batch), torch::zeros({batch})};
  for (int64_t u = 0; u < count; ++u) {
    const torch::Tensor input = torch::cat({context, model->devices_before->forward(before)}, 1);
    std::tie(h, c) = model->decoder->forward(input, std::make_tuple(h, c));
    const torch::Tensor mixed = torch::tanh(keys + model->query->forward(h).unsqueeze(1));
    const torch::Tensor weight = torch::softmax(model->energy->forward(mixed).squeeze(2), 1);
    context = torch::matmul(weight, memory);
    const torch::Tensor scores =
        model->logits->forward(torch::cat({h, context}, 1)) + units.barred[u];
    const torch::Tensor log_p = torch::log_softmax(scores, 1);
    before = draw(log_p.detach().exp(), random);
    result.log_probability =
        result.log_probability + log_p.gather(1, before.unsqueeze(1)).squeeze(1);
    for (uint32_t b = 0; b < batch; ++b) {
      result.device[b].push_back(static_cast<uint32_t>(before[b].item<int64_t>()));
    }
  }
  return result;
}

class Search {
 public:
  Search(const Instance& instance, const RnnOptions& options)
      : instance_(instance),
        problem_(*instance.problem),
        options_(options),
        units_(read_units(problem_)),
        evaluator_(instance.merged ? *instance.merged->operators.problem : problem_),
        random_(options.seed) {
    for (uint32_t v = 0; v < problem_.node_count(); ++v) unit_us_ += problem_.mean_run_us(v);
    result_.makespan_us = std::numeric_limits<double>::infinity();
  }

  RnnPlacement run() {
    at::set_num_threads(1);
    torch::manual_seed(options_.seed);
    Model model(units_, problem_.device_count(), options_.hidden);
    torch::optim::Adam adam(model->parameters(), torch::optim::AdamOptions(options_.learning_rate));
    for (uint32_t done = 0; done < options_.placements;) {
      const uint32_t batch = std::min(options_.batch, options_.placements - done);
      const Sample drawn = sample(model, units_, batch, random_);
      const torch::Tensor advantage = advantages(drawn);
      done += batch;
      result_.curve.push_back({done, result_.makespan_us});
      adam.zero_grad();
      (-(advantage * drawn.log_probability).mean()).backward();
      torch::nn::utils::clip_grad_norm_(model->parameters(), options_.most_gradient);
      adam.step();
    }
    return std::move(result_);
  }

 private:
  // Rewards less their moving average, which then takes them in.
  torch::Tensor advantages(const Sample& drawn) {
    std::vector<float> rewards;
    for (const auto& devices : drawn.device) rewards.push_back(reward(devices));
    const torch::Tensor reward = torch::tensor(rewards);
    const double mean = reward.mean().item<double>();
    if (!begun_) baseline_ = mean;
    begun_ = true;
    const torch::Tensor advantage = reward - baseline_;
    baseline_ = options_.baseline_decay * baseline_ + (1 - options_.baseline_decay) * mean;
    return advantage;
  }

  float reward(const std::vector<uint32_t>& devices) {
    Assignment assignment(problem_.node_count());
    for (size_t u = 0; u < devices.size(); ++u) {
      for (const uint32_t v : problem_.members(units_.group[u])) assignment[v] = devices[u];
    }
    const Score score = instance_.merged
                            ? evaluator_.evaluate(place_operators(instance_, assignment))
                            : evaluator_.evaluate(assignment);
    if (!score.feasible()) return static_cast<float>(-std::sqrt(kFailure));
    if (score.objective_us < result_.makespan_us) {
      result_.makespan_us = score.objective_us;
      result_.assignment = assignment;
    }
    return static_cast<float>(-std::sqrt(time_ratio(score.objective_us, unit_us_)));
  }

  const Instance& instance_;
  const Problem& problem_;
  const RnnOptions& options_;
  Units units_;
  Evaluator evaluator_;
  Random random_;
  double unit_us_ = 0;  // all work after another: the unit of run times
  double baseline_ = 0;
  bool begun_ = false;
  RnnPlacement result_;
};

}  // namespace

RnnPlacement place_by_rnn(const Instance& instance, const RnnOptions& options) {
  return Search(instance, options).run();
}

}  // namespace placeto::train
