// The minimum spanning tree of the devices, by the time that links take (Prim, "Shortest connection
// networks and some generalizations", Bell System Technical Journal 1957), is cut wherever its
// edges, in ascending order, get slower by a leap: single-linkage clustering.
#include "runtime/placer/near_devices.h"

#include <algorithm>

#include "runtime/base/disjoint_sets.h"

namespace placeto {
namespace {

struct Edge {
  uint32_t a, b;
  double us;
};

// There and back, of an output of mean size.
class LinkTime {
 public:
  explicit LinkTime(const Problem& problem, Stop* stop) : topology_(problem.topology()) {
    const auto outputs = problem.graph().output_bytes();
    for (const uint64_t bytes : watched(outputs, stop)) bytes_ += static_cast<double>(bytes);
    if (!outputs.empty()) bytes_ /= static_cast<double>(outputs.size());
  }
  double us(uint32_t a, uint32_t b) const { return one_way_us(a, b) + one_way_us(b, a); }

 private:
  double one_way_us(uint32_t from, uint32_t to) const {
    const LinkParameters& link = topology_.link(from, to);
    const bool waits = topology_.spec().contention != Contention::kNone;
    const double us = bytes_ / link.bandwidth_bytes_per_us + (waits ? link.gap_us : 0);
    return us + topology_.latency_us(from, to);
  }

  const Topology& topology_;
  double bytes_ = 0;
};

// Ascending; empty once stopped.
std::vector<Edge> spanning_tree(const Problem& problem, Stop* stop) {
  const uint32_t devices = problem.device_count();
  const LinkTime time(problem, stop);
  std::vector<Edge> tree, nearest;  // of each device that is not in the tree yet
  for (uint32_t d = 1; d < devices; ++d) nearest.push_back({d, 0, time.us(d, 0)});
  while (!nearest.empty()) {
    const auto next = std::ranges::min_element(nearest, {}, &Edge::us);
    const uint32_t added = next->a;
    tree.insert(std::ranges::upper_bound(tree, next->us, {}, &Edge::us), *next);
    nearest.erase(next);
    for (Edge& edge : nearest) {
      const double us = time.us(edge.a, added);
      if (us < edge.us) edge = {edge.a, added, us};
    }
    if (spend(stop, devices)) return {};
  }
  return tree;
}

// By how many runs of the whole graph each device makes in a microsecond, of the share of groups
// that may run there.
std::vector<double> speeds(const Problem& problem, Stop* stop) {
  constexpr double kLeastUs = 1e-9;  // of a graph whose nodes take no time
  std::vector<double> speed;
  for (uint32_t d = 0; d < problem.device_count() && !stopped(stop); ++d) {
    double us = 0, allowed = 0;
    for (uint32_t g = 0; g < problem.group_count(); ++g) {
      allowed += problem.allowed(g, d);
      for (const uint32_t v : watched(problem.members(g), stop)) {
        us += problem.can_run(v, d) ? problem.run_us(v, d) : problem.mean_run_us(v);
      }
      if (spend(stop, problem.members(g).size())) break;
    }
    speed.push_back(allowed / std::max(kLeastUs, us));
  }
  return speed;
}

// Of the forest of the first `edges` edges, those of two devices or more.
DeviceSets sets_of(const std::vector<Edge>& tree, size_t edges, const std::vector<double>& speed) {
  const auto devices = static_cast<uint32_t>(speed.size());
  DisjointSets joined(devices);
  for (size_t i = 0; i < edges; ++i) joined.merge(tree[i].a, tree[i].b);
  struct Set {
    double speed = 0;
    std::vector<uint32_t> devices;
  };
  std::vector<Set> by_first(devices);
  for (uint32_t d = 0; d < devices; ++d) {
    Set& set = by_first[joined.find(d)];
    set.speed += speed[d];
    set.devices.push_back(d);
  }
  DeviceSets sets;
  for (;;) {
    const auto fastest = std::ranges::max_element(by_first, {}, &Set::speed);
    if (fastest->speed <= 0) return sets;
    fastest->speed = 0;
    if (fastest->devices.size() > 1) sets.push_back(std::move(fastest->devices));
  }
}

}  // namespace

std::vector<DeviceSets> near_devices(const Problem& problem, Stop* stop) {
  constexpr double kSlower = 1.5;
  constexpr uint32_t kMostDevices = 64;
  const uint32_t devices = problem.device_count();
  const bool few = devices > 2 && devices <= kMostDevices;
  if (problem.topology().uniform_links() || !few) return {};
  const std::vector<Edge> tree = spanning_tree(problem, stop);
  std::vector<double> speed;
  std::vector<DeviceSets> scales;
  for (size_t i = tree.size(); i-- > 1 && !stopped(stop);) {
    if (!(tree[i].us > kSlower * tree[i - 1].us)) continue;
    if (speed.empty()) speed = speeds(problem, stop);
    if (!stopped(stop)) scales.push_back(sets_of(tree, i, speed));
  }
  return scales;
}

}  // namespace placeto
