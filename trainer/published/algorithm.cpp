#include "trainer/published/algorithm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "trainer/base/parallel.h"
#include "trainer/nn/begin_with_file.h"
#include "trainer/published/courses.h"

namespace placeto::train {

static const std::string kOnStages =
    "staged execution: episodes and checks of architecture placeto end with the policy's passes, "
    "whose stages are made by rule. place divides into stages after them, which is not learned. "
    "(pairwise is checked by what place does, and eval shows that of both.)";

PublishedAlgorithm::PublishedAlgorithm(const Config& config)
    : config_(config),
      with_(config.episodes),
      learner_(config.placeto, config.data.devices, config.seed, config.learn.processor),
      stuck_(config) {}

Status PublishedAlgorithm::begin(Run& run, bool resumed) {
  if (!resumed && !config_.learn.start.empty()) {
    if (Status s = begin_with_file(config_, learner_); !s.ok()) return s;
  }
  const auto [first, last] = run.share(episode_count());
  Result<std::vector<Course>> courses =
      training_courses(config_, run.problems, last - first, run.options.stop);
  if (!courses.ok()) return courses.status();
  courses_ = std::move(*courses);
  if (courses_.empty()) return Status::invalid("no graph to train on fits its devices' memory");
  for (const Course& course : courses_) learner_.add_graph(*course.instance.problem);
  const auto is_staged = [](const Course& c) { return c.instance.problem->is_staged(); };
  if (run.options.on_note && std::any_of(courses_.begin(), courses_.end(), is_staged)) {
    run.options.on_note(kOnStages);
  }
  gradients_at_once_ = gradients_at_once(config_, courses_, last - first);
  return {};
}

Result<Iteration> PublishedAlgorithm::iterate(Run& run) {
  const Stopwatch watch;
  std::vector<Siblings> all = sample(run);
  if (run.options.on_episode) {
    for (const Siblings& siblings : all) {
      for (const Episode& episode : siblings.episodes) run.options.on_episode(episode);
    }
  }
  if (Status s = exchange_costs(run, all); !s.ok()) return s;
  const double collected = watch.seconds();
  const Totals totals = total(all);
  find_advantages(all);
  if (Status s = scale_gains(all, run); !s.ok()) return s;
  const Result<PolicyLosses> losses = learn(run, all);
  if (!losses.ok()) return losses.status();
  stuck_.see(losses->entropy, run.state.best);
  if (const std::string news = stuck_.news(); !news.empty() && run.options.on_note) {
    run.options.on_note(news);
  }
  return Iteration{static_cast<uint64_t>(totals.steps),
                   fmt::format("sampled {:.4f}  entropy {:.3f}{}", totals.last_cost,
                               losses->entropy, stuck_.is_stuck() ? "  stuck" : ""),
                   {{"steps", totals.steps},
                    {"collect_seconds", collected},
                    {"learn_seconds", watch.seconds() - collected},
                    {"return", totals.decrease},
                    {"last_cost", totals.last_cost},
                    {"best_cost", totals.best_cost},
                    {"policy_loss", losses->policy},
                    {"entropy", losses->entropy},
                    {"all_action", losses->all_action},
                    {"clipped", losses->clipped},
                    {"gradient", losses->gradient},
                    {"stuck", stuck_.iterations()}}};
}

Random PublishedAlgorithm::draws(const Run& run, Purpose purpose) const {
  return Random(Random(config_.seed * 8 + purpose).next() ^
                (uint64_t{run.state.iteration} * 0xd1342543de82ef95u));
}

std::vector<Siblings> PublishedAlgorithm::draw_starts(const Run& run) const {
  Random random = draws(run, kStartsAndGraphs);
  std::vector<Siblings> all(with_.graphs);
  for (Siblings& siblings : all) {
    siblings.course = random.below(static_cast<uint32_t>(courses_.size()));
    siblings.start = *parse_start(with_.starts[random.below(uint32_t(with_.starts.size()))]);
    siblings.start_seed = random.next();
    siblings.episodes.resize(with_.rollouts);
  }
  return all;
}

// This host's share of the episodes.
std::vector<Siblings> PublishedAlgorithm::sample(const Run& run) const {
  std::vector<Siblings> all = draw_starts(run);
  const uint64_t seed = draws(run, kChoices).next();
  const bool gains = run.faded(with_.all_action, with_.final_all_action) > 0;
  const auto [first, last] = run.share(episode_count());
  parallel_for(last - first, config_.threads, [&, first = first](uint32_t job) {
    const uint32_t i = first + job;
    Siblings& siblings = all[i / with_.rollouts];
    EpisodeOptions options;
    options.start = siblings.start;
    options.start_seed = siblings.start_seed;
    options.passes = with_.passes;
    options.seed = seed + i;
    options.memory_penalty = with_.memory_penalty;
    options.gains = gains;
    siblings.episodes[i % with_.rollouts] =
        run_episode(courses_[siblings.course], *run.policy, options);
  });
  return all;
}

Result<PolicyLosses> PublishedAlgorithm::step(Run& run, const std::vector<Siblings>& all,
                                              std::span<const uint32_t> episodes,
                                              const PolicyLoss& policy_loss, Random& random) {
  const auto episode = [&](uint32_t i) -> const Episode& {
    return all[i / with_.rollouts].episodes[i % with_.rollouts];
  };
  const auto wanted = [&](uint32_t i) {
    const uint32_t steps = episode(i).steps();
    return with_.steps == 0 ? steps : std::min(steps, with_.steps);
  };
  const LossWeights weights{.entropy = run.faded(with_.entropy, with_.final_entropy),
                            .all_action = run.faded(with_.all_action, with_.final_all_action)};
  const auto [first, last] = run.share(episode_count());
  double total = 0;
  for (const uint32_t i : episodes) total += wanted(i);
  std::vector<uint32_t> mine;
  std::vector<std::vector<uint32_t>> steps_of_mine;
  for (const uint32_t i : episodes) {
    std::vector<uint32_t> steps(episode(i).steps());
    std::iota(steps.begin(), steps.end(), 0u);
    if (wanted(i) < steps.size()) {
      shuffle(steps, random);
      steps.resize(wanted(i));
    }
    if (i < first || i >= last) continue;
    mine.push_back(i);
    steps_of_mine.push_back(std::move(steps));
  }
  std::vector<std::vector<float>> gradients(mine.size());
  parallel_for(static_cast<uint32_t>(mine.size()), gradients_at_once_, [&](uint32_t m) {
    const uint32_t i = mine[m];
    const Siblings& siblings = all[i / with_.rollouts];
    gradients[m] =
        learner_.gradient(siblings.course, episode(i), siblings.advantages[i % with_.rollouts],
                          steps_of_mine[m], total, policy_loss, weights);
  });
  // In the order of the episodes: sums do not depend on how many threads there are.
  std::vector<float> sum = learner_.no_gradient();
  for (const std::vector<float>& gradient : gradients) {
    std::ranges::transform(sum, gradient, sum.begin(), std::plus());
  }
  if (run.options.hosts != nullptr) {
    if (Status s = sum_over_hosts(run, sum); !s.ok()) return s;
  }
  return learner_.descend(sum, run.faded(with_.learning_rate, with_.final_learning_rate),
                          with_.most_gradient);
}

Result<PolicyLosses> PublishedAlgorithm::descend(Run& run, const std::vector<Siblings>& all,
                                                 uint32_t epochs, const PolicyLoss& policy_loss) {
  Random random = draws(run, kMinibatches);
  const uint32_t episodes = episode_count(), batches = std::min(with_.batches, episodes);
  std::vector<uint32_t> order(episodes);
  std::iota(order.begin(), order.end(), 0u);
  PolicyLosses mean;
  for (uint32_t epoch = 0; epoch < epochs; ++epoch) {
    shuffle(order, random);
    for (uint32_t b = 0; b < batches; ++b) {
      const uint32_t begin = episodes * b / batches, end = episodes * (b + 1) / batches;
      const Result<PolicyLosses> losses =
          step(run, all, std::span(order).subspan(begin, end - begin), policy_loss, random);
      if (!losses.ok()) return losses.status();
      mean.add(*losses, 1.0 / (epochs * batches));
    }
  }
  return mean;
}

std::vector<std::string> PublishedAlgorithm::checked_names() const {
  std::vector<std::string> names;
  for (const char* start : kStartNames) names.push_back(std::string("from_") + start);
  return names;
}

Check PublishedAlgorithm::check(const Run&, std::shared_ptr<const Policy> policy) const {
  const auto count = static_cast<uint32_t>(courses_.size());
  std::vector<double> ratio(count * std::size(kStarts));
  parallel_for(static_cast<uint32_t>(ratio.size()), config_.threads, [&](uint32_t i) {
    EpisodeOptions options;
    options.start = kStarts[i / count];
    options.start_seed = 1 + i;
    options.passes = with_.passes;
    options.sample = false;
    options.memory_penalty = with_.memory_penalty;
    ratio[i] = run_episode(courses_[i % count], *policy, options).best_cost;
  });
  Check found;
  for (size_t k = 0; k < std::size(kStarts); ++k) {
    double& mean = found.measured.emplace_back(0);
    for (uint32_t c = 0; c < count; ++c) mean += std::log(ratio[k * count + c]) / count;
    // Placing starts from heuristics and single devices; how a policy gets out of a random
    // placement is worth knowing, but decides nothing.
    if (kStarts[k] != Start::kRandom) found.value += mean;
  }
  return found;
}

}  // namespace placeto::train
