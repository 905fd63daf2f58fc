// Bin completion: one device after the other takes every set of groups that wastes no more room
// than all of them together have to spare (Korf, "A new algorithm for optimal bin packing", AAAI
// 2002). The sets are found from the sums of halves of the groups, as the best algorithms for
// partitions do it (Schreiber, Korf and Moffitt, "Optimal multi-way number partitioning", JACM
// 2018): where little is to spare they are few among up to 2^40.
#pragma once

#include <span>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

// More have too many subsets.
inline constexpr uint32_t kMostCompleted = 40;

enum class Completion : uint8_t { kFound, kNone, kGaveUp };

// Devices of the groups, at most kMostCompleted, so that their resident bytes fit everywhere, and
// beside them `need[g]` bytes of any single group g on the device. kNone is a proof. The devices
// are in `device_of[g]`, if found; else these stay. `steps` sums are looked at, at most, and taken
// off it.
Completion complete_bins(const Problem& problem, std::span<const uint64_t> need,
                         std::span<const uint32_t> groups, std::span<const uint32_t> devices,
                         std::vector<uint32_t>& device_of, uint64_t& steps, Stop* stop);

}  // namespace placeto
