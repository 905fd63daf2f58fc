#include "runtime/cost/problem.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "runtime/base/message.h"
#include "runtime/base/no_index.h"
#include "runtime/cost/estimate.h"
#include "runtime/cost/number_range.h"
#include "runtime/graph/text.h"

namespace placeto {
namespace {

size_t index_of(std::span<const std::string> kinds, const std::string& kind) {
  size_t index = 0;
  while (index < kinds.size() && kinds[index] != kind) ++index;
  return index;
}

bool allows_kind(const NodeSpec& node, const std::string& kind) {
  const auto& kinds = node.allowed_kinds;
  return kinds.empty() || index_of(kinds, kind) < kinds.size();
}

// What the graph states of node v on a device of that kind.
std::optional<double> stated_run_us(const Graph& graph, uint32_t v, const std::string& kind) {
  const NodeSpec& node = graph.node(v);
  if (node.cost_us.empty()) return std::nullopt;
  if (graph.kinds().empty()) return node.cost_us[0];
  const size_t index = index_of(graph.kinds(), kind);
  if (index == graph.kinds().size()) return std::nullopt;
  return node.cost_us[index];
}

// Run time of node v on a device before slowdown: stated, or else estimated. `bytes` is what the
// node moves, once that was asked for.
double base_run_us(const Graph& graph, uint32_t v, const DeviceSpec& device,
                   std::optional<double>& bytes, Stop* stop) {
  if (!allows_kind(graph.node(v), device.kind)) return kNever;
  const auto stated = stated_run_us(graph, v, device.kind);
  if (stated) return *stated < 0 ? kNever : *stated;
  if (!bytes) bytes = bytes_moved(graph, v, stop);
  return estimate_run_us(graph.node(v), *bytes, device).value_or(kNever);
}

uint64_t usable_bytes(const DeviceSpec& device, const Rules& rules) {
  const double usable = static_cast<double>(device.memory_bytes) * (1 - rules.memory_headroom);
  // Rounded, the product may be more than there is, and more than an integer holds.
  const bool rounded_up = usable >= static_cast<double>(device.memory_bytes);
  return rounded_up ? device.memory_bytes : static_cast<uint64_t>(usable);
}

std::string why_nothing_runs(const Graph& graph, uint32_t v, const Topology& topology) {
  std::string text =
      node_place(graph.spec(), v) + " can run on no device of " + in_quotes(topology.name()) + " (";
  constexpr uint32_t kShown = 4;
  for (uint32_t d = 0; d < topology.device_count() && d < kShown; ++d) {
    const DeviceSpec& device = topology.device(d);
    const char* why = " without peak_flops or memory_bandwidth to estimate from";
    if (stated_run_us(graph, v, device.kind)) why = " at a negative cost_us";
    if (!allows_kind(graph.node(v), device.kind)) why = " not among its allowed_kinds";
    text += (d ? ", " : "") + device.name + ": kind " + device.kind + why;
  }
  if (topology.device_count() > kShown) text += ", ...";
  return join({text,
               "); expected a cost_us of 0 or more for a kind that the topology has, allowed_kinds "
               "among its kinds, or peak rates on its devices"});
}

}  // namespace

Result<Problem> Problem::build(const Graph& graph, const Topology& topology, const Rules& rules,
                               const Limits& limits, Stop* stop) {
  if (!(rules.memory_headroom >= 0 && rules.memory_headroom < 1)) {
    return Status::invalid(join({"memory headroom is ", number_text(rules.memory_headroom),
                                 ", expected a share in [0, 1)"}));
  }
  Problem problem;
  problem.graph_ = &graph;
  problem.topology_ = &topology;
  problem.objective_ = rules.objective;
  if (Status s = check_numbers(topology, stop); !s.ok()) return s;
  for (const DeviceSpec& device : topology.spec().devices) {
    const bool limited = device.memory_bytes != 0;
    problem.memory_limited_ |= limited;
    problem.memory_limit_.push_back(limited ? usable_bytes(device, rules) : kUnlimited);
  }
  problem.classify_devices();
  if (Status s = problem.fill_run_times(limits, stop); !s.ok()) return s;
  if (Status s = problem.check_times(stop); !s.ok()) return s;
  if (Status s = problem.form_groups(rules, stop); !s.ok()) return s;
  if (Status s = problem.restrict_groups(rules, stop); !s.ok()) return s;
  if (Status s = problem.check_groups(stop); !s.ok()) return s;
  if (Status s = problem.fill_ranks(stop); !s.ok()) return s;
  problem.may_overflow_ = problem.find_overflow(stop);
  if (!problem.event_tables_.compile(problem, stop)) return Status::stopped();
  return problem;
}

Problem Problem::for_latency() const {
  Problem same = *this;
  same.objective_ = Objective::kLatency;
  return same;
}

Problem Problem::without_memory_limits() const {
  Problem same = *this;
  same.memory_limit_.assign(device_count(), kUnlimited);
  same.memory_limited_ = same.may_overflow_ = false;
  return same;
}

void Problem::classify_devices() {
  const auto key = [this](uint32_t d) {
    const DeviceSpec& device = topology_->device(d);
    return std::tie(device.kind, device.slowdown, device.peak_flops, device.memory_bandwidth);
  };
  for (uint32_t d = 0; d < device_count(); ++d) {
    uint32_t c = 0;
    while (c < classes_.first_device.size() && key(classes_.first_device[c]) != key(d)) ++c;
    if (c == classes_.first_device.size()) classes_.first_device.push_back(d);
    classes_.of_device.push_back(c);
  }
  classes_.count = static_cast<uint32_t>(classes_.first_device.size());
}

Status Problem::fill_run_times(const Limits& limits, Stop* stop) {
  if (uint64_t{node_count()} * classes_.count > limits.max_run_entries) {
    return bad_input({node_count(), " nodes on ", classes_.count,
                      " distinct classes of device, expected a product of at most ",
                      limits.max_run_entries});
  }
  std::vector<uint32_t> class_size(classes_.count, 0);
  for (uint32_t c : classes_.of_device) ++class_size[c];
  run_us_.reserve(size_t{node_count()} * classes_.count);
  mean_run_us_.reserve(node_count());
  for (uint32_t v = 0; v < node_count(); ++v) {
    double sum = 0;
    uint32_t able = 0;
    std::optional<double> bytes;
    for (uint32_t c = 0; c < classes_.count; ++c) {
      const DeviceSpec& device = topology_->device(classes_.first_device[c]);
      const double base = base_run_us(*graph_, v, device, bytes, stop);
      if (base != kNever && !in_number_range(base)) {
        return out_of_number_range(node_place(graph_->spec(), v), ": its run time", base);
      }
      const double run = base * device.slowdown;
      run_us_.push_back(run);
      if (run == kNever) continue;
      sum += run * class_size[c];
      able += class_size[c];
    }
    if (able == 0) return Status::bad_input(why_nothing_runs(*graph_, v, *topology_));
    mean_run_us_.push_back(sum / able);
    if (spend(stop, classes_.count + graph_->out_work(v))) return Status::stopped();
  }
  return {};
}

// No time that a cost model forms is longer than all runs, transfers and gaps one after the other.
// That sum is bounded, so an infinite time never comes.
Status Problem::check_times(Stop* stop) {
  LinkParameters slowest = topology_->spec().default_link;
  if (slowest.bandwidth_bytes_per_us == 0) {  // no two devices are without a link of their own
    slowest.bandwidth_bytes_per_us = std::numeric_limits<double>::infinity();
  }
  for (const LinkSpec& link : watched(topology_->spec().links, stop)) {
    const LinkParameters& p = link.parameters;
    slowest.bandwidth_bytes_per_us =
        std::min(slowest.bandwidth_bytes_per_us, p.bandwidth_bytes_per_us);
    slowest.latency_us = std::max(slowest.latency_us, p.latency_us);
    slowest.gap_us = std::max(slowest.gap_us, p.gap_us);
  }
  // At worst every node is a stage and every edge two times a cut.
  double stage_us = 0, cut_us = 0, cut_us_per_byte = 0;
  for (const DeviceSpec& device : topology_->spec().devices) {
    if (!is_staged()) break;
    stage_us = std::max(stage_us, device.stage_us);
    cut_us = std::max(cut_us, device.cut_us);
    if (device.cut_bytes_per_us > 0) {
      cut_us_per_byte = std::max(cut_us_per_byte, 1 / device.cut_bytes_per_us);
    }
  }
  double sum = 0;
  for (uint32_t v = 0; v < node_count(); ++v) {
    double longest = 0;
    for (uint32_t c = 0; c < classes_.count; ++c) {
      const double run = run_row(v)[c];
      if (run != kNever) longest = std::max(longest, run);
    }
    sum += longest + topology_->spec().op_gap_us + stage_us;
    for (const OutEdge& e : watched(graph_->out_edges(v), stop)) {
      if (e.output == kControlEdge) continue;
      sum += 2 * (cut_us + static_cast<double>(graph_->output_bytes(e.output)) * cut_us_per_byte);
      if (device_count() == 1) continue;
      sum += static_cast<double>(graph_->output_bytes(e.output)) / slowest.bandwidth_bytes_per_us +
             slowest.latency_us + slowest.gap_us;
    }
    if (!(sum <= kMostNumber)) {
      return bad_input({node_place(graph_->spec(), v),
                        ": run times, transfers and gaps up to here sum to more than "
                        "1e60 us, expected a smaller sum"});
    }
    if (spend(stop, classes_.count + graph_->out_edges(v).size())) return Status::stopped();
  }
  shortest_passing_us_ = sum * std::numeric_limits<double>::epsilon();
  return {};
}

bool Problem::find_overflow(Stop* stop) const {
  uint64_t everything = 0;  // fits: Graph::build has checked the sum
  for (uint32_t v = 0; v < node_count(); ++v) {
    everything += graph_->node(v).resident_bytes + graph_->node(v).workspace_bytes;
    if (spend(stop, 1)) return true;
  }
  for (uint64_t bytes : watched(graph_->output_bytes(), stop)) everything += bytes;
  return std::any_of(memory_limit_.begin(), memory_limit_.end(),
                     [everything](uint64_t limit) { return everything > limit; });
}

Status Problem::fill_ranks(Stop* stop) {
  const uint32_t n = device_count();
  if (n > 1) {
    double us_per_byte = 0, latency = 0;
    if (topology_->uniform_links()) {
      us_per_byte = 1 / topology_->spec().default_link.bandwidth_bytes_per_us;
      latency = topology_->spec().default_link.latency_us;
    } else {
      for (uint32_t from = 0; from < n; ++from) {
        for (uint32_t to = 0; to < n; ++to) {
          if (from == to) continue;
          us_per_byte += 1 / topology_->link(from, to).bandwidth_bytes_per_us;
          latency += topology_->link(from, to).latency_us;
        }
        if (spend(stop, n)) return Status::stopped();
      }
      us_per_byte /= static_cast<double>(n) * (n - 1);
      latency /= static_cast<double>(n) * (n - 1);
    }
    mean_transfer_.us_per_byte = us_per_byte;
    if (topology_->spec().transfer == Transfer::kUnicast) mean_transfer_.latency_us = latency;
  }
  upward_rank_.assign(node_count(), 0);
  const auto order = graph_->topological_order();
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    double longest = 0;
    for (const OutEdge& e : watched(graph_->out_edges(*v), stop)) {
      longest = std::max(longest, mean_transfer_us(e.output) + upward_rank_[e.target]);
    }
    upward_rank_[*v] = mean_run_us_[*v] + longest;
    if (spend(stop, 1 + graph_->out_edges(*v).size())) return Status::stopped();
  }
  return {};
}

}  // namespace placeto
