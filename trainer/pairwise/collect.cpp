#include "trainer/pairwise/collect.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/heuristics/heuristics.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/pairwise/node_features.h"
#include "runtime/policy/pairwise/pass.h"
#include "runtime/search/estimate_ranker.h"
#include "runtime/search/search.h"
#include "trainer/base/time_ratio.h"
#include "trainer/pairwise/canonical.h"

namespace placeto::train {
namespace {

class Collector final : public ProposalRanker {
 public:
  Collector(const Instance& instance, const Policy* policy, const CollectConfig& config,
            const LearnConfig& learn, uint64_t seed)
      : problem_(*instance.problem),
        config_(config),
        learn_(learn),
        random_(seed),
        hierarchy_(problem_),
        evaluator_(problem_),
        judge_(problem_),
        state_(problem_),
        features_(problem_, hierarchy_),
        run_(evaluator_),
        ranker_(hierarchy_, run_) {
    if (policy != nullptr) placer_.emplace(*policy, problem_, hierarchy_);
  }

  Samples run() {
    Candidate candidate = draw_start();
    const uint32_t greedy = placer_ ? config_.decisions / 3 : 0;
    if (placer_) greedy_passes(candidate, greedy);
    const double range = std::log(double(config_.max_evaluations) / config_.min_evaluations);
    Budget budget;
    budget.evaluations = static_cast<uint64_t>(
        std::lround(config_.min_evaluations * std::exp(range * random_.uniform())));
    record_share_ =
        (config_.decisions - greedy) / (double(proposals()) * double(budget.evaluations));
    multilevel_search(hierarchy_, budget, random_.next(), evaluator_, candidate, {.ranker = this});
    if (learn_.imitation > 0) ask_expert(candidate.assignment);
    return std::move(samples_);
  }

  uint32_t proposals() const override { return 8; }

  void refresh(const MoveEvaluator& evaluator) override {
    judged_ = false;
    run_.base_changed();
    if (learn_.embedding > 0 && samples_.graphs.empty()) {
      // As a policy would see it that makes no pass before the search.
      state_.refresh(evaluator);
      std::vector<float> rows(size_t{problem_.node_count()} * kNodeFeatures);
      node_features(state_, rows.data());
      add_graph(rows);
    }
  }

  // As searches rank moves.
  float score(uint32_t level, uint32_t group, uint32_t device, float least) override {
    if (random_.uniform() < record_share_) record_now(level, group);
    return ranker_.score(level, group, device, least);
  }

 private:
  // The best heuristic, that with some groups moved at random, one device, or random devices.
  Candidate draw_start() {
    Candidate start;
    const double kind = random_.uniform();
    if (kind < 0.75) {
      MethodOptions options;
      options.passes = 1 + random_.below(4);
      Result<PlaceResult> best = place_auto(problem_, options);
      if (best.ok()) start = std::move(best->best);
      if (kind > 0.45 && best.ok()) disturb(start);
    } else if (kind < 0.85) {
      Evaluator evaluator(problem_);
      std::vector<Candidate> all = place_on_each_device(problem_, evaluator);
      start = std::move(all[random_.below(static_cast<uint32_t>(all.size()))]);
    }
    if (start.assignment.empty()) {
      MethodOptions options;
      options.seed = random_.next();
      start = *random_method().place(problem_, options);
    }
    return start;
  }

  void disturb(Candidate& start) {
    for (uint32_t moves = 1 + random_.below(4); moves > 0; --moves) {
      const uint32_t level = random_.below(hierarchy_.level_count());
      const uint32_t group = random_.below(hierarchy_.group_count(level));
      const uint32_t device = random_.below(problem_.device_count());
      if (!hierarchy_.allowed(level, group, device)) continue;
      for (uint32_t v : hierarchy_.nodes(level, group)) start.assignment[v] = device;
    }
  }

  // Records the rows as the passes see them: between checks their times are old.
  void greedy_passes(Candidate& candidate, uint32_t wanted) {
    size_t steps = 0;
    for (uint32_t level = 0; level < hierarchy_.level_count(); ++level) {
      steps += hierarchy_.group_count(level);
    }
    const double share = wanted / (2.0 * double(steps));  // usually about two passes
    PairwisePassOptions options;
    options.passes = passes_that_pay(problem_.node_count());
    // Some passes draw their choices: states near those of the arg max.
    if (random_.below(3) == 0) options.temperature = 0.003f;
    options.seed = random_.next();
    uint64_t last = 0;
    std::vector<Change> pending;
    options.on_step = [&](const PairwiseStep& step) {
      if (evaluator_.evaluations() != last) pending.clear();
      last = evaluator_.evaluations();
      if (random_.uniform() < share) record_step(step, pending);
      if (step.choice == step.devices.size()) return;
      for (uint32_t v : hierarchy_.nodes(step.level, step.group)) {
        pending.push_back({v, step.devices[step.choice]});
      }
    };
    Candidate best = placer_->place(candidate, options, evaluator_);
    if (random_.below(4) != 0) candidate = std::move(best);
  }

  void record_step(const PairwiseStep& step, const std::vector<Change>& pending) {
    Assignment now(evaluator_.assignment().begin(), evaluator_.assignment().end());
    for (const Change& change : pending) now[change.node] = change.device;
    judge_.rebase(now);
    judged_ = false;
    samples_.rows.insert(samples_.rows.end(), step.rows.begin(), step.rows.end());
    credit(step.level, step.group, step.devices);
  }

  void record_now(uint32_t level, uint32_t group) {
    if (!judged_) {
      judge_.rebase(evaluator_.assignment());
      state_.refresh(judge_);
      judged_ = true;
    }
    features_.begin(state_, level, group);
    const auto devices = features_.candidates();
    if (devices.empty()) return;
    for (uint32_t device : devices) {
      samples_.rows.resize(samples_.rows.size() + kPairFeatures);
      features_.row(device, samples_.rows.data() + samples_.rows.size() - kPairFeatures);
    }
    credit(level, group, devices);
  }

  // Exact gains of moving the group from the placement that the judge holds.
  void credit(uint32_t level, uint32_t group, std::span<const uint32_t> devices) {
    for (uint32_t device : devices) {
      changes_.clear();
      for (uint32_t v : hierarchy_.nodes(level, group)) {
        if (judge_.assignment()[v] != device) changes_.push_back({v, device});
      }
      samples_.gains.push_back(static_cast<float>(
          changes_.empty() ? 0 : gain(judge_.score(), judge_.evaluate(changes_))));
    }
    samples_.close_decision();
    if (learn_.embedding > 0) close_members(level, group);
    if (learn_.imitation <= 0) return;
    const auto now = judge_.assignment();
    decisions_.push_back(
        {level, group, {devices.begin(), devices.end()}, {now.begin(), now.end()}});
  }

  void add_graph(std::span<const float> rows) {
    samples_.graphs.push_back(GraphState::of(problem_.graph(), rows));
  }

  // With the embedding in use: usually older than the rows of the candidates.
  void close_members(uint32_t level, uint32_t group) {
    if (placer_ && placer_->scorer().embeddings() != embeddings_) {
      embeddings_ = placer_->scorer().embeddings();
      add_graph(placer_->scorer().node_rows());
    }
    samples_.close_members(hierarchy_.nodes(level, group));
  }

  // What `placed`, which a search found, makes of each group that was decided about.
  void ask_expert(std::span<const uint32_t> placed) {
    const bool alike = devices_alike(problem_);
    for (size_t i = 0; i < decisions_.size(); ++i) {
      const Decision& d = decisions_[i];
      const Assignment wanted =
          alike ? renamed_like(problem_, placed, d.now) : Assignment(placed.begin(), placed.end());
      samples_.expert[i] =
          Samples::expert_choice(hierarchy_.nodes(d.level, d.group), d.devices, d.now, wanted);
    }
  }

  double gain(const Score& before, const Score& after) const {
    if (after.overflow_bytes != before.overflow_bytes) {
      return after.overflow_bytes < before.overflow_bytes ? learn_.most_gain : learn_.least_gain;
    }
    return std::clamp(log_ratio(before.objective_us, after.objective_us), learn_.least_gain,
                      learn_.most_gain);
  }

  const Problem& problem_;
  const CollectConfig& config_;
  const LearnConfig& learn_;
  Random random_;
  Hierarchy hierarchy_;
  MoveEvaluator evaluator_, judge_;  // of the placer; of the credit
  PlacementState state_;
  MoveFeatures features_;
  CurrentRun run_;  // of the search's placement
  EstimateRanker ranker_;
  std::optional<PairwisePlacer> placer_;
  bool judged_ = false;  // judge_ and state_ are of the search's placement
  double record_share_ = 0;
  uint64_t embeddings_ = 0;  // of the placer, when samples_.graphs.back() was recorded
  std::vector<Change> changes_;
  // What a decision was about, and the placement it was made in: for the expert.
  struct Decision {
    uint32_t level, group;
    std::vector<uint32_t> devices;
    Assignment now;
  };
  std::vector<Decision> decisions_;
  Samples samples_;
};

}  // namespace

Samples collect(const Instance& instance, const Policy* policy, const CollectConfig& config,
                const LearnConfig& learn, uint64_t seed) {
  return Collector(instance, policy, config, learn, seed).run();
}

}  // namespace placeto::train
