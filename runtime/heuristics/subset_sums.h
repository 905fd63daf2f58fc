// All sums that subsets of a few numbers make (Horowitz and Sahni, "Computing partitions with
// applications to the knapsack problem", JACM 1974).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace placeto {

// At most 64 numbers, which together stay below 2^64; bit i of a subset stands for number i.
struct SubsetSum {
  uint64_t sum, subset;
};

// Those of numbers[begin, end), ascending: those without and with each further one are merged.
// `merged` is for that, and keeps its memory.
inline void list_subset_sums(std::span<const uint64_t> numbers, uint32_t begin, uint32_t end,
                             std::vector<SubsetSum>& sums, std::vector<SubsetSum>& merged) {
  sums.assign(1, SubsetSum{0, 0});
  for (uint32_t i = begin; i < end; ++i) {
    merged.clear();
    for (size_t without = 0, with = 0; with < sums.size();) {
      const uint64_t more = sums[with].sum + numbers[i];
      if (without < sums.size() && sums[without].sum <= more) {
        merged.push_back(sums[without++]);
      } else {
        merged.push_back({more, sums[with++].subset | uint64_t{1} << i});
      }
    }
    sums.swap(merged);
  }
}

}  // namespace placeto
