#include "trainer/pairwise/rollouts.h"

#include <algorithm>
#include <cassert>

#include "runtime/policy/pairwise/pass.h"
#include "trainer/base/bytes.h"
#include "trainer/base/time_ratio.h"
#include "trainer/data/course.h"

namespace placeto::train {
namespace {

// One episode.
class Recorder {
 public:
  Recorder(const Course& course, const Hierarchy& hierarchy, const EpisodesConfig& config,
           const LearnConfig* credit)
      : course_(course),
        hierarchy_(hierarchy),
        config_(config),
        credit_(credit),
        judge_(*course.instance.problem) {}

  void run(PairwisePlacer& placer, const Candidate& start, uint64_t seed) {
    PairwisePassOptions options;
    options.passes = config_.passes;
    options.temperature = static_cast<float>(config_.temperature);
    options.seed = seed;
    options.on_step = [this](const PairwiseStep& step) { record(step); };
    MoveEvaluator evaluator(judge_.problem());
    judge_.rebase(start.assignment);
    now_ = first = best = cost(judge_.score());
    placer.place(start, options, evaluator);
    last = now_;
    begin_level(config_.passes * hierarchy_.level_count());
  }

  Rollouts steps;
  std::vector<uint32_t> level_of;  // per step: number of its level, counted through all passes
  std::vector<double> before;      // per step: cost
  std::vector<double> begun;       // per level, through all passes: cost at its beginning
  double first = 0, last = 0, best = 0;

 private:
  // Logarithms make decreases of different problems comparable.
  double cost(const Score& score) const {
    return log_ratio(score.objective_us, course_.reference_us) +
           config_.memory_penalty * overflow_share(course_, score);
  }

  // Levels without a step begin and end with the cost there is.
  void begin_level(uint32_t number) {
    while (begun.size() <= number) begun.push_back(now_);
  }

  void record(const PairwiseStep& step) {
    // Passes go from the coarsest level down to 0.
    const uint32_t levels = hierarchy_.level_count();
    level_of.push_back(step.pass * levels + levels - 1 - step.level);
    begin_level(level_of.back());
    before.push_back(now_);
    Samples& s = steps.samples;
    s.rows.insert(s.rows.end(), step.rows.begin(), step.rows.end());
    for (const uint32_t device : step.devices) s.gains.push_back(gain(step, device));
    s.close_decision();
    steps.choice.push_back(step.choice);
    steps.log_probability.push_back(step.log_probability);
    if (step.choice == step.devices.size()) return;
    evaluate(step, step.devices[step.choice]);
    judge_.accept();
    now_ = cost(judge_.score());
    best = std::min(best, now_);
  }

  Score evaluate(const PairwiseStep& step, uint32_t device) {
    changes_.clear();
    for (const uint32_t v : hierarchy_.nodes(step.level, step.group)) {
      if (judge_.assignment()[v] != device) changes_.push_back({v, device});
    }
    return changes_.empty() ? judge_.score() : judge_.evaluate(changes_);
  }

  float gain(const PairwiseStep& step, uint32_t device) {
    if (credit_ == nullptr) return 0;
    const double decrease = now_ - cost(evaluate(step, device));
    return static_cast<float>(std::clamp(decrease, credit_->least_gain, credit_->most_gain));
  }

  const Course& course_;
  const Hierarchy& hierarchy_;
  const EpisodesConfig& config_;
  const LearnConfig* credit_;
  MoveEvaluator judge_;  // follows the placer step by step
  double now_ = 0;
  std::vector<Change> changes_;
};

Candidate draw_start(const Course& course, const EpisodesConfig& config, Random& random) {
  const std::string& name = config.starts[random.below(uint32_t(config.starts.size()))];
  return start_of(course, *parse_start(name), random.next());
}

void find_advantages(std::vector<Recorder>& episodes) {
  const auto others = static_cast<double>(episodes.size() - 1);
  for (Recorder& mine : episodes) {
    std::vector<double> expected(mine.begun.size(), 0);  // of the others, per level
    for (const Recorder& e : episodes) {
      if (&e == &mine) continue;
      for (size_t i = 0; i < expected.size(); ++i) expected[i] += (e.begun[i] - e.last) / others;
    }
    for (size_t t = 0; t < mine.before.size(); ++t) {
      mine.steps.advantage.push_back(
          static_cast<float>(mine.before[t] - mine.last - expected[mine.level_of[t]]));
    }
  }
}

}  // namespace

void Rollouts::append(const Rollouts& other) {
  samples.append(other.samples);
  const auto join = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  join(choice, other.choice);
  join(log_probability, other.log_probability);
  join(advantage, other.advantage);
  join(first, other.first);
  join(last, other.last);
  join(best, other.best);
}

std::string Rollouts::to_bytes() const {
  std::string bytes;
  for (const auto* list : {&log_probability, &advantage, &first, &last, &best}) put(*list, bytes);
  put(choice, bytes);
  return bytes + samples.to_bytes();
}

bool Rollouts::from_bytes(std::string_view bytes) {
  for (auto* list : {&log_probability, &advantage, &first, &last, &best}) {
    if (!get(*list, bytes)) return false;
  }
  return get(choice, bytes) && samples.from_bytes(bytes) && choice.size() == steps() &&
         log_probability.size() == steps() && advantage.size() == steps();
}

Rollouts roll_out(Instance instance, const Policy& policy, const EpisodesConfig& config,
                  const LearnConfig* credit, uint64_t seed) {
  assert(config.rollouts > 1);
  Rollouts all;
  const std::optional<Course> course = make_course(std::move(instance));
  if (!course) return all;
  Random random(seed);
  const Candidate start = draw_start(*course, config, random);
  const Problem& problem = *course->instance.problem;
  const Hierarchy hierarchy(problem);
  PairwisePlacer placer(policy, problem, hierarchy);
  std::vector<Recorder> episodes;
  episodes.reserve(config.rollouts);
  for (uint32_t i = 0; i < config.rollouts; ++i) {
    episodes.emplace_back(*course, hierarchy, config, credit).run(placer, start, random.next());
  }
  find_advantages(episodes);
  for (const Recorder& e : episodes) {
    all.append(e.steps);
    all.first.push_back(static_cast<float>(e.first));
    all.last.push_back(static_cast<float>(e.last));
    all.best.push_back(static_cast<float>(e.best));
  }
  return all;
}

}  // namespace placeto::train
