#include "runtime/heuristics/serial_memory.h"

#include <algorithm>
#include <numeric>

namespace placeto {

SerialMemory::SerialMemory(const Graph& graph, Stop* stop)
    : first_(graph.output_count()), end_(graph.output_count()) {
  const uint32_t nodes = graph.node_count();
  std::vector<uint32_t> turn(nodes), last(graph.output_count());
  for (uint32_t i = 0; i < nodes; ++i) {
    turn[graph.topological_order()[i]] = i;
    if (spend(stop, 1)) return;
  }
  std::vector<double> held(nodes + 1, 0);  // at each turn
  for (uint32_t o = 0; o < graph.output_count(); ++o) {
    last[o] = turn[graph.producer(o)];
    for (const uint32_t w : watched(graph.consumers(o), stop)) last[o] = std::max(last[o], turn[w]);
    const auto bytes = static_cast<double>(graph.output_bytes(o));
    held[turn[graph.producer(o)]] += bytes;
    held[last[o] + 1] -= bytes;
    if (spend(stop, 1 + graph.consumers(o).size())) return;
  }
  std::partial_sum(held.begin(), held.end(), held.begin());
  if (spend(stop, Stop::looked_up(2 * held.size()))) return;
  std::array<uint32_t, kMoments> moments;
  for (uint32_t m = 0; m < kMoments; ++m) {
    const auto share = [&](uint32_t part) {
      return static_cast<uint32_t>(uint64_t{nodes} * part / kMoments);
    };
    const auto begin = held.begin() + share(m);
    const auto most = std::max_element(begin, held.begin() + std::max(share(m) + 1, share(m + 1)));
    moments[m] = static_cast<uint32_t>(most - held.begin());
  }
  const auto first_from = [&](uint32_t at) {
    return static_cast<uint8_t>(std::ranges::lower_bound(moments, at) - moments.begin());
  };
  for (uint32_t o = 0; o < graph.output_count(); ++o) {
    first_[o] = first_from(turn[graph.producer(o)]);
    end_[o] = first_from(last[o] + 1);
    if (spend(stop, 1)) return;
  }
}

void SerialMemory::add(uint32_t output, double bytes, Bytes& to) const {
  for (uint32_t m = first_[output]; m < end_[output]; ++m) to[m] += bytes;
}

}  // namespace placeto
