#include "runtime/search/branch_bound.h"

#include <algorithm>

#include "runtime/base/no_index.h"
#include "runtime/base/saturating.h"
#include "runtime/cost/memory.h"
#include "runtime/cost/priced_division.h"
#include "runtime/cost/rounding.h"
#include "runtime/cost/twins.h"

namespace placeto {

BranchBound::BranchBound(const Problem& problem, Stop* stop)
    : problem_(problem),
      stop_(stop),
      graph_(problem.graph()),
      spec_(problem.topology().spec()),
      devices_(problem.device_count()),
      twin_(first_twins(problem, stop)),
      finish_us_(size_t{problem.node_count()} * devices_),
      tail_us_(finish_us_.size()),
      jobs_(std::max(devices_, problem.topology().channel_count())),
      running_bytes_(bytes_while_running(problem, stop)) {}

Score BranchBound::bound(std::span<const uint32_t> device_of, const Score& best) {
  device_of_ = device_of;
  Score least;
  least.overflow_bytes = overflow_bytes();
  if (least.overflow_bytes != best.overflow_bytes) return least;
  choose_devices();
  double us = 0;
  if (!problem_.is_for_latency()) {
    us = std::max(busiest_us(), work_us(0));
  } else if (spec_.execution == Execution::kSerial) {
    us = serial_us();
  } else {
    us = std::max({path_us(), devices_us(), channels_us(), work_us(problem_.op_gap_us())});
    if (problem_.is_staged()) us = std::max(us, std::ranges::max(busy_us()));
  }
  least.objective_us = rounded_up(us);
  return least;
}

double BranchBound::one_machine_us(std::vector<Job>& jobs, Uncleared<Job>& scratch) {
  stoppable_sort(
      jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.head_us > b.head_us; },
      nullptr, &scratch);
  double work = 0, gap = 0, tail = kNever, bound = 0;
  for (const Job& job : jobs) {
    work += job.run_us + job.gap_us;
    gap = std::max(gap, job.gap_us);
    tail = std::min(tail, job.tail_us);
    bound = std::max(bound, job.head_us + work - gap + tail);
  }
  return bound;
}

void BranchBound::choose_devices() {
  used_.assign(devices_, false);
  open_.clear();
  for (const uint32_t d : device_of_) {
    if (d != kNoIndex) used_[d] = true;
  }
  empty_.assign(devices_, true);
  for (uint32_t d = 0; d < devices_; ++d) {
    if (used_[d] || empty_[twin_[d]]) open_.push_back(d);
    if (!used_[d]) empty_[twin_[d]] = false;
  }
}

template <class Visit>
void BranchBound::each_device(uint32_t node, Visit visit) const {
  const uint32_t group = problem_.group_of(node);
  if (device_of_[group] != kNoIndex) return visit(device_of_[group]);
  for (const uint32_t d : open_) {
    if (problem_.allowed(group, d)) visit(d);
  }
}

double BranchBound::begin_us(uint32_t device) const {
  return problem_.is_staged() ? problem_.topology().device(device).stage_us : 0;
}

double BranchBound::transfer_us(uint32_t output, uint32_t from, uint32_t to) const {
  if (from == to) return 0;
  if (output == kControlEdge) return begin_us(to);
  double us = problem_.transfer_us(output, from, to) + problem_.topology().latency_us(from, to);
  if (problem_.is_staged()) {
    us += cut_price_us(problem_, from, output) + begin_us(to) + cut_price_us(problem_, to, output);
  }
  return us;
}

double BranchBound::path_us() {
  const auto order = graph_.topological_order();
  for (const uint32_t v : order) {
    each_device(v, [&](uint32_t d) {
      double ready = begin_us(d);
      for (const InEdge& in : watched(graph_.in_edges(v), stop_, open_.size() + 1)) {
        double least = kNever;
        each_device(in.source, [&](uint32_t e) {
          if (together(v, in.source) && e != d) return;
          least = std::min(least, finish_us_[at(in.source, e)] + transfer_us(in.output, e, d));
        });
        ready = std::max(ready, least);
      }
      finish_us_[at(v, d)] = ready + problem_.run_us(v, d);
      spend(stop_, (1 + open_.size()) * graph_.in_edges(v).size());
    });
  }
  double longest = 0;
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    double least = kNever;
    each_device(*v, [&](uint32_t d) {
      double tail = 0;
      for (const OutEdge& out : watched(graph_.out_edges(*v), stop_, open_.size() + 1)) {
        tail = std::max(tail, tail_behind_us(*v, d, out));
      }
      tail_us_[at(*v, d)] = tail;
      spend(stop_, (1 + open_.size()) * graph_.out_edges(*v).size());
      least = std::min(least, finish_us_[at(*v, d)] + tail);
    });
    longest = std::max(longest, least);
  }
  return longest;
}

double BranchBound::tail_behind_us(uint32_t node, uint32_t from, const OutEdge& out) const {
  double least = kNever;
  each_device(out.target, [&](uint32_t e) {
    if (together(node, out.target) && e != from) return;
    least = std::min(least, transfer_us(out.output, from, e) + problem_.run_us(out.target, e) +
                                tail_us_[at(out.target, e)]);
  });
  return least;
}

double BranchBound::devices_us() {
  for (auto& jobs : jobs_) jobs.clear();
  for (uint32_t v = 0; v < graph_.node_count(); ++v) {
    const uint32_t d = device(v);
    if (d == kNoIndex) continue;
    const double run = problem_.run_us(v, d);
    jobs_[d].push_back(
        {finish_us_[at(v, d)] - run, run, problem_.gap_after_us(run), tail_us_[at(v, d)]});
  }
  return longest_of_jobs();
}

double BranchBound::channels_us() {
  if (spec_.contention == Contention::kNone) return 0;
  for (auto& jobs : jobs_) jobs.clear();
  const double gap = problem_.topology().uniform_links() ? spec_.default_link.gap_us : 0;
  each_transfer([&](const Sent& sent) {
    const double head = finish_us_[at(graph_.producer(sent.output), sent.from)];
    jobs_[sent.channel].push_back({head, sent.us, gap, sent.tail_us});
  });
  return longest_of_jobs();
}

template <class Visit>
void BranchBound::each_transfer(Visit visit) {
  const bool unicast = spec_.transfer == Transfer::kUnicast;
  for (uint32_t o = 0; o < graph_.output_count(); ++o) {
    const uint32_t from = device(graph_.producer(o));
    if (from == kNoIndex) continue;
    double longest = -1, longest_tail = 0;
    for (const uint32_t to : open_) {
      if (to == from) continue;
      double tail = -1;
      for (const uint32_t w : watched(graph_.consumers(o), stop_)) {
        if (device(w) != to) continue;
        tail = std::max(tail, problem_.run_us(w, to) + tail_us_[at(w, to)]);
      }
      if (tail < 0) continue;
      const double us = problem_.transfer_us(o, from, to);
      if (unicast) {
        visit(Sent{o, from, problem_.topology().channel(from, to), us,
                   tail + problem_.topology().latency_us(from, to)});
      }
      longest = std::max(longest, us);
      longest_tail = std::max(longest_tail, tail);
    }
    if (!unicast && longest >= 0) visit(Sent{o, from, from, longest, longest_tail});
  }
  spend(stop_, graph_.output_count());
}

double BranchBound::longest_of_jobs() {
  double longest = 0;
  for (auto& jobs : jobs_) longest = std::max(longest, one_machine_us(jobs, sorted_));
  return longest;
}

double BranchBound::work_us(double last_gap_us) const {
  double sum = 0;
  for (uint32_t v = 0; v < graph_.node_count(); ++v) {
    double least = kNever;
    each_device(v, [&](uint32_t d) { least = std::min(least, problem_.occupied_us(v, d)); });
    sum += least;
  }
  constexpr double kSurely = 1 - 1e-12;
  return kSurely * sum / devices_ - last_gap_us;
}

double BranchBound::serial_us() {
  double sum = 0;
  for (uint32_t v = 0; v < graph_.node_count(); ++v) {
    double least = kNever;
    each_device(v, [&](uint32_t d) { least = std::min(least, problem_.run_us(v, d)); });
    sum += least;
  }
  each_transfer([&sum](const Sent& sent) { sum += sent.us; });
  return sum;
}

double BranchBound::busiest_us() {
  std::vector<Job>& channels = jobs_[0];
  channels.assign(jobs_.size(), Job{});
  const double gap = problem_.topology().uniform_links() ? spec_.default_link.gap_us : 0;
  each_transfer([&](const Sent& sent) { channels[sent.channel].run_us += sent.us + gap; });
  double most = 0;
  for (const double us : busy_us()) most = std::max(most, us);
  for (const Job& channel : channels) most = std::max(most, channel.run_us);
  return most;
}

std::span<const double> BranchBound::busy_us() {
  busy_us_.assign(devices_, 0);
  for (uint32_t v = 0; v < graph_.node_count(); ++v) {
    if (device(v) != kNoIndex) busy_us_[device(v)] += problem_.occupied_us(v, device(v));
  }
  if (!problem_.is_staged()) return busy_us_;
  for (uint32_t d = 0; d < devices_; ++d) {
    if (used_[d]) busy_us_[d] += problem_.topology().device(d).stage_us;
  }
  for (uint32_t o = 0; o < graph_.output_count(); ++o) {
    const uint32_t from = device(graph_.producer(o));
    if (from == kNoIndex) continue;
    bool leaves = false;
    for (const uint32_t to : open_) {
      const auto reads = [&](uint32_t w) { return device(w) == to; };
      if (to == from || !std::ranges::any_of(graph_.consumers(o), reads)) continue;
      leaves = true;
      busy_us_[to] += cut_price_us(problem_, to, o);
    }
    if (leaves) busy_us_[from] += cut_price_us(problem_, from, o);
  }
  spend(stop_, graph_.output_count());
  return busy_us_;
}

uint64_t BranchBound::overflow_bytes() {
  if (!problem_.memory_limited()) return 0;
  resident_.assign(devices_, 0);
  running_.assign(devices_, 0);
  uint64_t unplaced = 0;
  for (uint32_t g = 0; g < problem_.group_count(); ++g) {
    const uint32_t d = device_of_[g];
    if (d == kNoIndex) {
      unplaced += problem_.resident_bytes(g);
    } else {
      resident_[d] += problem_.resident_bytes(g);
      running_[d] = std::max(running_[d], running_bytes_[g]);
    }
  }
  uint64_t sum = 0;
  for (uint32_t d = 0; d < devices_; ++d) {
    const uint64_t limit = problem_.memory_limit(d), held = resident_[d] + running_[d];
    if (held > limit) sum = saturating_add(sum, held - limit);
    if (held < limit) unplaced -= std::min(unplaced, limit - held);
  }
  return saturating_add(sum, unplaced);
}

}  // namespace placeto
