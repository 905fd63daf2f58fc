#include "tools/report/advice.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "runtime/placer/placer.h"
#include "runtime/timeline/critical_path.h"
#include "tools/report/lanes.h"

namespace placeto {
namespace {

std::vector<WaitingShare> waiting_shares(const Problem& problem,
                                         std::span<const uint32_t> assignment,
                                         const Timeline& timeline) {
  const CriticalPath path = critical_path(problem, assignment, timeline);
  const Lanes lanes = transfer_lanes(problem.topology(), timeline);
  std::map<std::string, double> spent;
  double rest = timeline.makespan_us;
  std::map<uint32_t, double> priced;  // of the stages on the path: what is not the nodes' time
  for (const uint32_t v : path.nodes) {
    const double us = timeline.finish_us[v] - timeline.start_us[v];
    spent[problem.topology().device(assignment[v]).name + " computes"] += us;
    rest -= us;
    if (!timeline.stages.empty()) priced[timeline.stage_of[v]] -= us;
  }
  for (auto& [stage, us] : priced) {
    // The run has ended when the last of its nodes has.
    const StageSlice& slice = timeline.stages[stage];
    us += std::min(slice.end_us, timeline.makespan_us) - slice.start_us;
    if (us <= 1e-6 * timeline.makespan_us) continue;  // rounding, or next to nothing
    spent["stages and cuts on " + problem.topology().device(slice.device).name] += us;
    rest -= us;
  }
  for (const uint32_t t : path.transfers) {
    const TransferSlice& transfer = timeline.transfers[t];
    const double us = transfer.end_us - transfer.start_us;
    spent[lanes.names[lanes.of_transfer[t]] + " sends"] += us;
    rest -= us;
  }
  std::vector<WaitingShare> shares;
  for (const auto& [what, us] : spent) shares.push_back({what, us});
  if (rest > 1e-6 * timeline.makespan_us) shares.push_back({"gaps and latencies", rest});
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.us > b.us; });
  return shares;
}

// By pairs of devices, from and to: the index of the link that is given for them, else kNoIndex.
std::vector<uint32_t> given_links(const Topology& topology) {
  std::map<std::string_view, uint32_t> device_of;
  const uint32_t n = topology.device_count();
  for (uint32_t d = 0; d < n; ++d) device_of.emplace(topology.device(d).name, d);
  std::vector<uint32_t> given(size_t{n} * n, kNoIndex);
  const std::vector<LinkSpec>& links = topology.spec().links;
  for (uint32_t i = 0; i < links.size(); ++i) {
    given[size_t{device_of.at(links[i].from)} * n + device_of.at(links[i].to)] = i;
  }
  return given;
}

// A channel with all its links twice as fast. An egress whose links are the default ones gets links
// of its own.
TopologySpec with_faster_channel(const Topology& topology, std::span<const uint32_t> given,
                                 uint32_t channel) {
  TopologySpec spec = topology.spec();
  const auto faster = [](LinkParameters link) {
    link.bandwidth_bytes_per_us *= 2;
    link.latency_us /= 2;
    link.gap_us /= 2;
    return link;
  };
  std::vector<LinkSpec> links;
  for (uint32_t from = 0; from < topology.device_count(); ++from) {
    for (uint32_t to = 0; to < topology.device_count(); ++to) {
      if (from == to || topology.channel(from, to) != channel) continue;
      if (const uint32_t i = given[size_t{from} * topology.device_count() + to]; i != kNoIndex) {
        spec.links[i].parameters = faster(spec.links[i].parameters);
      } else if (spec.default_link.bandwidth_bytes_per_us > 0) {
        links.push_back(
            {topology.device(from).name, topology.device(to).name, faster(spec.default_link), ""});
      }
    }
  }
  spec.links.insert(spec.links.end(), links.begin(), links.end());
  return spec;
}

// What placements of the problem are compared by.
double objective_us(const Problem& problem, const Timeline& timeline) {
  return !problem.is_for_latency() ? timeline.bottleneck_us : timeline.makespan_us;
}

// The objective of this placement, which rules do not change. Infinite where the changed machine
// cannot be described.
double objective_on(const Problem& problem, TopologySpec spec, std::span<const uint32_t> assignment,
                    const Division& division) {
  const Result<Topology> topology = Topology::build(std::move(spec), kNoLimits);
  if (!topology.ok()) return std::numeric_limits<double>::infinity();
  const Result<Problem> changed = Problem::build(problem.graph(), *topology, {}, kNoLimits);
  if (!changed.ok()) return std::numeric_limits<double>::infinity();
  return objective_us(problem, Simulator(*changed).run(assignment, division));
}

struct Part {
  std::string what;
  double busy_us;
  bool is_channel;
  uint32_t index;
};

std::vector<Part> busiest_parts(const Problem& problem, const Timeline& timeline) {
  const Topology& topology = problem.topology();
  std::vector<Part> parts;
  for (uint32_t d = 0; d < topology.device_count(); ++d) {
    const double busy = timeline.device_busy_us[d];
    if (busy > 0) parts.push_back({topology.device(d).name, busy, false, d});
  }
  for (uint32_t c = 0; c < topology.channel_count(); ++c) {
    const double busy = timeline.channel_busy_us[c];
    if (busy > 0) {
      parts.push_back({"transfers from " + topology.channel_name(c), busy, true, c});
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.busy_us > b.busy_us; });
  return parts;
}

// What memory costs: the best that the placer finds where there is plenty of it.
double objective_without_limits(const Problem& problem, uint64_t work) {
  constexpr uint64_t kEvaluations = 400;  // that a placing without a search takes, about
  if (!problem.memory_limited() || !problem.may_overflow()) return 0;
  if (problem.node_count() * kEvaluations > work) return 0;
  const Problem unlimited = problem.without_memory_limits();
  const Result<PlaceResult> placed = place_auto(unlimited, {});
  return placed.ok() ? objective_us(unlimited, placed->timeline) : 0;
}

}  // namespace

Advice advise(const Problem& problem, std::span<const uint32_t> assignment,
              const Timeline& timeline, uint64_t work) {
  const std::vector<Part> parts = busiest_parts(problem, timeline);
  Advice advice;
  advice.waits_for = waiting_shares(problem, assignment, timeline);
  for (const Part& part : parts) advice.busiest.push_back({part.what, part.busy_us});
  const double less_us = objective_us(problem, timeline) * (1 - 1e-4);
  const double free_us = objective_without_limits(problem, work);
  if (free_us > 0 && free_us < less_us) advice.without_limits_us = free_us;
  const Division division = recorded_division(timeline);
  const std::vector<uint32_t> given = given_links(problem.topology());
  // The changed machine is built from its devices, links and pairs of devices.
  uint64_t simulations =
      work / (problem.node_count() + problem.topology().spec().links.size() + given.size());
  for (const Part& part : parts) {
    if (simulations-- == 0) break;
    TopologySpec spec = problem.topology().spec();
    if (part.is_channel) {
      spec = with_faster_channel(problem.topology(), given, part.index);
    } else {
      spec.devices[part.index].slowdown /= 2;
    }
    const double us = objective_on(problem, std::move(spec), assignment, division);
    if (us < less_us) advice.twice_as_fast.push_back({part.what, us});
  }
  std::stable_sort(advice.twice_as_fast.begin(), advice.twice_as_fast.end(),
                   [](const auto& a, const auto& b) { return a.objective_us < b.objective_us; });
  return advice;
}

}  // namespace placeto
