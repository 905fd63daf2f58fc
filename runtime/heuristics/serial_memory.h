// What outputs take at some moments of a run of all nodes one after the other: what stages hold
// whose nodes run at very different times, as a layer and its gradient do.
#pragma once

#include <array>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

class SerialMemory {
 public:
  static constexpr uint32_t kMoments = 16;
  using Bytes = std::array<double, kMoments>;

  // In topological order; of each of so many equal stretches the moment at which most is held.
  // Unusable once stopped.
  explicit SerialMemory(const Graph& graph, Stop* stop = nullptr);

  // From when it is made until it was read last.
  void add(uint32_t output, double bytes, Bytes& to) const;

 private:
  std::vector<uint8_t> first_, end_;  // moments, by output
};

}  // namespace placeto
