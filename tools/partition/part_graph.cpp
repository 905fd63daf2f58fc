#include "tools/partition/part_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "runtime/base/no_index.h"

namespace placeto {
namespace {

int32_t scaled(double us, double scale) {
  return static_cast<int32_t>(std::max(1.0, std::floor(us * scale + 0.5)));
}

// A scale that makes the weights' sum kWeightSum at most, rounding up to 1 included.
double weight_scale(double sum_us) {
  return sum_us > 0 ? PartGraph::kWeightSum / sum_us : 1;
}

// Transfer time between each pair of groups (lower, higher) that an edge connects. An output counts
// once per group that reads it.
std::map<std::pair<uint32_t, uint32_t>, double> group_edges(const Problem& problem) {
  std::map<std::pair<uint32_t, uint32_t>, double> edges;
  const Graph& graph = problem.graph();
  std::set<std::pair<uint32_t, uint32_t>> read_by;  // (output, group)
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const uint32_t group = problem.group_of(v);
    read_by.clear();
    for (const OutEdge& e : graph.out_edges(v)) {
      const uint32_t other = problem.group_of(e.target);
      if (other == group || !read_by.emplace(e.output, other).second) continue;
      edges[std::minmax(group, other)] += problem.mean_transfer_us(e.output);
    }
  }
  return edges;
}

void fill_edges(const Problem& problem, PartGraph& out) {
  const auto edges = group_edges(problem);
  double sum = 0;
  for (const auto& [ends, us] : edges) sum += us;
  const double scale = weight_scale(sum);
  std::vector<std::vector<std::pair<int32_t, int32_t>>> rows(problem.group_count());
  for (const auto& [ends, us] : edges) {
    const int32_t weight = scaled(us, scale);
    rows[ends.first].emplace_back(static_cast<int32_t>(ends.second), weight);
    rows[ends.second].emplace_back(static_cast<int32_t>(ends.first), weight);
  }
  out.offset.push_back(0);
  for (const auto& row : rows) {
    for (const auto& [neighbour, weight] : row) {
      out.neighbour.push_back(neighbour);
      out.edge_weight.push_back(weight);
    }
    out.offset.push_back(static_cast<int32_t>(out.neighbour.size()));
  }
}

void fill_vertices(const Problem& problem, PartGraph& out) {
  std::vector<double> work(problem.group_count(), 0);
  double sum = 0;
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    work[problem.group_of(v)] += problem.mean_run_us(v);
    sum += problem.mean_run_us(v);
  }
  const double scale = weight_scale(sum);
  for (const double us : work) out.vertex_weight.push_back(scaled(us, scale));
}

// Speed of a device: mean run time over its own, for the nodes it can run.
void fill_devices(const Problem& problem, PartGraph& out) {
  double sum = 0;
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    double mean = 0, own = 0;
    bool used = false;
    for (uint32_t v = 0; v < problem.node_count(); ++v) {
      if (!problem.allowed(problem.group_of(v), d)) continue;
      used = true;
      mean += problem.mean_run_us(v);
      own += problem.run_us(v, d);
    }
    if (!used) continue;
    out.devices.push_back(d);
    out.share.push_back(own > 0 && mean > 0 ? mean / own : 1);
    sum += out.share.back();
  }
  for (double& share : out.share) share /= sum;
}

// One placement on its way from parts to devices.
class Fitter {
 public:
  Fitter(const Problem& problem, const PartGraph& graph, std::span<const int32_t> part)
      : problem_(problem), graph_(graph), part_(part), evaluator_(problem) {
    device_of_part_ = graph.devices;
  }

  Assignment run() {
    swap_parts();
    assign();
    Assignment best = expand();
    Score score = evaluator_.evaluate(best);
    for (int round = 0; round < kRounds && !score.feasible(); ++round) {
      if (!relieve(best)) break;
      Assignment next = expand();
      const Score next_score = evaluator_.evaluate(next);
      if (next_score < score) std::tie(best, score) = std::tie(next, next_score);
    }
    return best;
  }

 private:
  // Enough to empty a device in several steps as peaks change; each costs one simulation.
  static constexpr int kRounds = 32;
  // Pairs of parts tried; all pairs of 16 devices.
  static constexpr int kSwaps = 120;

  // Partitioners see equal links and devices that differ in speed only: exchange two parts' devices
  // where the cost model prefers it.
  void swap_parts() {
    assign();
    Score score = evaluator_.evaluate(expand());
    int left = kSwaps;
    for (size_t a = 0; a < device_of_part_.size(); ++a) {
      for (size_t b = a + 1; b < device_of_part_.size() && left > 0; ++b, --left) {
        std::swap(device_of_part_[a], device_of_part_[b]);
        assign();
        const Score swapped = evaluator_.evaluate(expand());
        if (swapped < score) {
          score = swapped;
        } else {
          std::swap(device_of_part_[a], device_of_part_[b]);
        }
      }
    }
  }

  // Groups to devices; those not allowed on their part's device go where they cost least.
  void assign() {
    device_of_.assign(problem_.group_count(), kNoIndex);
    for (uint32_t g = 0; g < device_of_.size(); ++g) {
      const uint32_t device = device_of_part_[static_cast<size_t>(part_[g])];
      if (problem_.allowed(g, device)) device_of_[g] = device;
    }
    for (uint32_t g = 0; g < device_of_.size(); ++g) {
      if (device_of_[g] == kNoIndex) device_of_[g] = cheapest(g, kNoIndex, {});
    }
  }

  double run_us(uint32_t group, uint32_t device) const {
    double us = 0;
    for (const uint32_t v : problem_.members(group)) us += problem_.run_us(v, device);
    return us;
  }

  // Transfer time to neighbours elsewhere if the group were on the device, in weight units.
  double cut(uint32_t group, uint32_t device) const {
    double weight = 0;
    for (int32_t i = graph_.offset[group]; i < graph_.offset[group + 1]; ++i) {
      const auto at = static_cast<size_t>(i);
      const uint32_t other = device_of_[static_cast<size_t>(graph_.neighbour[at])];
      if (other != kNoIndex && other != device) weight += graph_.edge_weight[at];
    }
    return weight;
  }

  // The allowed device where the group runs and communicates cheapest, other than `except`, and
  // with room for it if `room` is given. Run time decides among equal cuts.
  uint32_t cheapest(uint32_t group, uint32_t except, std::span<const uint64_t> room) const {
    uint32_t best = kNoIndex;
    std::pair<double, double> least;
    for (const uint32_t d : graph_.devices) {
      if (d == except || !problem_.allowed(group, d)) continue;
      if (!room.empty() && room[d] < footprint(group)) continue;
      const std::pair<double, double> cost(cut(group, d), run_us(group, d));
      if (best == kNoIndex || cost < least) std::tie(best, least) = std::tie(d, cost);
    }
    return best;
  }

  // What leaves a device with the group: parameters, and outputs at the most.
  uint64_t footprint(uint32_t group) const {
    uint64_t bytes = problem_.resident_bytes(group);
    const Graph& graph = problem_.graph();
    for (const uint32_t v : problem_.members(group)) {
      for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
        bytes += graph.output_bytes(o);
      }
    }
    return bytes;
  }

  // Moves groups off each device that overflows until what they hold covers the overflow, those
  // first that add least to the cut per byte. False if nothing can move.
  bool relieve(const Assignment& assignment) {
    const Timeline& timeline = evaluator_.timeline(assignment);
    const std::vector<uint64_t> peak = timeline.peak_memory_bytes;
    const std::vector<uint64_t> over = memory_shortfall(problem_, peak);
    std::vector<uint64_t> room(peak.size(), 0);
    for (uint32_t d = 0; d < room.size(); ++d) {
      const uint64_t limit = problem_.memory_limit(d);
      room[d] = limit > peak[d] ? limit - peak[d] : 0;
    }
    bool moved = false;
    for (uint32_t d = 0; d < over.size(); ++d) {
      if (over[d] != 0 && unload(d, over[d], room)) moved = true;
    }
    return moved;
  }

  bool unload(uint32_t device, uint64_t bytes, std::vector<uint64_t>& room) {
    std::vector<std::pair<double, uint32_t>> order;  // (cut added per byte, group)
    for (uint32_t g = 0; g < device_of_.size(); ++g) {
      if (device_of_[g] != device || footprint(g) == 0) continue;
      const uint32_t to = cheapest(g, device, room);
      if (to == kNoIndex) continue;
      const double added = cut(g, to) - cut(g, device);
      order.emplace_back(added / static_cast<double>(footprint(g)), g);
    }
    std::sort(order.begin(), order.end());
    bool moved = false;
    for (const auto& [added, g] : order) {
      const uint64_t size = footprint(g);
      const uint32_t to = cheapest(g, device, room);  // room may have shrunk
      if (to == kNoIndex) continue;
      device_of_[g] = to;
      room[to] -= std::min(room[to], size);
      moved = true;
      if (size >= bytes) break;
      bytes -= size;
    }
    return moved;
  }

  Assignment expand() const {
    Assignment assignment(problem_.node_count());
    for (uint32_t v = 0; v < assignment.size(); ++v) {
      assignment[v] = device_of_[problem_.group_of(v)];
    }
    return assignment;
  }
  const Problem& problem_;
  const PartGraph& graph_;
  std::span<const int32_t> part_;
  Evaluator evaluator_;
  std::vector<uint32_t> device_of_part_;
  std::vector<uint32_t> device_of_;  // group -> device
};

}  // namespace

PartGraph build_part_graph(const Problem& problem) {
  PartGraph graph;
  fill_vertices(problem, graph);
  fill_edges(problem, graph);
  fill_devices(problem, graph);
  return graph;
}

Assignment place_parts(const Problem& problem, const PartGraph& graph,
                       std::span<const int32_t> part) {
  return Fitter(problem, graph, part).run();
}

}  // namespace placeto
