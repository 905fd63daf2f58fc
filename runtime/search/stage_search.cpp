#include "runtime/search/stage_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "runtime/base/no_index.h"
#include "runtime/cost/rounding.h"
#include "runtime/cost/staged.h"

namespace placeto {
namespace {

class Refiner {
 public:
  Refiner(uint64_t evaluations, Evaluator& evaluator, Candidate& best)
      : problem_(evaluator.problem()),
        tables_(problem_, evaluator.stop()),
        numbering_(tables_.graph()),
        last_(evaluator.evaluations() + evaluations),
        evaluator_(evaluator),
        best_(best) {
    const Score score = evaluator.evaluate(best.assignment, best.division);
    if (stopped(evaluator.stop())) return;
    best_.score = score;
    if (!best.division.order.empty()) free_order();
    const Timeline& timeline = evaluator.timeline(best.assignment, best.division);
    if (!stopped(evaluator.stop())) keep(timeline, best.division);
  }

  // Down to where no move helps; with the assignment held, no move of stages on their devices.
  void descend(bool hold = false) {
    holds_ = hold;
    do {
      while (!done() &&
             ((!holds_ && move_stages(kBetter)) || merge_stages(kBetter) || divide_stages())) {
      }
    } while (!stopped(evaluator_.stop()) && (move_parts() || reorder_stages()));
  }
  // For fewer stages, within the limit.
  void simplify(double limit_us) {
    limit_us_ = limit_us;
    while (!done() && (move_stages(kFewer) || merge_stages(kFewer))) {
    }
  }

 private:
  enum Aim { kBetter, kFewer };

  // A merge that would make stages wait in a circle takes a part of an evaluation.
  bool done() const {
    constexpr uint64_t kCircles = 16;
    return stopped(evaluator_.stop()) || evaluator_.evaluations() + circles_ / kCircles >= last_;
  }
  uint32_t stages() const { return best_.division.stage_count(); }

  // What was recorded of a run may have been no more than how it came about.
  void free_order() {
    trial_ = best_.division;
    trial_.order.clear();
    const Score score = evaluator_.evaluate(best_.assignment, trial_);
    if (stopped(evaluator_.stop()) || best_.score < score) return;
    best_.score = score;
    best_.division = trial_;
  }

  // Takes over how the run was divided; devices that were free to take what is ready first stay so.
  void keep(const Timeline& timeline, const Division& division) {
    const bool ordered = !division.order.empty();
    best_.division = recorded_division(timeline);
    order_ = best_.division.order;
    if (!ordered) best_.division.order.clear();
    list_by_stage();
  }

  void list_by_stage() {
    const auto order = problem_.graph().topological_order();
    stage_begin_.assign(stages() + 1, 0);
    for (const uint32_t v : order) ++stage_begin_[best_.division.stage_of[v] + 1];
    std::partial_sum(stage_begin_.begin(), stage_begin_.end(), stage_begin_.begin());
    std::vector<uint32_t> end(stage_begin_.begin(), stage_begin_.end() - 1);
    by_stage_.resize(order.size());
    for (const uint32_t v : order) by_stage_[end[best_.division.stage_of[v]]++] = v;
    spend(evaluator_.stop(), 2 * order.size());
  }
  // In topological order.
  std::span<const uint32_t> nodes_of(uint32_t stage) const {
    return std::span(by_stage_).subspan(stage_begin_[stage],
                                        stage_begin_[stage + 1] - stage_begin_[stage]);
  }

  // Just above what is as good; where the best does not fit, whatever fits is better.
  double cutoff_us(Aim aim) const {
    const double least =
        aim == kFewer ? std::max(limit_us_, best_.score.objective_us) : best_.score.objective_us;
    return best_.score.feasible() ? std::nextafter(least, kNever) : kNever;
  }

  // An empty division: by the best rule.
  bool try_out(const Assignment& assignment, const Division& division, Aim aim) {
    const Score score = evaluator_.evaluate(assignment, division, cutoff_us(aim));
    if (stopped(evaluator_.stop()) || score.overflow_bytes > best_.score.overflow_bytes) {
      return false;
    }
    const bool within = aim == kFewer && score.objective_us <= limit_us_;
    const bool better = gains(score, best_.score), equal = !better && score <= best_.score;
    if (!better && !within && !equal) return false;
    if ((aim == kFewer || equal) && evaluator_.stage_count() >= stages()) return false;
    const Timeline& timeline = evaluator_.timeline(assignment, division);
    if (stopped(evaluator_.stop())) return false;
    // Where all nodes stay and it gains, moves that did not gain before do not gain now.
    best_.one_move_optimal &= aim == kBetter && best_.assignment == assignment;
    best_.assignment = assignment;
    best_.score = score;
    keep(timeline, division);
    return true;
  }

  // A stage with all its nodes, and those that share a device with them, to another device.
  bool move_stages(Aim aim) {
    for (uint32_t s = 0; s < stages() && stages() > 1; ++s) {
      for (uint32_t d = 0; d < problem_.device_count(); ++d) {
        if (d == best_.division.device[s]) continue;
        if (done()) return false;
        if (spend(evaluator_.stop(), nodes_of(s).size())) return false;
        const auto allowed = [&](uint32_t v) { return problem_.allowed(problem_.group_of(v), d); };
        if (!std::ranges::all_of(nodes_of(s), allowed)) continue;
        moved_ = best_.assignment;
        for (const uint32_t v : nodes_of(s)) {
          if (moved_[v] == d) continue;  // with its group
          for (uint32_t w : watched(problem_.members(problem_.group_of(v)), evaluator_.stop())) {
            moved_[w] = d;
          }
        }
        if (stopped(evaluator_.stop())) return false;
        if (try_out(moved_, {}, aim)) return true;
      }
    }
    return false;
  }

  // A stage with the next one that its device takes.
  bool merge_stages(Aim aim) {
    std::vector<uint32_t> before(problem_.device_count(), kNoIndex);
    const std::vector<uint32_t> order = order_;
    for (const uint32_t s : order) {
      const uint32_t first = before[best_.division.device[s]];
      before[best_.division.device[s]] = s;
      if (first == kNoIndex) continue;
      if (done()) return false;
      trial_ = best_.division;
      for (uint32_t& of_node : trial_.stage_of) {
        if (of_node == s) of_node = first;
      }
      if (spend(evaluator_.stop(), tables_.work())) return false;
      if (!numbering_.renew(trial_, evaluator_.stop())) {
        ++circles_;
        continue;
      }
      if (try_out(best_.assignment, trial_, aim)) return true;
    }
    return false;
  }

  // Before the first node that reads what enters, behind the first that makes what leaves.
  bool divide_stages() {
    for (uint32_t s = 0; s < stages(); ++s) {
      const std::span<const uint32_t> nodes = nodes_of(s);
      if (spend(evaluator_.stop(), tables_.work())) return false;
      const auto reads = std::find_if(nodes.begin(), nodes.end(), [&](uint32_t v) {
        const auto in = problem_.graph().in_edges(v);
        return std::any_of(in.begin(), in.end(),
                           [&](const InEdge& e) { return best_.division.stage_of[e.source] != s; });
      });
      const auto makes = std::find_if(nodes.begin(), nodes.end(), [&](uint32_t v) {
        const auto out = problem_.graph().out_edges(v);
        return std::any_of(out.begin(), out.end(), [&](const OutEdge& e) {
          return best_.division.stage_of[e.target] != s;
        });
      });
      for (const auto at : {reads, makes == nodes.end() ? makes : makes + 1}) {
        if (at == nodes.begin() || at == nodes.end()) continue;
        if (done()) return false;
        trial_ = best_.division;
        const uint32_t behind = trial_.add_stage(trial_.device[s], s);
        for (auto v = at; v != nodes.end(); ++v) trial_.stage_of[*v] = behind;
        if (!numbering_.renew(trial_, evaluator_.stop())) continue;
        if (try_out(best_.assignment, trial_, kBetter)) return true;
      }
    }
    return false;
  }

  // A stage, and what it waits for, before the one that its device takes before it.
  bool reorder_stages() {
    std::vector<uint32_t> before(problem_.device_count(), kNoIndex);
    for (uint32_t last = 0; last < order_.size(); ++last) {
      uint32_t& on_device = before[best_.division.device[order_[last]]];
      const uint32_t first = std::exchange(on_device, last);
      if (first == kNoIndex) continue;
      if (done()) return false;
      if (spend(evaluator_.stop(), tables_.work())) return false;
      trial_ = best_.division;
      trial_.order = order_;
      if (!bring_forward(first, last, trial_.order)) continue;
      if (try_out(best_.assignment, trial_, kBetter)) return true;
    }
    return false;
  }

  // The last stage of this part of the order to the first, behind those that it waits for. False if
  // the first is one of them.
  bool bring_forward(uint32_t first, uint32_t last, std::vector<uint32_t>& order) {
    needed_.assign(stages(), 0);
    needed_[order[last]] = 1;
    for (uint32_t i = last; i-- > first;) {
      const uint32_t s = order[i];
      for (const uint32_t v : nodes_of(s)) {
        const auto out = problem_.graph().out_edges(v);
        needed_[s] |= std::any_of(out.begin(), out.end(), [&](const OutEdge& e) {
          return needed_[best_.division.stage_of[e.target]] != 0;
        });
      }
    }
    std::stable_partition(order.begin() + first, order.begin() + last + 1,
                          [&](uint32_t s) { return needed_[s] != 0; });
    return needed_[order_[first]] == 0;
  }

  // A node, or all of its stage up to it or from it on, to another stage or to one of their own: on
  // small graphs, where there are few such moves and each is soon tried.
  bool move_parts() {
    constexpr uint64_t kMostMoves = 3'000;
    const uint64_t moves = uint64_t{3} * problem_.node_count() * (stages() + 1);
    if (moves > std::min(kMostMoves, part_moves_)) return false;
    part_moves_ -= moves;
    for (uint32_t s = 0; s < stages(); ++s) {
      const std::span<const uint32_t> nodes = nodes_of(s);
      for (size_t i = 0; i < nodes.size(); ++i) {
        const std::span<const uint32_t> parts[] = {nodes.subspan(i, 1), nodes.first(i + 1),
                                                   nodes.subspan(i)};
        for (size_t p = 0; p < (i == 0 || i + 1 == nodes.size() ? 2 : 3); ++p) {
          if (move_part(parts[i == 0 ? 2 * p : p], s)) return true;
          if (stopped(evaluator_.stop())) return false;
        }
      }
    }
    return false;
  }

  // To each other stage, to one of its own, and to one that its device takes before what is left.
  bool move_part(std::span<const uint32_t> part, uint32_t from) {
    for (uint32_t to = 0; to <= stages() + 1; ++to) {
      const uint32_t d = best_.division.device[to < stages() ? to : from];
      const bool leaves = d != best_.division.device[from];
      if (to == from || (leaves && (holds_ || !may_go(part, d)))) continue;
      trial_ = best_.division;
      if (to > stages()) trial_.order = order_;
      const uint32_t stage = to < stages() ? to : trial_.add_stage(d, from, to > stages());
      moved_ = best_.assignment;
      for (const uint32_t v : part) {
        trial_.stage_of[v] = stage;
        moved_[v] = d;
      }
      if (spend(evaluator_.stop(), tables_.work())) return false;
      if (!numbering_.renew(trial_, evaluator_.stop())) continue;
      if (try_out(moved_, trial_, kBetter)) return true;
    }
    return false;
  }

  // Whether the nodes may run there, and take no others along.
  bool may_go(std::span<const uint32_t> nodes, uint32_t device) const {
    return std::all_of(nodes.begin(), nodes.end(), [&](uint32_t v) {
      const uint32_t group = problem_.group_of(v);
      return problem_.members(group).size() == 1 && problem_.allowed(group, device);
    });
  }

  const Problem& problem_;
  StageTables tables_;
  StageNumbering numbering_;
  uint64_t last_;                 // evaluation, but of moves of parts
  uint64_t circles_ = 0;          // merges that were none
  uint64_t part_moves_ = 10'000;  // that are left
  Evaluator& evaluator_;
  Candidate& best_;
  double limit_us_ = 0;
  bool holds_ = false;                            // the assignment
  std::vector<uint32_t> order_;                   // of the best's stages, as they started
  std::vector<uint32_t> by_stage_, stage_begin_;  // nodes of each
  std::vector<uint8_t> needed_;                   // by a stage that is brought forward
  Assignment moved_;
  Division trial_;
};

// The recorded order is the one in which the stages of the candidate start.
void record_order(Evaluator& evaluator, Candidate& candidate) {
  if (candidate.division.empty() || stopped(evaluator.stop())) return;
  const Timeline& timeline = evaluator.timeline(candidate.assignment, candidate.division);
  if (!stopped(evaluator.stop())) candidate.division.order = timeline.stage_order;
}

}  // namespace

bool gains(const Score& score, const Score& than) {
  if (score.overflow_bytes != than.overflow_bytes) return score < than;
  return score.objective_us < rounded_down(than.objective_us);
}

void refine_stages(uint64_t evaluations, Evaluator& evaluator, Candidate& candidate) {
  Refiner(evaluations, evaluator, candidate).descend();
  record_order(evaluator, candidate);
}

void refine_division(uint64_t evaluations, Evaluator& evaluator, Candidate& candidate) {
  Refiner(evaluations, evaluator, candidate).descend(true);
  record_order(evaluator, candidate);
}

void simplify_stages(uint64_t evaluations, double limit_us, Evaluator& evaluator,
                     Candidate& candidate) {
  Refiner(evaluations, evaluator, candidate).simplify(limit_us);
  record_order(evaluator, candidate);
}

uint32_t count_stages(const Candidate& candidate, Evaluator& evaluator) {
  const Problem& problem = evaluator.problem();
  if (problem.is_staged()) {
    return static_cast<uint32_t>(
        evaluator.timeline(candidate.assignment, candidate.division).stages.size());
  }
  const StageTables tables(problem, evaluator.stop());
  Division division;
  if (stopped(evaluator.stop())) return 0;
  StageFormer(tables.graph(), problem.device_count(), evaluator.stop())
      .form(candidate.assignment, StageRule::kFewest, division, evaluator.stop());
  return division.stage_count();
}

}  // namespace placeto
