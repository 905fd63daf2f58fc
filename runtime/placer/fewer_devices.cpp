#include "runtime/placer/fewer_devices.h"

#include <algorithm>
#include <bit>
#include <span>

#include "runtime/cost/twins.h"

namespace placeto {
namespace {

// To skip some of eight takes half the time, but then they may be worse than six: what is skipped
// is searched by whoever has as many. Each of sixteen would take 2.5 times as long again.
uint32_t next_lower(uint32_t devices) {
  constexpr uint32_t kEach = 8;
  return devices <= kEach ? devices - 1 : std::bit_floor(devices - 1);
}

// Colocation, and where groups may run, as the problem has it for these of its devices; headroom is
// off its limits already.
Rules rules_of(const Problem& problem, const std::vector<uint32_t>& devices, Stop* stop) {
  Rules rules;
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    const auto members = problem.members(g);
    if (members.size() > 1) rules.colocate.emplace_back(members.begin(), members.end());
    for (uint32_t d = 0; d < devices.size() && problem.is_restricted(); ++d) {
      if (!problem.allowed(g, devices[d])) rules.forbids.push_back({members[0], d});
    }
    if (spend(stop, members.size() + devices.size())) break;
  }
  rules.objective = problem.objective();
  return rules;
}

}  // namespace

std::vector<std::vector<uint32_t>> like_devices(const Problem& problem) {
  std::vector<std::vector<uint32_t>> sets;
  if (!problem.topology().uniform_links()) return sets;
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    const auto set = std::find_if(sets.begin(), sets.end(), [&](const auto& known) {
      return interchangeable(problem, known[0], d);
    });
    if (set == sets.end()) {
      sets.push_back({d});
    } else {
      set->push_back(d);
    }
  }
  return sets;
}

uint32_t sizes_searched(uint32_t devices) {
  uint32_t count = 1;
  for (; devices > 1; devices = next_lower(devices)) ++count;
  return count;
}

std::vector<size_t> sets_to_lessen(const std::vector<std::vector<uint32_t>>& sets,
                                   size_t first_set) {
  constexpr uint64_t kMostCombinations = 24;
  uint64_t combinations = 1;
  std::vector<size_t> lessened;
  for (size_t k = 0; k < sets.size(); ++k) {
    if (sets[k].size() < 2) continue;
    combinations *= sizes_searched(static_cast<uint32_t>(sets[k].size()));
    if (k >= first_set) lessened.push_back(k);
    if (combinations > kMostCombinations) {
      const auto largest =
          std::ranges::max_element(sets, {}, [](const auto& s) { return s.size(); });
      return {static_cast<size_t>(largest - sets.begin())};
    }
  }
  return lessened;
}

std::vector<uint32_t> without_last(const Problem& problem, const std::vector<uint32_t>& set) {
  const auto left_out = std::span(set).subspan(next_lower(static_cast<uint32_t>(set.size())));
  std::vector<uint32_t> devices;
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    if (!std::ranges::binary_search(left_out, d)) devices.push_back(d);
  }
  return devices;
}

std::unique_ptr<FewerDevices> FewerDevices::of(const Problem& problem,
                                               std::vector<uint32_t> devices, Stop* stop) {
  const Topology& topology = problem.topology();
  std::unique_ptr<FewerDevices> fewer(new FewerDevices);
  fewer->device_ = std::move(devices);
  TopologySpec spec = topology.spec();
  spec.devices.clear();
  spec.links.clear();
  for (const uint32_t d : fewer->device_) {
    const uint64_t limit = problem.memory_limit(d);
    if (limit == 0) return nullptr;  // which a file says of no limit at all
    spec.devices.push_back(topology.device(d));
    spec.devices.back().memory_bytes = limit == Problem::kUnlimited ? 0 : limit;
    for (const uint32_t to : fewer->device_) {
      const LinkSpec* const link = d == to ? nullptr : topology.named_link(d, to);
      if (link != nullptr) spec.links.push_back(*link);
    }
  }
  Result<Topology> smaller = Topology::build(std::move(spec), kNoLimits);
  if (!smaller.ok()) return nullptr;
  fewer->topology_ = std::move(*smaller);
  Result<Problem> built = Problem::build(problem.graph(), *fewer->topology_,
                                         rules_of(problem, fewer->device_, stop), kNoLimits, stop);
  if (!built.ok()) return nullptr;
  fewer->problem_ = std::move(*built);
  return fewer;
}

Candidate FewerDevices::among_all(Candidate candidate) const {
  for (uint32_t& d : candidate.assignment) d = device_[d];
  for (uint32_t& d : candidate.division.device) d = device_[d];
  candidate.one_move_optimal = false;  // there are more devices to move to
  return candidate;
}

}  // namespace placeto
