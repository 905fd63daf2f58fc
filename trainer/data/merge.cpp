#include "trainer/data/merge.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>

#include "runtime/base/disjoint_sets.h"
#include "trainer/data/contract.h"

namespace placeto::train {
namespace {

// Depth first: a chain stays together, where the order of a queue would mix all branches.
std::vector<uint32_t> depth_first_order(const Graph& graph) {
  std::vector<uint32_t> missing(graph.node_count()), stack, order;
  for (uint32_t v = graph.node_count(); v-- > 0;) {
    missing[v] = static_cast<uint32_t>(graph.in_edges(v).size());
    if (missing[v] == 0) stack.push_back(v);
  }
  while (!stack.empty()) {
    const uint32_t v = stack.back();
    stack.pop_back();
    order.push_back(v);
    const auto out = graph.out_edges(v);
    for (auto e = out.rbegin(); e != out.rend(); ++e) {
      if (--missing[e->target] == 0) stack.push_back(e->target);
    }
  }
  return order;
}

// Intervals of an order of the operators, merged pair by pair.
class Intervals {
 public:
  explicit Intervals(const Problem& problem)
      : problem_(problem), order_(depth_first_order(problem.graph())), group_of_(order_.size()) {
    for (uint32_t i = 0; i < order_.size(); ++i) {
      group_of_[order_[i]] = i;
      work_.push_back(problem.mean_run_us(order_[i]));
    }
  }

  // Pairs that exchange much for their work first, as in the hierarchy; large groups are held back
  // as long as there are small ones.
  std::vector<uint32_t> merge(uint32_t groups) {
    double most = 2 * std::accumulate(work_.begin(), work_.end(), 0.0) / groups;
    while (work_.size() > groups) {
      const size_t before = work_.size();
      match(before - groups, most);
      if (work_.size() == before) most *= 2;
    }
    return group_of_;
  }

 private:
  // Transfer time from each group to the next.
  std::vector<double> exchanged() const {
    const Graph& graph = problem_.graph();
    std::vector<double> sum(work_.size(), 0);
    for (uint32_t v = 0; v < graph.node_count(); ++v) {
      for (const OutEdge& e : graph.out_edges(v)) {
        if (group_of_[e.target] == group_of_[v] + 1) {
          sum[group_of_[v]] += problem_.mean_transfer_us(e.output) + 1e-9;
        }
      }
    }
    return sum;
  }

  void match(size_t most_pairs, double most_work) {
    const std::vector<double> weight = exchanged();
    std::vector<uint32_t> pairs(work_.size() - 1);  // pair i: groups i and i + 1
    std::iota(pairs.begin(), pairs.end(), 0u);
    const auto rating = [&](uint32_t i) {
      return weight[i] * weight[i] / ((work_[i] + 1) * (work_[i + 1] + 1));
    };
    std::stable_sort(pairs.begin(), pairs.end(),
                     [&](uint32_t a, uint32_t b) { return rating(a) > rating(b); });
    std::vector<uint8_t> taken(work_.size(), 0), joins_previous(work_.size(), 0);
    for (const uint32_t i : pairs) {
      if (most_pairs == 0) break;
      if (taken[i] || taken[i + 1] || work_[i] + work_[i + 1] > most_work) continue;
      taken[i] = taken[i + 1] = joins_previous[i + 1] = 1;
      --most_pairs;
    }
    renumber(joins_previous);
  }

  void renumber(const std::vector<uint8_t>& joins_previous) {
    std::vector<uint32_t> number(work_.size());
    std::vector<double> work;
    for (uint32_t i = 0; i < work_.size(); ++i) {
      if (!joins_previous[i]) work.push_back(0);
      work.back() += work_[i];
      number[i] = static_cast<uint32_t>(work.size()) - 1;
    }
    for (uint32_t& group : group_of_) group = number[group];
    work_ = std::move(work);
  }

  const Problem& problem_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> group_of_;  // per operator
  std::vector<double> work_;        // per group
};

// Groups that hold operators of one colocated set: the lowest of them is the root of all.
std::vector<uint32_t> colocated(const Problem& problem, const std::vector<uint32_t>& group_of,
                                uint32_t groups) {
  DisjointSets together(groups);
  for (uint32_t set = 0; set < problem.group_count(); ++set) {
    const auto members = problem.members(set);
    for (const uint32_t v : members) together.merge(group_of[v], group_of[members[0]]);
  }
  std::vector<uint32_t> root(groups);
  for (uint32_t g = 0; g < groups; ++g) root[g] = together.find(g);
  return root;
}

// Adds an operator to its group, without its outputs.
void absorb(const Problem& problem, uint32_t v, NodeSpec& group) {
  const NodeSpec& node = problem.graph().node(v);
  const double run_us = problem.run_us(v, 0);
  if (group.cost_us.empty()) {
    group.name = node.name;
    group.op = "Group";
    group.cost_us = {0};
  }
  const bool gap = run_us > 0 && group.cost_us[0] > 0;
  group.cost_us[0] += run_us + (gap ? problem.topology().spec().op_gap_us : 0);
  group.resident_bytes += node.resident_bytes;
  group.workspace_bytes = std::max(group.workspace_bytes, node.workspace_bytes);
}

GraphSpec merged_graph(const Problem& problem, const std::vector<uint32_t>& group_of,
                       uint32_t groups) {
  const Graph& graph = problem.graph();
  GraphSpec merged;
  merged.name = graph.name();
  merged.nodes.resize(groups);
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;  // source, output, target
  const auto connect = [&](uint32_t source, uint32_t output, uint32_t target) {
    if (seen.insert({source, output, target}).second) {
      merged.edges.push_back({source, output, target});
    }
  };
  for (const uint32_t v : graph.topological_order()) {
    const uint32_t source = group_of[v];
    NodeSpec& group = merged.nodes[source];
    absorb(problem, v, group);
    for (uint32_t output = graph.output_begin(v); output < graph.output_end(v); ++output) {
      const auto readers = graph.consumers(output);
      const bool leaves = std::any_of(readers.begin(), readers.end(),
                                      [&](uint32_t r) { return group_of[r] != source; });
      if (!leaves) {
        group.workspace_bytes = std::max(group.workspace_bytes, graph.output_bytes(output));
        continue;
      }
      group.outputs.push_back(graph.output_bytes(output));
      for (const uint32_t r : readers) {
        if (group_of[r] == source) continue;
        connect(source, static_cast<uint32_t>(group.outputs.size()) - 1, group_of[r]);
      }
    }
    for (const OutEdge& e : graph.out_edges(v)) {
      if (e.output == kControlEdge && group_of[e.target] != source) {
        connect(source, kControlEdge, group_of[e.target]);
      }
    }
  }
  const std::vector<uint32_t> root = colocated(problem, group_of, groups);
  for (uint32_t g = 0; g < groups; ++g) merged.nodes[g].colocate = std::to_string(root[g]);
  return merged;
}

}  // namespace

Instance merge_operators(Instance operators, uint32_t groups) {
  const Problem& problem = *operators.problem;
  assert(problem.class_count() == 1 && groups > 0);
  auto merged = std::make_shared<Merged>();
  merged->group_of = contract(problem, groups);
  if (merged->group_of.empty()) merged->group_of = Intervals(problem).merge(groups);
  const uint32_t count = 1 + *std::max_element(merged->group_of.begin(), merged->group_of.end());
  Result<Instance> made = make_instance(
      operators.family, merged_graph(problem, merged->group_of, count), operators.topology->spec());
  assert(made.ok());
  merged->operators = std::move(operators);
  made->ccr = merged->operators.ccr;
  made->merged = std::move(merged);
  return std::move(*made);
}

Assignment place_operators(const Instance& merged, std::span<const uint32_t> groups) {
  const std::vector<uint32_t>& group_of = merged.merged->group_of;
  Assignment placement(group_of.size());
  for (size_t v = 0; v < placement.size(); ++v) placement[v] = groups[group_of[v]];
  return placement;
}

const Problem& judged_problem(const Instance& instance) {
  return instance.merged ? *instance.merged->operators.problem : *instance.problem;
}

Score judge(const Instance& instance, std::span<const uint32_t> placement, Evaluator& evaluator) {
  return instance.merged ? evaluator.evaluate(place_operators(instance, placement))
                         : evaluator.evaluate(placement);
}

}  // namespace placeto::train
