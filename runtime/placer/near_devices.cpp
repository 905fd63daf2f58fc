// The minimum spanning tree of the devices, by the time that links take (Prim, "Shortest connection
// networks and some generalizations", Bell System Technical Journal 1957), is cut where its edges,
// in ascending order, get slower by the most: single-linkage clustering.
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
    const double us = bytes_ / link.bandwidth_bytes_per_us + link.gap_us;
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

// By how many runs of the whole graph each device makes in a microsecond.
std::vector<double> speeds(const Problem& problem, Stop* stop) {
  const uint32_t devices = problem.device_count();
  std::vector<double> class_us(problem.class_count(), 0), speed;
  std::vector<uint32_t> first(problem.class_count(), 0);
  for (uint32_t d = devices; d-- > 0;) first[problem.class_of(d)] = d;
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    for (uint32_t k = 0; k < problem.class_count(); ++k) {
      const bool can_run = problem.can_run(v, first[k]);
      class_us[k] += can_run ? problem.run_us(v, first[k]) : problem.mean_run_us(v);
    }
    if (spend(stop, problem.class_count())) break;
  }
  for (uint32_t d = 0; d < devices; ++d) {
    constexpr double kLeastUs = 1e-9;  // of a graph whose nodes take no time
    speed.push_back(1 / std::max(kLeastUs, class_us[problem.class_of(d)]));
  }
  return speed;
}

}  // namespace

std::vector<uint32_t> near_devices(const Problem& problem, Stop* stop) {
  constexpr double kSlower = 1.5;
  constexpr uint32_t kMostDevices = 64;
  const uint32_t devices = problem.device_count();
  const bool few = devices > 2 && devices <= kMostDevices;
  if (problem.topology().uniform_links() || !few) return {};
  const std::vector<Edge> tree = spanning_tree(problem, stop);
  size_t fast = 0;  // edges that stay
  double slower = kSlower;
  for (size_t i = 1; i < tree.size(); ++i) {
    if (tree[i].us < slower * tree[i - 1].us) continue;
    slower = tree[i].us / tree[i - 1].us;
    fast = i;
  }
  if (fast == 0) return {};
  DisjointSets sets(devices);
  for (size_t i = 0; i < fast; ++i) sets.merge(tree[i].a, tree[i].b);

  std::vector<double> set_speed(devices, 0);
  const std::vector<double> speed = speeds(problem, stop);
  if (stopped(stop)) return {};
  for (uint32_t d = 0; d < devices; ++d) set_speed[sets.find(d)] += speed[d];
  const auto fastest = std::ranges::max_element(set_speed);
  std::vector<uint32_t> near;
  for (uint32_t d = 0; d < devices; ++d) {
    if (sets.find(d) == static_cast<uint32_t>(fastest - set_speed.begin())) near.push_back(d);
  }
  return near.size() > 1 ? near : std::vector<uint32_t>();
}

}  // namespace placeto
