#include "runtime/heuristics/search.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "runtime/base/portable_math.h"
#include "runtime/base/random.h"
#include "runtime/heuristics/waiting_chain.h"

namespace placeto {
namespace {

// Measured on 60 random graphs of 40 to 160 nodes (communication-to-computation 0.06 to 10), mean
// ratio to the best known after 1,000 evaluations: anchors on the waiting chain 0, 0.3, 0.6, 0.9 of
// the time: 1.052, 1.044, 1.042, 1.042; kHot 0.03, 0.01, 0.005, 0.002: 1.078, 1.059, 1.052, 1.053.

// Temperature as a share of the makespan at the first and the last evaluation; it falls linearly.
constexpr double kHot = 0.005, kCold = 0.0001;
// How often a move starts from a node that the makespan waits for, and how often it goes to the
// device of a neighbour.
constexpr double kOnChain = 0.6, kToNeighbour = 0.5;
// Random proposals a ranker chooses from. More would make it repeat itself.
constexpr int kProposals = 8;

// How much of a budget is used, in [0, 1].
class Clock {
 public:
  Clock(const Budget& budget, const MoveEvaluator& evaluator)
      : budget_(budget), evaluator_(evaluator), first_(evaluator.evaluations()) {
    if (budget.milliseconds > 0) start_ = std::chrono::steady_clock::now();
  }
  double used() const {
    double share = 0;
    Stop* const stop = evaluator_.stop();
    if (stop != nullptr && stop->requested()) return 1;
    if (budget_.evaluations > 0) {
      share = static_cast<double>(evaluator_.evaluations() - first_) /
              static_cast<double>(budget_.evaluations);
    }
    if (budget_.milliseconds > 0) {
      const std::chrono::duration<double, std::milli> elapsed =
          std::chrono::steady_clock::now() - start_;
      share = std::max(share, elapsed.count() / budget_.milliseconds);
    }
    return std::min(share, 1.0);
  }

 private:
  const Budget& budget_;
  const MoveEvaluator& evaluator_;
  uint64_t first_;
  std::chrono::steady_clock::time_point start_;
};

class Annealing {
 public:
  Annealing(const Problem& problem, const Hierarchy& hierarchy, uint64_t seed,
            MoveEvaluator& evaluator, ProposalRanker* ranker)
      : problem_(problem),
        hierarchy_(hierarchy),
        random_(seed),
        evaluator_(evaluator),
        ranker_(ranker) {}

  void run(const Budget& budget, Candidate& best) {
    const Clock clock(budget, evaluator_);
    if (evaluator_.rebase(best.assignment); stopped(evaluator_.stop())) return;
    best.score = evaluator_.score();
    if (ranker_ != nullptr) ranker_->refresh(evaluator_);
    // Moves that change nothing cost no evaluation; a graph that offers nothing else ends the
    // search.
    constexpr int kMostIdle = 10'000;
    int idle = 0;
    for (double used = clock.used(); used < 1 && idle < kMostIdle; used = clock.used()) {
      if (!propose(used)) {
        ++idle;
        continue;
      }
      idle = 0;
      const double temperature = kHot * std::max(1 - used, kCold / kHot);
      const double cutoff = threshold_us(temperature);
      const Score score = evaluator_.evaluate(changes_, cutoff);
      if (!accepts(score, cutoff)) continue;
      evaluator_.accept();
      chain_is_old_ = true;
      if (ranker_ != nullptr) ranker_->refresh(evaluator_);
      if (score < best.score) {
        best.score = score;
        best.assignment.assign(evaluator_.assignment().begin(), evaluator_.assignment().end());
      }
    }
  }

 private:
  // Metropolis' rule with the random number drawn first: a candidate is accepted if its makespan is
  // below the current one plus temperature x makespan x (-ln u), so its evaluation can stop there.
  double threshold_us(double temperature) {
    const double u = 1 - random_.uniform();
    return evaluator_.score().objective_us * (1 - temperature * portable_log(u));
  }
  bool accepts(const Score& score, double cutoff) const {
    if (score.overflow_bytes != evaluator_.score().overflow_bytes) {
      return score.overflow_bytes < evaluator_.score().overflow_bytes;
    }
    return score.objective_us < cutoff;
  }

  struct Proposal {
    uint32_t level, group, device;
  };

  // Fills changes_; false if the move changes nothing.
  bool propose(double used) {
    Proposal best{};
    bool found = false;
    float best_score = 0;
    for (int i = 0; i < (ranker_ == nullptr ? 1 : kProposals); ++i) {
      const Proposal proposal = draw(used);
      if (!changes_something(proposal)) continue;
      const float score =
          ranker_ == nullptr ? 0 : ranker_->score(proposal.level, proposal.group, proposal.device);
      if (!found || score > best_score) {
        best = proposal;
        best_score = score;
      }
      found = true;
    }
    if (!found) return false;
    changes_.clear();
    for (uint32_t v : hierarchy_.nodes(best.level, best.group)) {
      if (evaluator_.assignment()[v] != best.device) changes_.push_back({v, best.device});
    }
    return true;
  }

  Proposal draw(double used) {
    const uint32_t level = draw_level(used);
    const uint32_t anchor = draw_anchor();
    const uint32_t group = hierarchy_.group_of(level, anchor);
    return {level, group, draw_device(hierarchy_.nodes(level, group), anchor)};
  }

  bool changes_something(const Proposal& p) const {
    if (!hierarchy_.allowed(p.level, p.group, p.device)) return false;
    const auto nodes = hierarchy_.nodes(p.level, p.group);
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](uint32_t v) { return evaluator_.assignment()[v] != p.device; });
  }

  uint32_t draw_anchor() {
    if (random_.uniform() >= kOnChain) return random_.below(problem_.node_count());
    if (chain_is_old_) chain_.update(evaluator_);
    chain_is_old_ = false;
    return chain_.nodes()[random_.below(static_cast<uint32_t>(chain_.nodes().size()))];
  }

  // Coarse levels early, fine ones late, any level any time.
  uint32_t draw_level(double used) {
    const uint32_t levels = hierarchy_.level_count();
    const double focus = (1 - used) * levels;  // the level most likely now, from above
    const double spread = random_.uniform() + random_.uniform() - 1;  // triangular
    const double level = focus + spread * levels / 2.0;
    return level <= 0 ? 0 : std::min(levels - 1, static_cast<uint32_t>(level));
  }

  // The device of a neighbour of the group, or any.
  uint32_t draw_device(std::span<const uint32_t> nodes, uint32_t anchor) {
    if (random_.uniform() < kToNeighbour) {
      const uint32_t v = random_.below(4) == 0
                             ? anchor
                             : nodes[random_.below(static_cast<uint32_t>(nodes.size()))];
      const auto in = problem_.graph().in_edges(v);
      const auto out = problem_.graph().out_edges(v);
      const auto count = static_cast<uint32_t>(in.size() + out.size());
      if (count > 0) {
        const uint32_t pick = random_.below(count);
        const uint32_t w = pick < in.size() ? in[pick].source : out[pick - in.size()].target;
        return evaluator_.assignment()[w];
      }
    }
    return random_.below(problem_.device_count());
  }

  const Problem& problem_;
  const Hierarchy& hierarchy_;
  Random random_;
  MoveEvaluator& evaluator_;
  ProposalRanker* ranker_;
  std::vector<Change> changes_;
  WaitingChain chain_;
  bool chain_is_old_ = true;
};

}  // namespace

void multilevel_search(const Problem& problem, const Hierarchy& hierarchy, const Budget& budget,
                       uint64_t seed, MoveEvaluator& evaluator, Candidate& start,
                       ProposalRanker* ranker) {
  Annealing(problem, hierarchy, seed, evaluator, ranker).run(budget, start);
}

}  // namespace placeto
