// Measured with models/default.plpo: mean (worst) ratio of the makespan with grouping to that
// without on ten generated networks, each on 4xk80 and cpu+gpu, by the most work of a group as a
// share of a device's; and 16 random graphs of 1,000 nodes against those with 1/8:
//   share    groups    auto             1,000 evaluations    random, 1,000 evaluations
//   1/8       0.49     1.008 (1.124)    0.999 (1.063)        1
//   1/32      0.61     1.001 (1.131)    0.999 (1.017)
//   1/64      0.69     0.999 (1.102)    1.002 (1.055)        1.008
// With a larger share of tiny operators (0.05 of the mean) placements of `nmt` were up to 10%
// longer: recurrent networks have many light operators, and together they are work to balance.
#include "runtime/groups/grouping.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "runtime/base/disjoint_sets.h"
#include "runtime/base/no_index.h"
#include "runtime/groups/free_nodes.h"

namespace placeto {
namespace {

constexpr double kTinyShare = 0.001;
constexpr double kMostShare = 0.125;  // of the work that falls to one device

constexpr uint32_t kSeveral = kNoIndex - 1;

class Merger {
 public:
  Merger(const Problem& problem, const GroupGraph& graph, const DeviceRows& rows, Stop* stop)
      : problem_(problem),
        graph_(graph),
        rows_(rows.size()),
        stop_(stop),
        sets_(graph.size()),
        work_(graph.work) {
    for (size_t g = 0; g < rows.size(); ++g) {
      if (spend(stop_, 4)) break;  // no rows are looked at then
      rows_[g] = rows[g];
    }
    const double total = std::accumulate(work_.begin(), work_.end(), 0.0);
    tiny_ = kTinyShare * total / graph.size();
    most_work_ = kMostShare * total / problem.device_count();
    std::vector<bool> seen(problem.class_count());
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      if (!seen[problem.class_of(d)]) representatives_.push_back(d);
      seen[problem.class_of(d)] = true;
    }
  }

  // Whatever they weigh: they take no time.
  void merge_free_nodes() {
    const FreeNodes free(problem_, stop_);
    for (uint32_t g = 0; g < graph_.size(); ++g) {
      if (spend(stop_, 1)) return;
      const uint32_t root_a = sets_.find(g), root_b = sets_.find(free.decider(g));
      if (root_a != root_b && share_device(rows_, root_a, root_b)) join(root_a, root_b);
    }
  }

  void merge_chains() {
    const auto [consumer, producer] = only_neighbours();
    for (uint32_t g = 0; g < graph_.size(); ++g) {
      if (spend(stop_, 1)) return;
      const uint32_t next = consumer[g];
      if (next >= kSeveral || producer[next] != g) continue;
      const double transfer = weight_between(g, next);
      if (transfer < std::min(graph_.work[g], graph_.work[next])) continue;
      unite(g, next, transfer);
    }
  }

  void merge_tiny() {
    for (uint32_t g = 0; g < graph_.size(); ++g) {
      const uint32_t begin = graph_.offset[g], end = graph_.offset[g + 1];
      if (spend(stop_, 1 + Stop::looked_up(end - begin))) return;
      if (graph_.work[g] > tiny_ || begin == end) continue;
      const auto heaviest = static_cast<size_t>(
          std::max_element(graph_.weight.begin() + begin, graph_.weight.begin() + end) -
          graph_.weight.begin());
      if (graph_.weight[heaviest] < graph_.work[g]) continue;
      unite(g, graph_.neighbour[heaviest], graph_.weight[heaviest]);
    }
  }

  std::vector<uint32_t> number(uint32_t& count) {
    std::vector<uint32_t> merged(graph_.size(), kNoIndex);
    count = 0;
    // A root is the lowest member of its group.
    for (uint32_t g = 0; g < graph_.size(); ++g) {
      if (spend(stop_, 1)) break;
      const uint32_t root = sets_.find(g);
      merged[g] = root == g ? count++ : merged[root];
    }
    return merged;
  }

 private:
  struct OnlyNeighbours {
    std::vector<uint32_t> consumer, producer;  // per group; kNoIndex, or kSeveral
  };
  OnlyNeighbours only_neighbours() const {
    OnlyNeighbours only{std::vector<uint32_t>(graph_.size(), kNoIndex),
                        std::vector<uint32_t>(graph_.size(), kNoIndex)};
    const auto note = [](uint32_t& slot, uint32_t group) {
      if (slot != group) slot = slot == kNoIndex ? group : kSeveral;
    };
    for (uint32_t v = 0; v < problem_.node_count(); ++v) {
      const auto edges = problem_.graph().out_edges(v);
      if (spend(stop_, 1 + edges.size())) break;
      const uint32_t from = problem_.group_of(v);
      for (const OutEdge& e : watched(edges, stop_)) {
        const uint32_t to = problem_.group_of(e.target);
        if (from == to) continue;
        note(only.consumer[from], to);
        note(only.producer[to], from);
      }
    }
    return only;
  }

  double weight_between(uint32_t a, uint32_t b) const {
    const auto begin = graph_.neighbour.begin() + graph_.offset[a];
    const auto at = std::lower_bound(begin, graph_.neighbour.begin() + graph_.offset[a + 1], b);
    return graph_.weight[static_cast<size_t>(at - graph_.neighbour.begin())];
  }

  // Whether the two, on the best device for both, take no longer than each on its own best one and
  // the transfer.
  bool worth_it(uint32_t a, uint32_t b, double transfer) {
    double least_a = kNever, least_b = kNever, least_both = kNever;
    for (uint32_t d : representatives_) {
      const double run_a = run_us(a, d), run_b = run_us(b, d);
      least_a = std::min(least_a, run_a);
      least_b = std::min(least_b, run_b);
      least_both = std::min(least_both, run_a + run_b);
    }
    return least_both <= least_a + least_b + transfer;
  }

  // Large groups are summed once: very many small ones may ask for the same large one.
  double run_us(uint32_t group, uint32_t device) {
    constexpr size_t kLarge = 16;  // members
    if (problem_.members(group).size() < kLarge) return sum_us(group, device);
    const auto [at, is_new] = large_.try_emplace(group);
    if (is_new) {
      at->second.resize(problem_.class_count());
      for (const uint32_t d : representatives_) {
        at->second[problem_.class_of(d)] = sum_us(group, d);
      }
    }
    return at->second[problem_.class_of(device)];
  }
  double sum_us(uint32_t group, uint32_t device) const {
    double sum = 0;
    for (uint32_t v : watched(problem_.members(group), stop_)) sum += problem_.run_us(v, device);
    spend(stop_, problem_.members(group).size());
    return sum;
  }

  void unite(uint32_t a, uint32_t b, double transfer) {
    const uint32_t root_a = sets_.find(a), root_b = sets_.find(b);
    if (root_a == root_b || work_[root_a] + work_[root_b] > most_work_) return;
    if (!share_device(rows_, root_a, root_b) || !worth_it(a, b, transfer)) return;
    join(root_a, root_b);
  }

  void join(uint32_t root_a, uint32_t root_b) {
    const auto [low, high] = std::minmax(root_a, root_b);
    sets_.merge(low, high);
    work_[low] += work_[high];
    for (size_t d = 0; !rows_.empty() && d < rows_[low].size(); ++d) {
      rows_[low][d] = rows_[low][d] && rows_[high][d];
    }
  }

  const Problem& problem_;
  const GroupGraph& graph_;
  DeviceRows rows_;
  Stop* stop_;
  std::vector<uint32_t> representatives_;  // a device of each class
  DisjointSets sets_;
  std::vector<double> work_;                                 // of merged groups, at their roots
  std::unordered_map<uint32_t, std::vector<double>> large_;  // run times of large groups, by class
  double tiny_ = 0, most_work_ = 0;
};

}  // namespace

std::vector<uint32_t> merge_chains_and_tiny(const Problem& problem, const GroupGraph& graph,
                                            const DeviceRows& rows, uint32_t& count, Stop* stop) {
  Merger merger(problem, graph, rows, stop);
  merger.merge_free_nodes();
  merger.merge_chains();
  merger.merge_tiny();
  return merger.number(count);
}

}  // namespace placeto
