#include "tools/report/lanes.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace placeto {

Lanes transfer_lanes(const Topology& topology, const Timeline& timeline) {
  const std::vector<TransferSlice>& transfers = timeline.transfers;
  std::vector<uint32_t> order(transfers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(transfers[a].channel, transfers[a].start_us, transfers[a].end_us, a) <
           std::tie(transfers[b].channel, transfers[b].start_us, transfers[b].end_us, b);
  });

  Lanes lanes;
  lanes.of_transfer.resize(transfers.size());
  std::vector<double> free_at;  // of the current channel's lanes
  for (size_t i = 0; i < order.size(); ++i) {
    const TransferSlice& t = transfers[order[i]];
    if (i == 0 || transfers[order[i - 1]].channel != t.channel) free_at.clear();
    const auto lane = static_cast<size_t>(
        std::find_if(free_at.begin(), free_at.end(), [&](double f) { return f <= t.start_us; }) -
        free_at.begin());
    if (lane == free_at.size()) {
      free_at.push_back(0);
      const std::string name = topology.channel_name(t.channel);
      lanes.names.push_back(lane == 0 ? name : name + " (" + std::to_string(lane + 1) + ")");
    }
    free_at[lane] = t.end_us;
    lanes.of_transfer[order[i]] = static_cast<uint32_t>(lanes.names.size() - free_at.size() + lane);
  }
  return lanes;
}

}  // namespace placeto
