#include "trainer/train/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <filesystem>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/pairwise/features.h"
#include "trainer/base/files.h"
#include "trainer/base/parallel.h"
#include "trainer/eval/evaluate.h"
#include "trainer/pairwise/collect.h"
#include "trainer/pairwise/learner.h"
#include "trainer/pairwise/rollouts.h"
#include "trainer/train/export.h"
#include "trainer/train/train_placeto.h"

namespace placeto::train {
namespace {

constexpr uint64_t kCheckedBudget = 300;  // evaluations of the guided search in checks

// How well scores foretell exact gains.
struct Agreement {
  double correlation = 0;
  double found = 0;      // of decisions where a candidate improves: arg max improves, too
  double improving = 0;  // share of moves that improve
};

Agreement agreement(const Samples& samples, const std::vector<float>& scores) {
  double s = 0, g = 0, ss = 0, gg = 0, sg = 0, improving = 0;
  const double n = std::max(1u, samples.row_count());
  for (uint32_t r = 0; r < samples.row_count(); ++r) {
    const double x = scores[r], y = samples.gains[r];
    s += x, g += y, ss += x * x, gg += y * y, sg += x * y;
    improving += y > 0 ? 1 : 0;
  }
  uint32_t offered = 0, taken = 0;
  for (uint32_t i = 0; i < samples.groups(); ++i) {
    const auto from = samples.offset[i], to = samples.offset[i + 1];
    if (*std::max_element(&samples.gains[from], samples.gains.data() + to) <= 0) continue;
    ++offered;
    const auto best = std::max_element(scores.begin() + from, scores.begin() + to);
    if (*best > 0 && samples.gains[static_cast<size_t>(best - scores.begin())] > 0) ++taken;
  }
  const double spread = std::sqrt(std::max(1e-30, (ss - s * s / n) * (gg - g * g / n)));
  return {(sg - s * g / n) / spread, offered == 0 ? 0 : double(taken) / offered, improving / n};
}

class Trainer {
 public:
  Trainer(const Config& config, std::string_view config_text, RunFolder& folder,
          const TrainOptions& options)
      : config_(config),
        config_text_(config_text),
        folder_(folder),
        options_(options),
        learner_(config.learn, config.seed) {
    state_.best = std::numeric_limits<double>::infinity();
  }

  // With learn.start, or for rollouts, which act from the first iteration on.
  Status begin() {
    if (!config_.learn.start.empty()) {
      Result<std::string> bytes = read_text(config_.learn.start);
      if (!bytes.ok()) return bytes.status();
      const std::vector<uint8_t> file(bytes->begin(), bytes->end());
      Result<PolicySpec> policy = decode_policy(file, known_features());
      if (!policy.ok()) return policy.status().at(config_.learn.start);
      if (Status s = learner_.begin_with(*policy); !s.ok()) return s.at(config_.learn.start);
    }
    return config_.learn.start.empty() && !group() ? Status{} : refresh_policy();
  }

  Status resume() {
    std::string passed_over;
    Result<Checkpoint> found = folder_.load(&passed_over);
    if (!found.ok()) {
      return Status(found.status().code(), passed_over + found.status().message());
    }
    state_ = std::move(*found);
    if (!passed_over.empty() && options_.on_note) {
      options_.on_note(passed_over + "continuing from the checkpoint before");
    }
    if (Status s = learner_.load(state_.learner); !s.ok()) return s.at(folder_.file("checkpoints"));
    // The next iteration's own records push the oldest of a full window out.
    const uint32_t before = state_.iteration + 1, window = config_.learn.window;
    const uint32_t first = before > window ? before - window : 0;
    if (group()) return resumed();
    for (uint32_t i = first; i < state_.iteration; ++i) {
      Result<Samples> records = folder_.load_records(i);
      if (!records.ok()) return records.status();
      window_.push_back(std::move(*records));
    }
    return resumed();
  }

  Status run() {
    start_ = Clock::now();
    seconds_before_ = state_.seconds;
    first_iteration_ = state_.iteration;
    bool stopped = false;
    while (state_.iteration < config_.iterations && !stopped) {
      if (Status s = group() ? iterate_rollouts() : iterate(); !s.ok()) return s;
      // Hosts stop together: after the iteration in which one told the others.
      stopped =
          options_.hosts != nullptr ? stop_ : options_.stop != nullptr && options_.stop->load();
      const bool last = state_.iteration == config_.iterations;
      if (stopped || last || state_.iteration % config_.check.save_every == 0) {
        state_.learner = learner_.save();
        if (Status s = folder_.save(state_, group() ? 0 : config_.learn.window); !s.ok()) return s;
      }
    }
    return {};
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool group() const { return config_.algorithm == "group"; }

  Status resumed() {
    if (Status s = refresh_policy(); !s.ok()) return s;
    return folder_.truncate_metrics(state_.iteration);
  }

  Status iterate() {
    Result<Samples> collected_now = collect_problems();
    if (!collected_now.ok()) return collected_now.status();
    Samples fresh = std::move(*collected_now);
    if (state_.iteration == 0) learner_.set_normalisation(measure_normalisation(fresh));
    const Agreement agreed = agreement(fresh, learner_.score(fresh));
    state_.moves += fresh.row_count();
    const double groups = fresh.groups(), moves = fresh.row_count();
    if (Status s = folder_.save_records(state_.iteration, fresh); !s.ok()) return s;
    window_.push_back(std::move(fresh));
    if (window_.size() > config_.learn.window) window_.pop_front();
    if (std::all_of(window_.begin(), window_.end(),
                    [](const Samples& s) { return s.groups() == 0; })) {
      return Status::bad_input(
          "no decision was recorded: expected more of collect.groups or "
          "collect.problems, or larger graphs");
    }
    const double collected = elapsed();
    const Losses losses = learn();
    ++state_.iteration;
    if (Status s = refresh_policy(); !s.ok()) return s;
    if (state_.iteration % config_.check.every == 0 || state_.iteration == config_.iterations) {
      if (Status s = check(); !s.ok()) return s;
    }
    const double seconds = elapsed();
    state_.seconds = seconds_before_ + seconds;
    report(fmt::format("correlation {:.3f}", agreed.correlation), seconds);
    return folder_.append_metrics({{"iteration", state_.iteration},
                                   {"seconds", state_.seconds},
                                   {"groups", groups},
                                   {"moves", moves},
                                   {"collect_seconds", collected - last_elapsed(seconds)},
                                   {"improving", agreed.improving},
                                   {"correlation", agreed.correlation},
                                   {"improving_found", agreed.found},
                                   {"regression", losses.regression},
                                   {"all_action", losses.all_action},
                                   {"imitation", losses.imitation},
                                   {"checked_greedy", greedy_},
                                   {"checked_guided", guided_}});
  }

  // One of `group`: sampled passes, and what their returns teach.
  Status iterate_rollouts() {
    if (state_.iteration == 0 && config_.learn.start.empty()) {
      Result<Rollouts> first = collect_rollouts();  // by weights as drawn, to measure features
      if (!first.ok()) return first.status();
      learner_.set_normalisation(measure_normalisation(first->samples));
      if (Status s = refresh_policy(); !s.ok()) return s;
    }
    Result<Rollouts> rollouts = collect_rollouts();
    if (!rollouts.ok()) return rollouts.status();
    if (rollouts->steps() == 0) return Status::invalid("rollouts found nothing to decide");
    state_.moves += rollouts->steps();
    const double collected = elapsed();
    const Losses losses = learn_from(*rollouts);
    ++state_.iteration;
    if (Status s = refresh_policy(); !s.ok()) return s;
    if (state_.iteration % config_.check.every == 0 || state_.iteration == config_.iterations) {
      if (Status s = check(); !s.ok()) return s;
    }
    const double seconds = elapsed();
    state_.seconds = seconds_before_ + seconds;
    const auto mean = [](const std::vector<float>& list) {
      return std::accumulate(list.begin(), list.end(), 0.0) / double(list.size());
    };
    report(fmt::format("sampled {:.4f} of auto", std::exp(mean(rollouts->last))), seconds);
    return folder_.append_metrics({{"iteration", state_.iteration},
                                   {"seconds", state_.seconds},
                                   {"steps", rollouts->steps()},
                                   {"collect_seconds", collected - last_elapsed(seconds)},
                                   {"first_cost", mean(rollouts->first)},
                                   {"last_cost", mean(rollouts->last)},
                                   {"best_cost", mean(rollouts->best)},
                                   {"policy_loss", losses.policy},
                                   {"entropy", losses.entropy},
                                   {"clipped", losses.clipped},
                                   {"regression", losses.regression},
                                   {"all_action", losses.all_action},
                                   {"checked_greedy", greedy_},
                                   {"checked_guided", guided_}});
  }

  double faded(double from, double to) const {
    return from + (to - from) * double(state_.iteration) / double(config_.iterations);
  }

  // This host's share of the rollouts, and those of all hosts.
  Result<Rollouts> collect_rollouts() {
    const EpisodesConfig& with = config_.episodes;
    const auto [first, last] =
        options_.hosts != nullptr ? options_.hosts->share(with.graphs) : std::pair{0u, with.graphs};
    const bool gains = faded(with.all_action, with.final_all_action) > 0;
    std::vector<Rollouts> parts(last - first);
    parallel_for(last - first, config_.threads, [&, first = first](uint32_t i) {
      const uint64_t seed = problem_seed(Split::kTrain, config_.seed,
                                         uint64_t{state_.iteration} * with.graphs + first + i);
      parts[i] = roll_out(draw_problem(config_.data, seed), *policy_, with,
                          gains ? &config_.learn : nullptr, seed + 1);
    });
    Rollouts mine;
    for (const Rollouts& part : parts) mine.append(part);
    if (options_.hosts == nullptr) return mine;
    return exchange(mine);
  }

  // Several epochs of minibatches; advantages are scaled to unit variance.
  Losses learn_from(const Rollouts& rollouts) {
    const EpisodesConfig& with = config_.episodes;
    double squares = 0;
    for (const float a : rollouts.advantage) squares += double(a) * double(a);
    RolloutWeights weights;
    weights.temperature = with.temperature;
    weights.clip = with.clip;
    weights.entropy = faded(with.entropy, with.final_entropy);
    weights.credit = faded(with.all_action, with.final_all_action);
    weights.advantage = 1 / std::sqrt(std::max(1e-12, squares / rollouts.steps()));
    Random random(Random(config_.seed + 0x10000).next() ^ state_.iteration);
    std::vector<uint32_t> order(rollouts.steps());
    std::iota(order.begin(), order.end(), 0u);
    const auto batches = std::min(with.batches, rollouts.steps());
    const double share = 1.0 / (with.epochs * batches);
    Losses mean;
    for (uint32_t epoch = 0; epoch < with.epochs; ++epoch) {
      for (auto i = rollouts.steps(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
      for (uint64_t b = 0; b < batches; ++b) {
        const uint64_t begin = order.size() * b / batches, end = order.size() * (b + 1) / batches;
        const Losses l =
            learner_.step(rollouts, std::span(order).subspan(begin, end - begin), weights,
                          faded(with.learning_rate, with.final_learning_rate));
        mean.policy += share * l.policy;
        mean.entropy += share * l.entropy;
        mean.clipped += share * l.clipped;
        mean.regression += share * l.regression;
        mean.all_action += share * l.all_action;
      }
    }
    return mean;
  }

  // This host's share of the iteration's problems, and the records of all hosts.
  Result<Samples> collect_problems() {
    const uint32_t count = config_.collect.problems;
    const auto [first, last] =
        options_.hosts != nullptr ? options_.hosts->share(count) : std::pair{0u, count};
    std::vector<Samples> parts(last - first);
    parallel_for(last - first, config_.threads, [&, first = first](uint32_t i) {
      const uint64_t seed =
          problem_seed(Split::kTrain, config_.seed, uint64_t{state_.iteration} * count + first + i);
      const Instance instance = draw_problem(config_.data, seed);
      parts[i] = collect(instance, policy_.get(), config_.collect, config_.learn, seed + 1);
    });
    Samples mine;
    for (const Samples& part : parts) mine.append(part);
    if (options_.hosts == nullptr) return mine;
    return exchange(mine);
  }

  template <class Records>
  Result<Records> exchange(const Records& mine) {
    Round round{
        state_of(state_.iteration, config_text_, policy_ ? policy_->sha256() : Sha256Digest{}),
        options_.stop != nullptr && options_.stop->load(), mine.to_bytes()};
    const Result<std::vector<std::string>> records = exchange_round(*options_.hosts, round);
    if (!records.ok()) return records.status();
    stop_ = round.stop;
    Records all;
    for (const std::string& bytes : *records) {
      Records part;
      if (!part.from_bytes(bytes)) return Status::io("records of another host are damaged");
      all.append(part);
    }
    return all;
  }

  // Decisions drawn uniformly from the window, whose parts end at `end`; with a graph network,
  // several on each state of a graph that comes up, so that fewer are to be embedded.
  Samples draw_batch(std::span<const uint32_t> end, Random& random) const {
    const LearnConfig& learn = config_.learn;
    const uint32_t alike = learn.embedding > 0 ? (learn.groups - 1) / learn.graphs + 1 : 1;
    Samples batch;
    while (batch.groups() < learn.groups) {
      const uint32_t pick = random.below(end.back());
      const auto at = std::upper_bound(end.begin(), end.end(), pick) - end.begin();
      const Samples& part = window_[size_t(at)];
      const uint32_t decision = pick - (at == 0 ? 0 : end[size_t(at) - 1]);
      batch.append_group(part, decision);
      for (uint32_t i = 1; i < alike; ++i) {
        const auto [first, last] = part.same_graph(decision);
        batch.append_group(part, first + random.below(last - first));
      }
    }
    return batch;
  }

  // The stream of draws follows from the seed and the iteration, so a run that continues draws the
  // same.
  Losses learn() {
    Random random(Random(config_.seed + 0x10000).next() ^ state_.iteration);
    std::vector<uint32_t> end;  // of each part of the window, in decisions
    uint32_t total = 0;
    for (const Samples& part : window_) end.push_back(total += part.groups());
    Losses sum;
    for (uint32_t step = 0; step < config_.learn.steps; ++step) {
      const Losses losses = learner_.step(draw_batch(end, random), learning_rate(step));
      sum.regression += losses.regression / config_.learn.steps;
      sum.all_action += losses.all_action / config_.learn.steps;
      sum.imitation += losses.imitation / config_.learn.steps;
    }
    return sum;
  }

  double learning_rate(uint32_t step) const {
    const double done =
        (state_.iteration + double(step) / config_.learn.steps) / config_.iterations;
    return config_.learn.learning_rate +
           done * (config_.learn.final_learning_rate - config_.learn.learning_rate);
  }

  Status refresh_policy() {
    Result<std::vector<uint8_t>> bytes =
        export_policy(learner_, config_, config_text_, state_.moves);
    if (!bytes.ok()) return bytes.status();
    exported_ = std::move(*bytes);
    Result<std::shared_ptr<const Policy>> policy = load_exported(exported_);
    if (!policy.ok()) return policy.status();
    policy_ = std::move(*policy);
    return {};
  }

  // Mean logarithm of makespan over that of `auto`, on held-out problems.
  Status check() {
    EvaluateOptions what;
    what.budgets = {kCheckedBudget};
    what.long_searches = 0;
    what.heuristics = what.unguided = false;
    const uint32_t count = config_.check.problems;
    std::vector<std::optional<Graded>> graded(count);
    parallel_for(count, config_.threads, [&](uint32_t i) {
      const uint64_t seed = problem_seed(Split::kValidation, config_.seed, i);
      graded[i] = grade(draw_problem(config_.data, seed), *policy_, what);
    });
    double greedy = 0, guided = 0, n = 0;
    for (const auto& g : graded) {
      if (!g) continue;
      greedy += std::log(g->makespan_us("policy") / g->makespan_us("auto"));
      guided += std::log(g->makespan_us("guided " + std::to_string(kCheckedBudget)) /
                         g->makespan_us("auto"));
      n += 1;
    }
    greedy_ = greedy / n;
    guided_ = guided / n;
    if (!(greedy_ + guided_ < state_.best)) return {};
    state_.best = greedy_ + guided_;
    return write_whole(folder_.file("best.plpo"),
                       {reinterpret_cast<const char*>(exported_.data()), exported_.size()});
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  // When the iteration under way began; `now` begins the next.
  double last_elapsed(double now) { return std::exchange(iteration_began_, now); }

  void report(const std::string& what, double seconds) const {
    if (!options_.on_progress) return;
    const double done = state_.iteration - first_iteration_;
    const double left = seconds / done * (config_.iterations - state_.iteration);
    options_.on_progress({state_.iteration, config_.iterations, seconds, left,
                          fmt::format("{}  greedy {:.4f}  guided search {:.4f} of auto", what,
                                      std::exp(greedy_), std::exp(guided_))});
  }

  const Config& config_;
  std::string config_text_;
  RunFolder& folder_;
  const TrainOptions& options_;
  Learner learner_;
  Checkpoint state_;
  std::deque<Samples> window_;
  std::vector<uint8_t> exported_;
  std::shared_ptr<const Policy> policy_;
  bool stop_ = false;  // a host has been asked to stop
  double greedy_ = 0, guided_ = 0;
  Clock::time_point start_;
  double seconds_before_ = 0, iteration_began_ = 0;
  uint32_t first_iteration_ = 0;
};

}  // namespace

Status train(const Config& config, std::string_view config_text, RunFolder& folder, bool resume,
             const TrainOptions& options) {
  if (config.architecture == "placeto") {
    return train_placeto(config, config_text, folder, resume, options);
  }
  Trainer trainer(config, config_text, folder, options);
  if (Status s = resume ? trainer.resume() : trainer.begin(); !s.ok()) return s;
  return trainer.run();
}

Result<std::vector<uint8_t>> export_run(const Config& config, std::string_view config_text,
                                        const RunFolder& folder) {
  std::string passed_over;
  Result<Checkpoint> checkpoint = folder.load(&passed_over);
  if (!checkpoint.ok())
    return Status(checkpoint.status().code(), passed_over + checkpoint.status().message());
  if (config.architecture == "placeto") return export_placeto(config, config_text, *checkpoint);
  Learner learner(config.learn, config.seed);
  if (Status s = learner.load(checkpoint->learner); !s.ok()) {
    return s.at(folder.file("checkpoints"));
  }
  return export_policy(learner, config, config_text, checkpoint->moves);
}

}  // namespace placeto::train
