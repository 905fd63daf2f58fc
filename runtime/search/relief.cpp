#include "runtime/search/relief.h"

#include <algorithm>
#include <vector>

#include "runtime/base/keep_least.h"
#include "runtime/groups/all_levels.h"
#include "runtime/heuristics/best_met.h"
#include "runtime/search/current_run.h"
#include "runtime/search/peak_memory.h"
#include "runtime/timeline/move_estimate.h"

namespace placeto {
namespace {

// Moves that are simulated at most for each one that is made, those that promise most: the first
// that frees kEnoughFreed of what it promised is made, or else the cheapest of them. At first,
// groups that free less than kLeastFreed of what is too much are left alone: they take many moves.
constexpr size_t kSimulated = 16;
constexpr double kEnoughFreed = 0.2, kLeastFreed = 0.125;

// Nodes of all groups looked at, times the devices that they might go to.
constexpr uint64_t kMostLooked = 10'000'000;

class Relief {
 public:
  Relief(const Hierarchy& hierarchy, MoveEvaluator& evaluator, Evaluator& times)
      : evaluator_(evaluator),
        times_(times),
        problem_(evaluator.problem()),
        levels_(hierarchy, problem_),
        stop_(evaluator.stop()),
        memory_(problem_, stop_),
        run_(evaluator),
        estimate_(problem_) {}

  void run(uint64_t simulations) {
    const uint64_t most = evaluator_.evaluations() + simulations;
    while (!evaluator_.score().feasible() && evaluator_.evaluations() < most) {
      memory_.load(evaluator_.assignment(), times_.timeline(evaluator_.assignment()));
      if (stopped(stop_)) return;
      if (!move(Among::kLarge) && !move(Among::kAll) && !move(Among::kAnywhere)) return;
    }
  }

 private:
  enum class Among {
    kLarge,     // groups that free much, to where there is room at the time of the peak there
    kAll,       // all groups
    kAnywhere,  // to full devices, too, which may be less full then
  };
  struct Move {
    uint32_t level, group, from, to;
    double bytes;         // that it frees
    double us_for_bytes;  // what it costs, for each
  };

  bool move(Among among) {
    promising_.clear();
    for (uint32_t d = 0; d < problem_.device_count(); ++d) {
      if (memory_.excess_bytes(d) <= 0) continue;
      if (looked_ > kMostLooked || stopped(stop_)) return false;
      memory_.look_at(d);
      levels_.each([&](uint32_t level) { look(level, d, among); });
    }
    return !stopped(stop_) && make_one();
  }

  // The parts of groups that are on the device, and where they may go.
  void look(uint32_t level, uint32_t from, Among among) {
    const double excess = memory_.excess_bytes(from);
    for (uint32_t g = 0; g < levels_.group_count(level); ++g) {
      if (looked_ > kMostLooked || stopped(stop_)) return;
      const auto nodes = levels_.nodes(level, g);
      looked_ += nodes.size();
      find_part(nodes, from);
      if (part_.empty()) continue;
      const double bytes = memory_.freed_bytes(part_);
      if (bytes <= 0 || (among == Among::kLarge && bytes < kLeastFreed * excess)) continue;
      looked_ += problem_.device_count();
      if (spend(stop_, Stop::compared(problem_.device_count()))) return;
      for (uint32_t d = 0; d < problem_.device_count(); ++d) {
        if (d == from || !levels_.allowed(level, g, d)) continue;
        double freed = std::min(bytes, excess);
        if (among != Among::kAnywhere) {
          freed -= std::max(0.0, bytes - std::max(0.0, memory_.room_bytes(d)));
        }
        if (freed > 0) promise({level, g, from, d, freed, 0});
      }
    }
  }

  void find_part(std::span<const uint32_t> nodes, uint32_t device) {
    part_.clear();
    for (const uint32_t v : watched(nodes, stop_)) {
      if (evaluator_.assignment()[v] == device) part_.push_back(v);
    }
    spend(stop_, nodes.size());
  }

  // Kept if it is one of the cheapest. It moves part_.
  void promise(Move move) {
    const bool full = promising_.size() == kSimulated;
    const double enough_us = full ? promising_.back().us_for_bytes * move.bytes : kNever;
    looked_ += part_.size();
    move.us_for_bytes = cost_us(move.from, move.to, enough_us) / move.bytes;
    keep_least(promising_, kSimulated, move,
               [](const Move& a, const Move& b) { return a.us_for_bytes < b.us_for_bytes; });
  }

  // What moving part_ adds to the run, or, where times do not tell, to runs and transfers together.
  double cost_us(uint32_t from, uint32_t to, double enough_us) {
    if (problem_.times_can_tell()) {
      return estimate_.change_us(run_.queues(), part_, to, enough_us, stop_);
    }
    const Graph& graph = problem_.graph();
    const std::span<const uint32_t> at = evaluator_.assignment();
    double us = 0;
    for (const uint32_t v : watched(part_, stop_)) {
      us += problem_.run_us(v, to) - problem_.run_us(v, from);
      for (const InEdge& in : watched(graph.in_edges(v), stop_)) {
        if (in.output == kControlEdge) continue;
        us += problem_.transfer_us(in.output, at[in.source], to) -
              problem_.transfer_us(in.output, at[in.source], from);
      }
      for (const OutEdge& out : watched(graph.out_edges(v), stop_)) {
        if (out.output == kControlEdge) continue;
        us += problem_.transfer_us(out.output, to, at[out.target]) -
              problem_.transfer_us(out.output, from, at[out.target]);
      }
      spend(stop_, 1 + graph.in_edges(v).size() + graph.out_edges(v).size());
    }
    return us;
  }

  bool make_one() {
    const Score before = evaluator_.score();
    const Move* best = nullptr;
    double least = 0;
    for (const Move& move : promising_) {
      const Score after = try_out(move);
      if (after.overflow_bytes >= before.overflow_bytes) continue;
      const auto bytes = static_cast<double>(before.overflow_bytes - after.overflow_bytes);
      const double us_for_bytes = (after.objective_us - before.objective_us) / bytes;
      if (best == nullptr || us_for_bytes < least) {
        best = &move;
        least = us_for_bytes;
      }
      if (bytes >= kEnoughFreed * move.bytes) break;
    }
    if (best == nullptr) return false;
    try_out(*best);
    evaluator_.accept();
    run_.base_changed();
    return !stopped(stop_);
  }

  Score try_out(const Move& move) {
    find_part(levels_.nodes(move.level, move.group), move.from);
    changes_.clear();
    for (const uint32_t v : watched(part_, stop_)) changes_.push_back({v, move.to});
    return evaluator_.evaluate(changes_);
  }

  MoveEvaluator& evaluator_;
  Evaluator& times_;
  const Problem& problem_;
  AllLevels levels_;
  Stop* stop_;
  PeakMemory memory_;
  CurrentRun run_;
  MoveEstimate estimate_;
  std::vector<Move> promising_;  // by what they cost
  std::vector<uint32_t> part_;
  std::vector<Change> changes_;
  uint64_t looked_ = 0;
};

}  // namespace

void relieve(uint64_t simulations, const Hierarchy& hierarchy, MoveEvaluator& evaluator,
             Evaluator& times, Candidate& start) {
  evaluator.rebase(start.assignment);
  if (stopped(evaluator.stop())) return;
  Relief(hierarchy, evaluator, times).run(simulations);
  keep_better(evaluator, start);
}

}  // namespace placeto
