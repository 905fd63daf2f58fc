#include "runtime/cost/problem.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "runtime/base/disjoint_sets.h"
#include "runtime/base/message.h"
#include "runtime/base/no_index.h"
#include "runtime/cost/estimate.h"
#include "runtime/cost/number_range.h"
#include "runtime/graph/text.h"

namespace placeto {
namespace {

std::string node_place(const Graph& graph, uint32_t v) {
  return join({"nodes[", v, "] ", in_quotes(graph.node(v).name)});
}

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

// Run time of node v on a device before slowdown: stated, or else estimated.
double base_run_us(const Graph& graph, uint32_t v, const DeviceSpec& device, Stop* stop) {
  if (!allows_kind(graph.node(v), device.kind)) return kNever;
  const auto stated = stated_run_us(graph, v, device.kind);
  if (stated) return *stated < 0 ? kNever : *stated;
  return estimate_run_us(graph, v, device, stop).value_or(kNever);
}

uint64_t usable_bytes(const DeviceSpec& device, const Rules& rules) {
  const double usable = static_cast<double>(device.memory_bytes) * (1 - rules.memory_headroom);
  // Rounded, the product may be more than there is, and more than an integer holds.
  const bool rounded_up = usable >= static_cast<double>(device.memory_bytes);
  return rounded_up ? device.memory_bytes : static_cast<uint64_t>(usable);
}

std::string why_nothing_runs(const Graph& graph, uint32_t v, const Topology& topology) {
  std::string text =
      node_place(graph, v) + " can run on no device of " + in_quotes(topology.name()) + " (";
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
    return Status::invalid(join({"memory headroom is ", std::to_string(rules.memory_headroom),
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
    return Status::bad_input(join({node_count(), " nodes on ", classes_.count,
                                   " distinct classes of device, expected a product of at most ",
                                   limits.max_run_entries}));
  }
  std::vector<uint32_t> class_size(classes_.count, 0);
  for (uint32_t c : classes_.of_device) ++class_size[c];
  run_us_.reserve(size_t{node_count()} * classes_.count);
  mean_run_us_.reserve(node_count());
  for (uint32_t v = 0; v < node_count(); ++v) {
    double sum = 0;
    uint32_t able = 0;
    for (uint32_t c = 0; c < classes_.count; ++c) {
      const DeviceSpec& device = topology_->device(classes_.first_device[c]);
      const double base = base_run_us(*graph_, v, device, stop);
      if (base != kNever && !in_number_range(base)) {
        return out_of_number_range(node_place(*graph_, v), ": its run time", base);
      }
      const double run = base * device.slowdown;
      run_us_.push_back(run);
      if (run == kNever) continue;
      sum += run * class_size[c];
      able += class_size[c];
    }
    if (able == 0) return Status::bad_input(why_nothing_runs(*graph_, v, *topology_));
    mean_run_us_.push_back(sum / able);
    if (spend(stop, classes_.count)) return Status::stopped();
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
      return Status::bad_input(join({node_place(*graph_, v),
                                     ": run times, transfers and gaps up to here sum to more than "
                                     "1e60 us, expected a smaller sum"}));
    }
    if (spend(stop, classes_.count + graph_->out_edges(v).size())) return Status::stopped();
  }
  shortest_passing_us_ = sum * std::numeric_limits<double>::epsilon();
  return {};
}

Status Problem::form_groups(const Rules& rules, Stop* stop) {
  const uint32_t n = node_count();
  DisjointSets sets(n);
  std::unordered_map<std::string_view, uint32_t> first_with_key;
  for (uint32_t v = 0; v < n; ++v) {
    if (spend(stop, 1)) return Status::stopped();
    if (graph_->node(v).colocate.empty()) continue;
    const auto [it, fresh] = first_with_key.emplace(graph_->node(v).colocate, v);
    if (!fresh) sets.merge(it->second, v);
  }
  for (const std::vector<uint32_t>& together : rules.colocate) {
    for (uint32_t v : together) {
      if (v >= n) {
        return Status::invalid(join({"colocate: node ", v, ", expected a node index below ", n}));
      }
      sets.merge(together[0], v);
    }
    if (spend(stop, together.size())) return Status::stopped();
  }
  groups_.of.resize(n);
  std::vector<uint32_t> size;
  for (uint32_t v = 0; v < n; ++v) {  // a representative is the first of its set to be met
    const uint32_t lowest = sets.find(v);
    if (lowest == v) {
      groups_.of[v] = static_cast<uint32_t>(size.size());
      size.push_back(0);
    } else {
      groups_.of[v] = groups_.of[lowest];
    }
    ++size[groups_.of[v]];
    if (spend(stop, 1)) return Status::stopped();
  }
  groups_.begin.reserve(size.size() + 1);
  groups_.begin.assign(1, 0);
  for (uint32_t s : watched(size, stop)) groups_.begin.push_back(groups_.begin.back() + s);
  if (stopped(stop)) return Status::stopped();
  std::vector<uint32_t> end(groups_.begin.begin(), groups_.begin.end() - 1);
  groups_.members.resize(n);
  if (spend(stop, n)) return Status::stopped();  // memory touched for the first time is slow
  groups_.resident_bytes.assign(group_count(), 0);
  if (spend(stop, n)) return Status::stopped();
  groups_.class_allowed.reserve(size_t{group_count()} * classes_.count);
  for (uint32_t g = 0; g < group_count(); ++g) {
    groups_.class_allowed.resize(groups_.class_allowed.size() + classes_.count, 1);
    if (spend(stop, 1 + Stop::copied(classes_.count))) return Status::stopped();
  }
  for (uint32_t v = 0; v < n; ++v) {
    const uint32_t g = groups_.of[v];
    groups_.members[end[g]++] = v;
    groups_.resident_bytes[g] += graph_->node(v).resident_bytes;
    for (uint32_t c = 0; c < classes_.count; ++c) {
      if (run_row(v)[c] == kNever) groups_.class_allowed[size_t{g} * classes_.count + c] = 0;
    }
    if (spend(stop, classes_.count)) return Status::stopped();
  }
  return {};
}

Status Problem::restrict_groups(const Rules& rules, Stop* stop) {
  restrictions_.words = (device_count() + 63) / 64;
  const size_t most = std::min<size_t>(rules.pins.size() + rules.forbids.size(), group_count());
  restrictions_.left.reserve(most * restrictions_.words);  // grown, it would be copied
  for (const auto* list : {&rules.pins, &rules.forbids}) {
    const bool pin = list == &rules.pins;
    for (const Rules::NodeDevice& rule : *list) {
      if (rule.node >= node_count() || rule.device >= device_count()) {
        return Status::invalid(
            join({pin ? "pin" : "forbid", ": node ", rule.node, ", device ", rule.device,
                  ", expected below ", node_count(), " and ", device_count()}));
      }
      uint64_t* const left = devices_left(groups_.of[rule.node]);
      const uint32_t word = rule.device / 64;
      const uint64_t bit = uint64_t{1} << (rule.device % 64);
      for (uint32_t w = 0; pin && w < restrictions_.words; ++w) left[w] &= w == word ? bit : 0;
      if (!pin) left[word] &= ~bit;
      if (spend(stop, 1 + Stop::copied(restrictions_.words))) return Status::stopped();
    }
  }
  return {};
}

// The group's row, which begins with every device.
uint64_t* Problem::devices_left(uint32_t group) {
  if (restrictions_.row.empty()) restrictions_.row.assign(group_count(), kNoIndex);
  uint32_t& row = restrictions_.row[group];
  if (row == kNoIndex) {
    row = static_cast<uint32_t>(restrictions_.left.size() / restrictions_.words);
    restrictions_.left.resize(restrictions_.left.size() + restrictions_.words, ~uint64_t{0});
  }
  return &restrictions_.left[row * restrictions_.words];
}

bool Problem::rules_allow(uint32_t group, uint32_t device) const {
  const size_t row = restrictions_.row[group];
  if (row == kNoIndex) return true;
  return restrictions_.left[row * restrictions_.words + device / 64] >> (device % 64) & 1;
}

Status Problem::check_groups(Stop* stop) const {
  for (uint32_t g = 0; g < group_count(); ++g) {
    uint32_t d = 0;
    while (d < device_count() && !allowed(g, d)) ++d;
    if (spend(stop, 1 + Stop::looked_up(d))) return Status::stopped();
    if (d < device_count()) continue;
    std::string text = "no device satisfies the group of " + node_place(*graph_, members(g)[0]);
    if (const size_t others = members(g).size() - 1; others > 0) {
      text += join({" and ", others, others == 1 ? " colocated node (" : " colocated nodes (",
                    node_place(*graph_, members(g)[1]), others == 1 ? ")" : ", ...)"});
    }
    return Status::bad_input(
        join({text,
              "; expected a device that every node of it may run on, by cost_us, "
              "allowed_kinds, pins and forbids together"}));
  }
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
