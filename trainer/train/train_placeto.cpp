#include "trainer/train/train_placeto.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "trainer/base/files.h"
#include "trainer/base/parallel.h"
#include "trainer/data/courses.h"
#include "trainer/published/episode_exchange.h"
#include "trainer/published/episode_groups.h"
#include "trainer/published/learner.h"
#include "trainer/train/export.h"

namespace placeto::train {
namespace {

Start start_named(const std::string& name) {
  return name == "heuristic" ? Start::kHeuristic
         : name == "single"  ? Start::kSingle
                             : Start::kRandom;
}

// Learner and baseline in the one string that a checkpoint holds: length of the first, both.
std::string join(const std::string& learner, const std::string& baseline) {
  const uint64_t length = learner.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + learner + baseline;
}

Status split(const std::string& bytes, std::string& learner, std::string& baseline) {
  uint64_t length = 0;
  if (bytes.size() < sizeof length) return Status::bad_input("no state of a placeto run");
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length) return Status::bad_input("no state of a placeto run");
  learner = bytes.substr(sizeof length, length);
  baseline = bytes.substr(sizeof length + length);
  return {};
}

class PlacetoTrainer {
 public:
  PlacetoTrainer(const Config& config, std::string_view config_text, RunFolder& folder,
                 const TrainOptions& options)
      : config_(config),
        with_(config.episodes),
        config_text_(config_text),
        folder_(folder),
        options_(options),
        learner_(config.placeto, config.data.devices, config.seed),
        baseline_(config.episodes.baseline) {
    state_.best = std::numeric_limits<double>::infinity();
  }

  Status prepare() {
    courses_ = training_courses(config_);
    if (courses_.empty()) return Status::invalid("no graph to train on fits its devices' memory");
    for (const Course& course : courses_) learner_.add_graph(*course.instance.problem);
    return refresh_policy();
  }

  Status resume() {
    std::string passed_over;
    Result<Checkpoint> found = folder_.load(&passed_over);
    if (!found.ok()) return Status(found.status().code(), passed_over + found.status().message());
    state_ = std::move(*found);
    if (!passed_over.empty() && options_.on_note) {
      options_.on_note(passed_over + "continuing from the checkpoint before");
    }
    std::string learner, baseline;
    Status s = split(state_.learner, learner, baseline);
    if (s.ok()) s = learner_.load(learner);
    if (s.ok() && !baseline_.from_bytes(baseline)) s = Status::bad_input("damaged baseline");
    if (!s.ok()) return s.at(folder_.file("checkpoints"));
    if (s = refresh_policy(); !s.ok()) return s;
    return folder_.truncate_metrics(state_.iteration);
  }

  Status run() {
    start_ = Clock::now();
    seconds_before_ = state_.seconds;
    first_iteration_ = state_.iteration;
    bool stopped = false;
    while (state_.iteration < config_.iterations && !stopped) {
      if (Status s = iterate(); !s.ok()) return s;
      // Hosts stop together: after the iteration in which one told the others.
      stopped =
          options_.hosts != nullptr ? stop_ : options_.stop != nullptr && options_.stop->load();
      const bool last = state_.iteration == config_.iterations;
      if (stopped || last || state_.iteration % config_.check.save_every == 0) {
        state_.learner = join(learner_.save(), baseline_.to_bytes());
        if (Status s = folder_.save(state_, 0); !s.ok()) return s;
      }
    }
    return {};
  }

 private:
  using Clock = std::chrono::steady_clock;

  Status iterate() {
    const double began = elapsed();
    std::vector<EpisodeGroup> groups = draw_groups();
    run_episodes(groups);
    if (Status s = exchange(groups); !s.ok()) return s;
    const double collected = elapsed();
    const Totals totals = total(groups);
    state_.moves += static_cast<uint64_t>(totals.steps);
    find_advantages(groups, config_, baseline_);
    if (Status s = scale_gains(groups, options_.hosts); !s.ok()) return s;
    const Result<PolicyLosses> learnt = learn(groups);
    if (!learnt.ok()) return learnt.status();
    const PolicyLosses& losses = *learnt;
    const double learned = elapsed();
    ++state_.iteration;
    if (Status s = refresh_policy(); !s.ok()) return s;
    if (state_.iteration % config_.check.every == 0 || state_.iteration == config_.iterations) {
      if (Status s = check(); !s.ok()) return s;
    }
    state_.seconds = seconds_before_ + elapsed();
    report(totals, losses);
    return folder_.append_metrics({{"iteration", state_.iteration},
                                   {"seconds", state_.seconds},
                                   {"steps", totals.steps},
                                   {"collect_seconds", collected - began},
                                   {"learn_seconds", learned - collected},
                                   {"return", totals.decrease},
                                   {"last_cost", totals.last_cost},
                                   {"best_cost", totals.best_cost},
                                   {"policy_loss", losses.policy},
                                   {"entropy", losses.entropy},
                                   {"all_action", losses.all_action},
                                   {"clipped", losses.clipped},
                                   {"gradient", losses.gradient},
                                   {"checked_from_heuristic", checked_[0]},
                                   {"checked_from_single", checked_[1]},
                                   {"checked_from_random", checked_[2]}});
  }

  // Falls linearly over the run.
  double faded(double from, double to) const {
    return from + (to - from) * double(state_.iteration) / double(config_.iterations);
  }
  bool exact_gains() const { return faded(with_.all_action, with_.final_all_action) > 0; }
  // A stream of draws for this iteration, whatever came before it.
  Random draws(uint64_t purpose) const {
    return Random(Random(config_.seed * 8 + purpose).next() ^
                  (uint64_t{state_.iteration} * 0xd1342543de82ef95u));
  }

  std::vector<EpisodeGroup> draw_groups() const {
    Random random = draws(1);
    std::vector<EpisodeGroup> groups(with_.graphs);
    for (EpisodeGroup& group : groups) {
      group.course = random.below(static_cast<uint32_t>(courses_.size()));
      group.start = start_named(with_.starts[random.below(uint32_t(with_.starts.size()))]);
      group.start_seed = random.next();
      group.episodes.resize(with_.rollouts);
    }
    return groups;
  }

  uint32_t episode_count() const { return with_.graphs * with_.rollouts; }
  // Those that this host runs and learns from.
  std::pair<uint32_t, uint32_t> own_episodes() const {
    return train::own_episodes(options_.hosts, episode_count());
  }

  void run_episodes(std::vector<EpisodeGroup>& groups) const {
    const uint64_t seed = draws(2).next();
    const auto [first, last] = own_episodes();
    parallel_for(last - first, config_.threads, [&, first = first](uint32_t job) {
      const uint32_t i = first + job;
      EpisodeGroup& group = groups[i / with_.rollouts];
      EpisodeOptions options;
      options.start = group.start;
      options.start_seed = group.start_seed;
      options.passes = with_.passes;
      options.seed = seed + i;
      options.memory_penalty = with_.memory_penalty;
      options.gains = exact_gains();
      group.episodes[i % with_.rollouts] = run_episode(courses_[group.course], *policy_, options);
    });
  }

  Status exchange(std::vector<EpisodeGroup>& groups) {
    if (options_.hosts == nullptr) return {};
    Round round{state_of(state_.iteration, config_text_, policy_->sha256()),
                options_.stop != nullptr && options_.stop->load(), ""};
    const Status status = exchange_costs(*options_.hosts, round, groups);
    stop_ = round.stop;
    return status;
  }

  Result<PolicyLosses> learn(const std::vector<EpisodeGroup>& groups) {
    Random random = draws(3);
    LossWeights weights;
    weights.entropy = faded(with_.entropy, with_.final_entropy);
    weights.all_action = faded(with_.all_action, with_.final_all_action);
    const bool published = config_.algorithm == "reinforce";
    weights.clip = published ? 0 : with_.clip;
    const uint32_t epochs = published ? 1 : with_.epochs;
    const uint32_t episodes = episode_count();
    const uint32_t batches = published ? 1 : std::min(with_.batches, episodes);
    std::vector<uint32_t> order(episodes);
    std::iota(order.begin(), order.end(), 0u);
    PolicyLosses mean;
    for (uint32_t epoch = 0; epoch < epochs; ++epoch) {
      shuffle(order, random);
      for (uint32_t b = 0; b < batches; ++b) {
        const uint32_t begin = episodes * b / batches, end = episodes * (b + 1) / batches;
        const auto batch = std::span(order).subspan(begin, end - begin);
        const Result<PolicyLosses> losses = step(groups, batch, weights, random);
        if (!losses.ok()) return losses.status();
        const double share = 1.0 / (epochs * batches);
        mean.policy += share * losses->policy;
        mean.entropy += share * losses->entropy;
        mean.all_action += share * losses->all_action;
        mean.clipped += share * losses->clipped;
        mean.gradient += share * losses->gradient;
      }
    }
    return mean;
  }

  // One step of the optimizer on the episodes listed: every host adds those it ran.
  Result<PolicyLosses> step(const std::vector<EpisodeGroup>& groups,
                            std::span<const uint32_t> batch, const LossWeights& weights,
                            Random& random) {
    const auto episode = [&](uint32_t i) -> const Episode& {
      return groups[i / with_.rollouts].episodes[i % with_.rollouts];
    };
    const auto wanted = [&](uint32_t i) {
      const uint32_t steps = episode(i).steps();
      return with_.steps == 0 ? steps : std::min(steps, with_.steps);
    };
    const auto [first, last] = own_episodes();
    double total = 0;
    for (const uint32_t i : batch) total += wanted(i);
    for (const uint32_t i : batch) {
      const EpisodeGroup& group = groups[i / with_.rollouts];
      std::vector<uint32_t> steps(episode(i).steps());
      std::iota(steps.begin(), steps.end(), 0u);
      if (wanted(i) < steps.size()) {
        shuffle(steps, random);
        steps.resize(wanted(i));
      }
      if (i < first || i >= last) continue;
      learner_.accumulate(group.course, episode(i), group.advantages[i % with_.rollouts], steps,
                          total, weights);
    }
    if (options_.hosts != nullptr) {
      std::vector<float> added = learner_.added();
      if (Status s = sum_over_hosts(options_.hosts, added); !s.ok()) return s;
      learner_.set_added(added);
    }
    return learner_.apply(faded(with_.learning_rate, with_.final_learning_rate),
                          with_.most_gradient);
  }

  static void shuffle(std::vector<uint32_t>& list, Random& random) {
    for (auto i = static_cast<uint32_t>(list.size()); i > 1; --i) {
      std::swap(list[i - 1], list[random.below(i)]);
    }
  }

  // Episodes are run by the weights as they are, checks by their average.
  Status refresh_policy() {
    Result<std::vector<uint8_t>> bytes =
        export_spec(learner_.acting_policy(), config_, config_text_, state_.moves);
    if (!bytes.ok()) return bytes.status();
    Result<std::shared_ptr<const Policy>> policy = load_exported(*bytes);
    if (!policy.ok()) return policy.status();
    policy_ = std::move(*policy);
    return {};
  }

  // Mean logarithm of the best makespan of a greedy episode over that of `auto`, for every kind of
  // start, on the graphs that it learns from: graphs never seen are for the test.
  Status check() {
    Result<std::vector<uint8_t>> bytes =
        export_spec(learner_.policy(), config_, config_text_, state_.moves);
    if (!bytes.ok()) return bytes.status();
    const auto policy = load_exported(*bytes);
    if (!policy.ok()) return policy.status();
    const auto count = static_cast<uint32_t>(courses_.size());
    std::vector<double> ratio(count * std::size(kStarts));
    parallel_for(static_cast<uint32_t>(ratio.size()), config_.threads, [&](uint32_t i) {
      EpisodeOptions options;
      options.start = kStarts[i / count];
      options.start_seed = 1 + i;
      options.passes = with_.passes;
      options.sample = false;
      options.memory_penalty = with_.memory_penalty;
      ratio[i] = run_episode(courses_[i % count], **policy, options).best_cost;
    });
    double sum = 0;
    for (size_t k = 0; k < std::size(kStarts); ++k) {
      checked_[k] = 0;
      for (uint32_t c = 0; c < count; ++c) checked_[k] += std::log(ratio[k * count + c]) / count;
      // Placing starts from heuristics and single devices; how a policy gets out of a random
      // placement is worth knowing, but decides nothing.
      if (kStarts[k] != Start::kRandom) sum += checked_[k];
    }
    if (!(sum < state_.best)) return {};
    state_.best = sum;
    return write_whole(folder_.file("best.plpo"),
                       {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void report(const Totals& totals, const PolicyLosses& losses) const {
    if (!options_.on_progress) return;
    const double done = state_.iteration - first_iteration_, seconds = elapsed();
    const double left = seconds / done * (config_.iterations - state_.iteration);
    options_.on_progress(
        {state_.iteration, config_.iterations, seconds, left,
         fmt::format("sampled {:.4f}  entropy {:.3f}  greedy {:.4f} {:.4f} {:.4f} of auto",
                     totals.last_cost, losses.entropy, std::exp(checked_[0]), std::exp(checked_[1]),
                     std::exp(checked_[2]))});
  }

  const Config& config_;
  const EpisodesConfig& with_;
  std::string config_text_;
  RunFolder& folder_;
  const TrainOptions& options_;
  std::vector<Course> courses_;
  PlacetoLearner learner_;
  Baseline baseline_;
  Checkpoint state_;
  std::shared_ptr<const Policy> policy_;
  bool stop_ = false;  // a host has been asked to stop
  double checked_[std::size(kStarts)] = {};
  Clock::time_point start_ = Clock::now();
  double seconds_before_ = 0;
  uint32_t first_iteration_ = 0;
};

}  // namespace

Status train_placeto(const Config& config, std::string_view config_text, RunFolder& folder,
                     bool resume, const TrainOptions& options) {
  PlacetoTrainer trainer(config, config_text, folder, options);
  if (Status s = trainer.prepare(); !s.ok()) return s;
  if (resume) {
    if (Status s = trainer.resume(); !s.ok()) return s;
  }
  return trainer.run();
}

Result<std::vector<uint8_t>> export_placeto(const Config& config, std::string_view config_text,
                                            const Checkpoint& checkpoint) {
  PlacetoLearner learner(config.placeto, config.data.devices, config.seed);
  std::string state, baseline;
  if (Status s = split(checkpoint.learner, state, baseline); !s.ok()) return s;
  if (Status s = learner.load(state); !s.ok()) return s;
  return export_spec(learner.policy(), config, config_text, checkpoint.moves);
}

}  // namespace placeto::train
