#include "runtime/search/division_search.h"

#include <algorithm>
#include <bit>

#include "runtime/cost/cut_sender.h"
#include "runtime/cost/memory.h"
#include "runtime/cost/priced_division.h"
#include "runtime/cost/rounding.h"

namespace placeto {

DivisionSearch::DivisionSearch(Evaluator& evaluator)
    : evaluator_(evaluator),
      problem_(evaluator.problem()),
      graph_(problem_.graph()),
      all_(~Nodes{0} >> (kMostDividedNodes - graph_.node_count())),
      predecessors_(graph_.node_count()),
      readers_(graph_.output_count()),
      on_(problem_.device_count()),
      rest_us_(graph_.node_count()),
      states_(graph_.node_count() + 1) {
  for (uint32_t v = 0; v < graph_.node_count(); ++v) {
    for (const InEdge& in : graph_.in_edges(v)) predecessors_[v] |= only(in.source);
  }
  for (uint32_t o = 0; o < graph_.output_count(); ++o) {
    for (const uint32_t w : graph_.consumers(o)) readers_[o] |= only(w);
  }
  states_[0].free_us.assign(problem_.device_count(), 0);
  states_[0].ready_us.assign(graph_.node_count(), 0);
}

bool DivisionSearch::search(std::span<const uint32_t> assignment, uint64_t least_overflow_bytes,
                            uint64_t& branches, Candidate& best) {
  assignment_ = assignment;
  least_overflow_bytes_ = least_overflow_bytes;
  branches_ = &branches;
  best_ = &best;
  find_rests();
  std::fill(on_.begin(), on_.end(), 0);
  states_[0].peak_bytes.assign(problem_.device_count(), 0);
  for (uint32_t v = 0; v < graph_.node_count(); ++v) {
    on_[assignment[v]] |= only(v);
    states_[0].peak_bytes[assignment[v]] += graph_.node(v).resident_bytes;
  }
  stages_.clear();
  tried_.clear();
  return extend(0);
}

double DivisionSearch::price_us(uint32_t output, uint32_t device) const {
  return output == kControlEdge ? 0 : cut_price_us(problem_, device, output);
}

double DivisionSearch::way_us(uint32_t output, uint32_t from, uint32_t to) const {
  return CutWay(problem_, assignment_, output, from).us(to);
}

// Along paths. Neighbours on one device may be in one stage.
void DivisionSearch::find_rests() {
  const auto order = graph_.topological_order();
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    const uint32_t from = assignment_[*v];
    double rest = 0;
    for (const auto& [target, output] : graph_.out_edges(*v)) {
      const uint32_t to = assignment_[target];
      double us = rest_us_[target];
      if (from != to) {
        us += price_us(output, from) + way_us(output, from, to) + price_us(output, to) +
              problem_.topology().device(to).stage_us;
      }
      rest = std::max(rest, us);
    }
    rest_us_[*v] = problem_.run_us(*v, from) + rest;
  }
}

bool DivisionSearch::extend(uint32_t depth) {
  if (states_[depth].done == all_) return try_sequence();
  if (is_hopeless(states_[depth])) return true;
  for (uint32_t d = 0; d < problem_.device_count(); ++d) {
    if (!choose(depth, d, 0, 0)) return false;
  }
  return true;
}

// On one device, what fits behind the nodes that are done does not depend on their order: where
// nothing did, it is not looked at again, unless less overflowed before.
bool DivisionSearch::is_hopeless(const State& state) {
  constexpr size_t kMost = 100'000;  // to remember
  if (on_[assignment_[0]] != all_ || best_->score.feasible()) return false;
  const uint64_t overflow = overflow_bytes(problem_, state.peak_bytes);
  if (const auto known = tried_.find(state.done); known != tried_.end()) {
    if (known->second <= overflow) return true;
    known->second = overflow;
  } else if (tried_.size() < kMost) {
    tried_.emplace(state.done, overflow);
  }
  return false;
}

bool DivisionSearch::choose(uint32_t depth, uint32_t device, size_t from, Nodes stage) {
  const auto order = graph_.topological_order();
  const Nodes done = states_[depth].done;
  for (size_t i = from; i < order.size(); ++i) {
    const Nodes node = only(order[i]);
    if ((done & node) != 0 || assignment_[order[i]] != device) continue;
    if ((predecessors_[order[i]] & ~(done | stage)) != 0) continue;
    if (!choose(depth, device, i + 1, stage | node)) return false;
  }
  return stage == 0 || append(depth, device, stage);
}

// Of neighbours in the sequence on two devices that do not depend on one another, the one of the
// lower device is first: the other way round they run alike.
bool DivisionSearch::append(uint32_t depth, uint32_t device, Nodes stage) {
  const uint64_t lengths = graph_.node_count() * (1 + problem_.device_count() / 4);
  if (*branches_ == 0 || spend(evaluator_.stop(), lengths + graph_.edge_count())) return false;
  --*branches_;
  Nodes reads = 0;
  for (uint32_t v = 0; v < graph_.node_count(); ++v) {
    if ((stage & only(v)) != 0) reads |= predecessors_[v];
  }
  if (!stages_.empty() && (reads & stages_.back()) == 0) {
    const auto before = static_cast<size_t>(std::countr_zero(stages_.back()));
    if (device < assignment_[before]) return true;
  }
  State& after = states_[depth + 1];
  run(states_[depth], device, stage, after);
  const uint64_t overflow = overflow_bytes(problem_, after.peak_bytes);
  const Score least = {std::max(least_overflow_bytes_, overflow), rounded_up(least_us(after))};
  if (!(least < best_->score)) return true;
  stages_.push_back(stage);
  if (!extend(depth + 1)) return false;
  stages_.pop_back();
  return true;
}

// The rules of staged.h.
void DivisionSearch::run(const State& before, uint32_t device, Nodes stage, State& after) const {
  after = before;
  after.done |= stage;
  double start = before.free_us[device], us = problem_.topology().device(device).stage_us;
  for (uint32_t v = 0; v < graph_.node_count(); ++v) {
    if ((stage & only(v)) == 0) continue;
    start = std::max(start, before.ready_us[v]);
    us += problem_.run_us(v, device);
  }
  for (uint32_t o = 0; o < graph_.output_count(); ++o) {
    const bool made = (stage & only(graph_.producer(o))) != 0;
    const Nodes others = readers_[o] & (made ? ~stage : stage);
    if (others != 0) us += price_us(o, device);
  }
  const double end = start + us;
  after.free_us[device] = end;
  after.peak_bytes[device] =
      std::max(after.peak_bytes[device], held_bytes(before.done, device, stage));
  for (uint32_t v = 0; v < graph_.node_count(); ++v) {
    if ((stage & only(v)) == 0) continue;
    for (const auto& [target, output] : graph_.out_edges(v)) {
      const double came = end + way_us(output, device, assignment_[target]);
      after.ready_us[target] = std::max(after.ready_us[target], came);
    }
  }
}

// By the rules of memory.h. What enters or leaves the stage is there until it ends, what its own
// nodes alone read until the last of them has run; nodes that take no time hold nothing.
uint64_t DivisionSearch::held_bytes(Nodes done, uint32_t device, Nodes stage) const {
  const Nodes here = on_[device];
  uint64_t held = states_[0].peak_bytes[device];
  for (uint32_t o = 0; o < graph_.output_count(); ++o) {
    const Nodes producer = only(graph_.producer(o)), left = readers_[o] & here & ~done;
    if ((producer & done) == 0 || left == 0) continue;
    const bool has_come =
        (producer & here) != 0 || ((readers_[o] & done & here) | (left & stage)) != 0;
    if (has_come) held += graph_.output_bytes(o);
  }
  uint64_t most = held;
  Nodes run = 0;  // of the stage
  for (const uint32_t v : graph_.topological_order()) {
    if ((stage & only(v)) == 0) continue;
    for (uint32_t o = graph_.output_begin(v); o < graph_.output_end(v); ++o) {
      held += graph_.output_bytes(o);
    }
    if (problem_.run_us(v, device) > problem_.shortest_passing_us()) {
      most = std::max(most, held + graph_.node(v).workspace_bytes);
    }
    run |= only(v);
    for (Nodes makers = run; makers != 0; makers &= makers - 1) {
      const auto u = static_cast<uint32_t>(std::countr_zero(makers));
      for (uint32_t o = graph_.output_begin(u); o < graph_.output_end(u); ++o) {
        const bool last = u == v ? readers_[o] == 0 : (readers_[o] & only(v)) != 0;
        if (last && (readers_[o] & ~run) == 0) held -= graph_.output_bytes(o);
      }
    }
  }
  return most;
}

// Each device runs what is left to it, in a stage at least; each node that is left is behind what
// its stage pays for what it reads, and before the longest path.
double DivisionSearch::least_us(const State& state) const {
  double least = 0;
  for (uint32_t d = 0; d < problem_.device_count(); ++d) {
    const double free = state.free_us[d], begin = problem_.topology().device(d).stage_us;
    double work = 0;
    bool idle = true;
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      if ((state.done & only(v)) != 0 || assignment_[v] != d) continue;
      idle = false;
      work += problem_.run_us(v, d);
      double head = std::max(free, state.ready_us[v]) + begin;
      for (const InEdge& in : graph_.in_edges(v)) {
        if ((state.done & only(in.source)) != 0) head += price_us(in.output, d);
      }
      least = std::max(least, head + rest_us_[v]);
    }
    least = std::max(least, idle ? free : free + begin + work);
  }
  return least;
}

bool DivisionSearch::try_sequence() {
  Division division;
  division.stage_of.resize(graph_.node_count());
  for (uint32_t s = 0; s < stages_.size(); ++s) {
    division.device.push_back(assignment_[static_cast<size_t>(std::countr_zero(stages_[s]))]);
    division.order.push_back(s);
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      if ((stages_[s] & only(v)) != 0) division.stage_of[v] = s;
    }
  }
  const Score score = evaluator_.evaluate(assignment_, division);
  if (stopped(evaluator_.stop())) return false;
  if (score < best_->score) best_->take(assignment_, score, std::move(division));
  return true;
}

}  // namespace placeto
