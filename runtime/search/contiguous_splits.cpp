// Cheapest splits of a chain into consecutive parts on unlike devices: dynamic programming over
// (groups taken, parts so far, device of the last part), as in Bokhari, "Partitioning problems in
// parallel, pipelined, and distributed computing", IEEE Transactions on Computers 1988, for the sum
// instead of the bottleneck.
#include <algorithm>

#include "runtime/search/stage_search.h"
#include "runtime/timeline/order.h"

namespace placeto {
namespace {

constexpr uint32_t kMostParts = 6, kMostDevices = 8;

// Per boundary: the tensors that pass it.
struct Crossing {
  double tensors = 0, bytes = 0;
};

class ChainSplits {
 public:
  ChainSplits(const Problem& problem, Stop* stop)
      : problem_(problem), stop_(stop), devices_(std::min(problem.device_count(), kMostDevices)) {
    order_ = groups_in_topological_order(problem, stop);
    if (stopped(stop)) return;
    std::vector<uint32_t> position(problem.group_count());
    for (uint32_t i = 0; i < order_.size(); ++i) position[order_[i]] = i;
    crossings_.resize(order_.size() + 1);
    for (uint32_t o = 0; o < problem.graph().output_count(); ++o) {
      uint32_t first = position[problem.group_of(problem.graph().producer(o))], last = first;
      for (uint32_t w : watched(problem.graph().consumers(o), stop_)) {
        first = std::min(first, position[problem.group_of(w)]);
        last = std::max(last, position[problem.group_of(w)]);
      }
      if (spend(stop_, 1 + problem.graph().consumers(o).size())) return;
      if (first == last) continue;
      const auto bytes = static_cast<double>(problem.graph().output_bytes(o));
      crossings_[first + 1].tensors += 1;
      crossings_[first + 1].bytes += bytes;
      crossings_[last + 1].tensors -= 1;
      crossings_[last + 1].bytes -= bytes;
    }
    for (size_t i = 1; i < crossings_.size(); ++i) {
      crossings_[i].tensors += crossings_[i - 1].tensors;
      crossings_[i].bytes += crossings_[i - 1].bytes;
    }
  }

  std::vector<Assignment> find() {
    const size_t row = size_t{kMostParts} * devices_;
    std::vector<double> cost(row, kNever), next(row);
    came_from_.assign(order_.size() * row, kStays);
    for (uint32_t i = 0; i < order_.size(); ++i) {
      for (uint32_t parts = 0; parts < kMostParts; ++parts) {
        for (uint32_t d = 0; d < devices_; ++d) step(i, parts, d, cost, next);
      }
      cost.swap(next);
      if (spend(stop_, row * devices_)) return {};
    }
    std::vector<Assignment> splits;
    for (uint32_t parts = 1; parts < kMostParts; ++parts) {
      const auto first = cost.begin() + parts * devices_;
      const auto least = std::min_element(first, first + devices_);
      if (*least < kNever) splits.push_back(trace(parts, static_cast<uint32_t>(least - first)));
    }
    return splits;
  }

 private:
  static constexpr uint8_t kStays = 0xff;

  double run_us(uint32_t group, uint32_t device) const {
    if (!problem_.allowed(group, device)) return kNever;
    double sum = 0;
    for (uint32_t v : watched(problem_.members(group), stop_)) sum += problem_.run_us(v, device);
    return sum;
  }

  // What it costs to go on with device `to` at the boundary before position i.
  double boundary_us(uint32_t i, uint32_t from, uint32_t to) const {
    const Topology& topology = problem_.topology();
    const LinkParameters& link = topology.link(from, to);
    double us_per_byte = 1 / link.bandwidth_bytes_per_us, us = topology.device(to).stage_us;
    for (const DeviceSpec* device : {&topology.device(from), &topology.device(to)}) {
      us += crossings_[i].tensors * device->cut_us;
      if (device->cut_bytes_per_us > 0) us_per_byte += 1 / device->cut_bytes_per_us;
    }
    us += topology.latency_us(from, to);
    return us + crossings_[i].bytes * us_per_byte;
  }

  void step(uint32_t i, uint32_t parts, uint32_t d, const std::vector<double>& cost,
            std::vector<double>& next) {
    const size_t at = size_t{parts} * devices_ + d;
    uint8_t& from = came_from_[i * cost.size() + at];
    double best = cost[at];
    if (i == 0) best = parts == 0 ? problem_.topology().device(d).stage_us : kNever;
    for (uint32_t a = 0; i > 0 && parts > 0 && a < devices_; ++a) {
      const double before = cost[at - devices_ - d + a];
      if (a == d || before >= best) continue;
      const double us = before + boundary_us(i, a, d);
      if (us >= best) continue;
      best = us;
      from = static_cast<uint8_t>(a);
    }
    next[at] = best < kNever ? best + run_us(order_[i], d) : kNever;
  }

  Assignment trace(uint32_t parts, uint32_t device) const {
    Assignment assignment(problem_.node_count());
    const size_t row = size_t{kMostParts} * devices_;
    for (size_t i = order_.size(); i-- > 0;) {
      for (uint32_t v : problem_.members(order_[i])) assignment[v] = device;
      const uint8_t from = came_from_[i * row + size_t{parts} * devices_ + device];
      if (from == kStays) continue;
      device = from;
      --parts;
    }
    return assignment;
  }

  const Problem& problem_;
  Stop* stop_;
  uint32_t devices_;
  std::vector<uint32_t> order_;  // groups
  std::vector<Crossing> crossings_;
  std::vector<uint8_t> came_from_;  // position x parts x device
};

}  // namespace

std::vector<Assignment> contiguous_splits(const Problem& problem, Stop* stop) {
  if (problem.device_count() < 2) return {};
  ChainSplits splits(problem, stop);
  if (stopped(stop)) return {};
  return splits.find();
}

}  // namespace placeto
