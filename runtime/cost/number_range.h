// The numbers that a cost model computes with: 0, or from 1e-60 to 1e60.
//
// Files may hold every finite number, and descriptions keep what they hold. But the reciprocal of
// the least double above 0 is infinity, infinity x 0 bytes is no number, and ranks that are no
// numbers put nodes before their predecessors. Within this range sums, quotients, their squares and
// products of two of them are finite, whatever is combined: 1e60 us are 10^46 years.
#pragma once

#include "runtime/base/stop.h"
#include "runtime/graph/topology.h"

namespace placeto {

constexpr double kLeastNumber = 1e-60, kMostNumber = 1e60;

constexpr bool in_number_range(double x) {
  return x == 0 || (x >= kLeastNumber && x <= kMostNumber);
}

// Says which number of the topology is out of range.
[[gnu::noinline]] Status check_numbers(const Topology& topology, Stop* stop);

// The message for a number that is; `place` and `field` are joined.
[[gnu::noinline]] Status out_of_number_range(std::string_view place, std::string_view field,
                                             double x);

}  // namespace placeto
