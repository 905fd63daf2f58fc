// Disjoint sets with path halving; the representative is the lowest element of its set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace placeto {

class DisjointSets {
 public:
  explicit DisjointSets(uint32_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }
  uint32_t find(uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void merge(uint32_t a, uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<uint32_t> parent_;
};

}  // namespace placeto
