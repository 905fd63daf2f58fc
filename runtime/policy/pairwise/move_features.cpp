#include "runtime/policy/pairwise/move_features.h"

#include <algorithm>
#include <functional>

#include "runtime/base/stoppable_sort.h"

namespace placeto {
namespace {

// Columns in the order of the list, each clamped to its range.
class Row {
 public:
  explicit Row(float* out) : out_(out) {}
  void set(PairFeature feature, double value) {
    const auto i = static_cast<uint32_t>(feature);
    const Feature& f = kPairFeatureList[i];
    out_[i] = static_cast<float>(std::clamp(value, double{f.low}, double{f.high}));
  }

 private:
  float* out_;
};

}  // namespace

MoveFeatures::MoveFeatures(const Problem& problem, const Hierarchy& hierarchy)
    : problem_(&problem),
      hierarchy_(&hierarchy),
      stamps_{std::vector<uint32_t>(problem.node_count(), 0)},
      work_on_(problem.device_count()),
      border_bytes_(problem.device_count()),
      run_of_class_(problem.class_count()) {
  candidates_.reserve(problem.device_count());
}

void MoveFeatures::begin(const PlacementState& state, uint32_t level, uint32_t group) {
  state_ = &state;
  group_ = {level, group, 0, hierarchy_->nodes(level, group)};
  std::fill(work_on_.begin(), work_on_.end(), 0);
  std::fill(border_bytes_.begin(), border_bytes_.end(), 0);
  std::fill(run_of_class_.begin(), run_of_class_.end(), 0);
  border_.clear();
  candidates_.clear();
  if (stopped(state.stop())) return;  // the state may be incomplete
  now_ = {};
  now_.first_start_us = now_.least_slack_us = state.makespan_us();
  ++stamps_.current;
  for (uint32_t v : watched(group_.nodes, state.stop())) stamps_.of_node[v] = stamps_.current;
  for (uint32_t v : group_.nodes) {
    const uint32_t device = state.device_of(v);
    const double run = problem_->run_us(v, device);
    work_on_[device] += run;
    now_.work_us += run;
    now_.resident_bytes += static_cast<double>(problem_->graph().node(v).resident_bytes);
    for (uint32_t c = 0; c < run_of_class_.size(); ++c) run_of_class_[c] += problem_->run_row(v)[c];
    now_.first_start_us = std::min(now_.first_start_us, state.start_us(v));
    now_.last_finish_us = std::max(now_.last_finish_us, state.finish_us(v));
    now_.least_slack_us = std::min(now_.least_slack_us, state.slack_us(v));
    if (state.critical(v)) now_.critical_work_us += run;
    add_border(state, v);
    const size_t edges =
        problem_->graph().in_edges(v).size() + problem_->graph().out_edges(v).size();
    if (spend(state.stop(), 1 + edges)) return;
  }
  group_.source =
      static_cast<uint32_t>(std::max_element(work_on_.begin(), work_on_.end()) - work_on_.begin());
  if (now_.work_us == 0) group_.source = state.device_of(group_.nodes[0]);
  choose_candidates();
  fill_common();
}

void MoveFeatures::add_border(const PlacementState& state, uint32_t node) {
  const Graph& graph = problem_->graph();
  const auto add = [&](uint32_t output, uint32_t producer, uint32_t consumer, uint32_t outside) {
    const uint32_t from = state.device_of(producer), to = state.device_of(consumer);
    const bool critical = state.critical(producer) && state.critical(consumer);
    if (output != kControlEdge) {
      const double transfer = problem_->transfer_us(output, from, to);
      now_.transfer_us += transfer;
      if (critical) now_.critical_transfer_us += transfer;
    }
    if (stamps_.of_node[outside] == stamps_.current) return;  // inside the group
    const uint32_t elsewhere = state.device_of(outside);
    const double bytes =
        output == kControlEdge ? 0 : static_cast<double>(graph.output_bytes(output));
    border_bytes_[elsewhere] += bytes;
    now_.border_bytes += bytes;
    border_.push_back({output, elsewhere, outside == producer, critical, state.finish_us(producer),
                       state.start_us(consumer)});
  };
  for (const InEdge& in : watched(graph.in_edges(node), state.stop())) {
    add(in.output, in.source, node, in.source);
  }
  for (const OutEdge& out : watched(graph.out_edges(node), state.stop())) {
    if (stamps_.of_node[out.target] == stamps_.current) continue;  // counted as an input already
    add(out.output, node, out.target, out.target);
  }
}

void MoveFeatures::choose_candidates() {
  const uint32_t devices = problem_->device_count();
  for (uint32_t d = 0; d < devices; ++d) {
    if (spend(state_->stop(), 1)) {
      candidates_.clear();
      return;
    }
    const bool stays = work_on_[d] == now_.work_us && d == group_.source;
    if (!stays && hierarchy_->allowed(group_.level, group_.index, d)) candidates_.push_back(d);
  }
  if (candidates_.size() <= kMostCandidates) return;
  // A few of many, each by going through what is left.
  const auto choose = [this](size_t from, size_t to, auto better) {
    for (auto next = candidates_.begin() + from; next != candidates_.begin() + to; ++next) {
      std::iter_swap(next, std::min_element(next, candidates_.end(), better));
    }
  };
  choose(0, kMostCandidates - 2, [this](uint32_t a, uint32_t b) {
    return border_bytes_[a] != border_bytes_[b] ? border_bytes_[a] > border_bytes_[b] : a < b;
  });
  choose(kMostCandidates - 2, kMostCandidates, [this](uint32_t a, uint32_t b) {
    return state_->load_us(a) != state_->load_us(b) ? state_->load_us(a) < state_->load_us(b)
                                                    : a < b;
  });
  candidates_.resize(kMostCandidates);
  insertion_sort(candidates_.data(), candidates_.data() + candidates_.size(), std::less<>());
}

double MoveFeatures::transfer_us(const Border& edge, uint32_t device) const {
  if (edge.output == kControlEdge) return 0;
  return edge.incoming ? problem_->transfer_us(edge.output, edge.elsewhere, device)
                       : problem_->transfer_us(edge.output, device, edge.elsewhere);
}

// How busy others keep the device while the group runs.
double MoveFeatures::busy_share(uint32_t device) const {
  const double others =
      state_->busy_us(device, now_.first_start_us, now_.last_finish_us) - work_on_[device];
  return ratio(others, now_.last_finish_us - now_.first_start_us);
}

void MoveFeatures::fill_common() {
  const PlacementState& state = *state_;
  const double makespan = state.makespan_us();
  Row r(common_.data());
  using F = PairFeature;
  r.set(F::k_load_source, ratio(state.load_us(group_.source) - work_on_[group_.source], makespan));
  r.set(F::k_load_mean, ratio(state.mean_load_us(), makespan));
  r.set(F::k_busy_source, busy_share(group_.source));
  r.set(F::k_window, ratio(now_.last_finish_us - now_.first_start_us, makespan));
  r.set(F::k_position, ratio((now_.first_start_us + now_.last_finish_us) / 2, makespan));
  r.set(F::k_transfer_before, ratio(now_.transfer_us, makespan));
  r.set(F::k_critical_transfer_before, ratio(now_.critical_transfer_us, makespan));
  r.set(F::k_critical_work, ratio(now_.critical_work_us, makespan));
  r.set(F::k_slack, ratio(now_.least_slack_us, makespan));
  r.set(F::k_egress_source, ratio(state.egress_us(group_.source), makespan));
  r.set(F::k_affinity_source, ratio(border_bytes_[group_.source], now_.border_bytes));
  r.set(F::k_scattered, 1 - ratio(work_on_[group_.source], now_.work_us));
  r.set(F::k_group_share, ratio(static_cast<double>(group_.nodes.size()), problem_->node_count()));
  r.set(F::k_devices, 1.0 / problem_->device_count());
  r.set(F::k_parallelism, ratio(state.mean_load_us(), makespan));
  r.set(F::k_communication, state.communication());
}

void MoveFeatures::row(uint32_t device, float* out) const {
  const PlacementState& state = *state_;
  const double makespan = state.makespan_us();
  const double work = run_of_class_[problem_->class_of(device)];
  double after = 0, critical_after = 0, delay_in = -makespan, delay_out = -makespan;
  for (const Border& edge : watched(border_, state.stop())) {
    const double transfer = transfer_us(edge, device);
    after += transfer;
    if (edge.critical) critical_after += transfer;
    double& delay = edge.incoming ? delay_in : delay_out;
    delay = std::max(delay, edge.ready_us + transfer - edge.needed_us);
  }
  const uint64_t limit = problem_->memory_limit(device);
  const double share_here = ratio(work_on_[device], now_.work_us);
  const double held = state.resident_bytes(device) + now_.resident_bytes * (1 - share_here);

  std::copy(common_.begin(), common_.end(), out);
  Row r(out);
  using F = PairFeature;
  r.set(F::k_work_target, ratio(work, makespan));
  r.set(F::k_work_change, ratio(work - now_.work_us, makespan));
  r.set(F::k_load_target, ratio(state.load_us(device) - work_on_[device], makespan));
  r.set(F::k_busy_target, busy_share(device));
  r.set(F::k_transfer_after, ratio(after, makespan));
  r.set(F::k_critical_transfer_after, ratio(critical_after, makespan));
  r.set(F::k_delay_in, ratio(delay_in, makespan));
  r.set(F::k_delay_out, ratio(delay_out, makespan));
  r.set(F::k_egress_target, ratio(state.egress_us(device), makespan));
  r.set(F::k_affinity_target, ratio(border_bytes_[device], now_.border_bytes));
  r.set(F::k_on_target, share_here);
  r.set(F::k_memory_after,
        limit == Problem::kUnlimited ? 0 : ratio(held, static_cast<double>(limit)));
}

}  // namespace placeto
