#include "runtime/search/stage_annealing.h"

#include <algorithm>
#include <chrono>

#include "runtime/base/no_index.h"
#include "runtime/base/random.h"
#include "runtime/cost/staged.h"
#include "runtime/search/acceptance.h"
#include "runtime/search/marks.h"
#include "runtime/search/stage_search.h"

namespace placeto {
namespace {

class StageAnnealing {
 public:
  StageAnnealing(uint64_t seed, Evaluator& evaluator, const Candidate& start)
      : problem_(evaluator.problem()),
        tables_(problem_, evaluator.stop()),
        numbering_(tables_.graph()),
        random_(seed),
        evaluator_(evaluator),
        at_(start) {
    at_.one_move_optimal = false;  // of what it becomes, nobody has looked
    const Timeline& timeline = evaluator.timeline(at_.assignment, at_.division);
    if (stopped(evaluator.stop())) return;
    at_.division = recorded_division(timeline);
    at_.division.order.clear();
    at_.score = evaluator.evaluate(at_.assignment, at_.division);  // an order may have been better
    best_ = at_;
    position_.resize(problem_.node_count());
    uint32_t next = 0;
    for (const uint32_t v : problem_.graph().topological_order()) position_[v] = next++;
    const double groups = problem_.group_count();
    hot_ = std::clamp(kHotGroups / groups, kColdest, kHottest);
    elsewhere_ = std::min(kElsewhere / groups, 0.5);
    patience_ = std::max(30.0, kPatience * groups * problem_.device_count());
  }

  // Until so many evaluations are spent since the begin; it cools down all the way. False if there
  // is nothing left to do: no time, or nothing to propose.
  template <typename IsLate>
  bool run_until(uint64_t end, const IsLate& is_late) {
    const uint64_t begin = spent_;
    for (uint32_t idle = 0; spent_ < end;) {
      if (idle == kMostIdle || stopped(evaluator_.stop()) || is_late()) return false;
      if (static_cast<double>(spent_ - last_gain_) > patience_) disturb();
      if (!propose()) {
        ++idle;
        continue;
      }
      idle = 0;
      try_proposed(static_cast<double>(spent_ - begin) / static_cast<double>(end - begin));
    }
    return true;
  }

  const Candidate& best() const { return best_; }

 private:
  // Temperature at the begin of a round as a share of the objective: so much for very few groups,
  // and the less the more there are, since each then matters less. It falls to a fiftieth.
  static constexpr double kHottest = 0.02, kHotGroups = 1.2, kColdest = 0.0005, kFalls = 0.02;

  // Evaluations without a gain after which it goes back to the best with part of it disturbed, for
  // each group and device.
  static constexpr double kPatience = 2;

  // The share of parts that go anywhere and not where a neighbour is, times the number of groups:
  // of a larger graph less is worth being put together.
  static constexpr double kElsewhere = 8;

  // Proposals in a row that cannot be made after which there is nothing left to propose.
  static constexpr uint32_t kMostIdle = 1'000;

  void try_proposed(double used) {
    ++spent_;
    const double limit_us =
        threshold_us(at_.score.objective_us, hot_ * std::max(1 - used, kFalls), random_);
    trial_.score = evaluator_.evaluate(trial_.assignment, trial_.division,
                                       at_.score.feasible() ? limit_us : kNever);
    if (stopped(evaluator_.stop()) || !accepts(trial_.score, at_.score, limit_us)) return;
    std::swap(at_, trial_);
    if (!gains(at_.score, best_.score)) return;
    best_ = at_;
    last_gain_ = spent_;
  }

  // From the best, with a few proposals made whatever they cost.
  void disturb() {
    last_gain_ = spent_;
    at_ = best_;
    for (uint32_t left = 2 + problem_.group_count() / 20; left > 0; --left) {
      if (propose()) std::swap(at_, trial_);
    }
    at_.score = evaluator_.evaluate(at_.assignment, at_.division);
  }

  // Leaves in trial_ what differs from at_ by one proposal; false if that is not to be had.
  bool propose() {
    trial_.assignment = at_.assignment;
    trial_.division = at_.division;
    // Copying, collecting a part and numbering go through all nodes.
    if (spend(evaluator_.stop(), tables_.work())) return false;
    return draw() && numbering_.renew(trial_.division, evaluator_.stop());
  }

  bool draw() {
    const double kind = random_.uniform();
    if (kind < 0.1) return move_stage();
    if (kind < 0.2) return merge_stages();
    const uint32_t v = random_.below(problem_.node_count());
    const uint32_t stage = trial_.division.stage_of[v];
    if (stage == kNoIndex) return false;
    part_.clear();
    if (kind < 0.6) {
      const auto members = problem_.members(problem_.group_of(v));
      part_.assign(members.begin(), members.end());
    } else if (kind < 0.8) {
      take_if([&](uint32_t w) { return in(w, stage) && position_[w] <= position_[v]; });
    } else {
      take_if([&](uint32_t w) { return in(w, stage) && position_[w] >= position_[v]; });
    }
    return move_part(v);
  }

  bool in(uint32_t v, uint32_t stage) const { return trial_.division.stage_of[v] == stage; }

  template <typename Belongs>
  void take_if(const Belongs& belongs) {
    for (uint32_t v = 0; v < problem_.node_count(); ++v) {
      if (belongs(v)) part_.push_back(v);
    }
  }

  // The part with this node in it: to the stage of a neighbour, to any, or to one of its own on any
  // device.
  bool move_part(uint32_t v) {
    if (random_.uniform() >= elsewhere_) {
      const auto in = problem_.graph().in_edges(v);
      const auto out = problem_.graph().out_edges(v);
      if (in.empty() && out.empty()) return false;
      const uint32_t i = random_.below(static_cast<uint32_t>(in.size() + out.size()));
      return put_part(
          trial_.division.stage_of[i < in.size() ? in[i].source : out[i - in.size()].target]);
    }
    if (random_.uniform() < 0.4) return put_part(random_.below(trial_.division.stage_count()));
    trial_.division.device.push_back(random_.below(problem_.device_count()));
    return put_part(trial_.division.stage_count() - 1);
  }

  bool put_part(uint32_t stage) {
    if (stage == kNoIndex) return false;
    Division& division = trial_.division;
    bool changes = false;
    for (const uint32_t v : part_) {
      if (division.stage_of[v] == kNoIndex) return false;
      changes |= division.stage_of[v] != stage;
      division.stage_of[v] = stage;
      trial_.assignment[v] = division.device[stage];
    }
    return changes && part_may_be_there();
  }

  // Whether its nodes may run where they are now, together with all that shares a device with them.
  bool part_may_be_there() const {
    return std::all_of(part_.begin(), part_.end(), [&](uint32_t v) {
      const uint32_t group = problem_.group_of(v), device = trial_.assignment[v];
      const auto members = problem_.members(group);
      return problem_.allowed(group, device) &&
             std::all_of(members.begin(), members.end(),
                         [&](uint32_t w) { return trial_.assignment[w] == device; });
    });
  }

  bool move_stage() {
    const uint32_t stage = random_.below(trial_.division.stage_count());
    const uint32_t device = random_.below(problem_.device_count());
    if (device == trial_.division.device[stage]) return false;
    trial_.division.device[stage] = device;
    part_.clear();
    take_if([&](uint32_t v) { return in(v, stage); });
    for (const uint32_t v : part_) trial_.assignment[v] = device;
    return part_may_be_there();
  }

  bool merge_stages() {
    const Division& division = trial_.division;
    const uint32_t from = random_.below(division.stage_count());
    const uint32_t to = random_.below(division.stage_count());
    if (from == to || division.device[from] != division.device[to]) return false;
    std::replace(trial_.division.stage_of.begin(), trial_.division.stage_of.end(), from, to);
    return true;
  }

  const Problem& problem_;
  StageTables tables_;
  StageNumbering numbering_;
  Random random_;
  Evaluator& evaluator_;
  Candidate at_, best_, trial_;     // without an order: devices take what is ready first
  std::vector<uint32_t> position_;  // of nodes in the topological order
  std::vector<uint32_t> part_;      // nodes that move
  double hot_ = 0, elsewhere_ = 0, patience_ = 0;
  uint64_t spent_ = 0, last_gain_ = 0;  // evaluations
};

}  // namespace

void anneal_stages(const Budget& budget, uint64_t seed, Evaluator& evaluator,
                   const std::function<void(Candidate&)>& finish, Candidate& start) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const std::chrono::duration<double, std::milli> most(budget.milliseconds);
  const auto is_late = [&] { return budget.milliseconds > 0 && Clock::now() - begin >= most; };

  StageAnnealing annealing(seed, evaluator, start);
  Score finished = start.score;  // what was last
  for (uint64_t mark = 0; !stopped(evaluator.stop());) {
    mark = next_mark(mark, {1, 2, 3, 5, 7}, 10);
    if (budget.evaluations != 0 && mark > budget.evaluations) break;
    const bool goes_on = annealing.run_until(mark, is_late);
    if (gains(annealing.best().score, finished)) {
      finished = annealing.best().score;
      Candidate found = annealing.best();
      found.method = start.method;
      finish(found);
      if (!stopped(evaluator.stop()) && gains(found.score, start.score)) start = std::move(found);
    }
    if (!goes_on) break;
  }
}

}  // namespace placeto
