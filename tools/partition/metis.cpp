// Multilevel partitioning. Karypis and Kumar, "A fast and high quality multilevel scheme for
// partitioning irregular graphs", SIAM Journal on Scientific Computing, 1998.
#include <metis.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/partition/methods.h"
#include "tools/partition/part_graph.h"

namespace placeto {
namespace {

// METIS wants no share that is next to nothing.
std::vector<real_t> at_least_some(const std::vector<double>& shares) {
  constexpr double kLeast = 1e-4;
  double sum = 0;
  for (const double share : shares) sum += std::max(share, kLeast);
  std::vector<real_t> result;
  for (const double share : shares) {
    result.push_back(static_cast<real_t>(std::max(share, kLeast) / sum));
  }
  return result;
}

Result<std::vector<int32_t>> partition(const PartGraph& graph, uint64_t seed) {
  std::vector<idx_t> offset(graph.offset.begin(), graph.offset.end());
  std::vector<idx_t> neighbour(graph.neighbour.begin(), graph.neighbour.end());
  std::vector<idx_t> edge_weight(graph.edge_weight.begin(), graph.edge_weight.end());
  std::vector<idx_t> vertex_weight(graph.vertex_weight.begin(), graph.vertex_weight.end());
  std::vector<real_t> share = at_least_some(graph.share);
  neighbour.push_back(0);  // an empty graph still needs addresses
  edge_weight.push_back(1);
  std::vector<idx_t> part(vertex_weight.size(), 0);
  idx_t vertices = graph.vertex_count(), constraints = 1, parts = graph.part_count(), cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = static_cast<idx_t>(seed & 0x7fffffff);

  // The manual prefers recursive bisection for few parts.
  constexpr idx_t kFewParts = 8;
  const auto run = parts <= kFewParts ? METIS_PartGraphRecursive : METIS_PartGraphKway;
  const int status =
      run(&vertices, &constraints, offset.data(), neighbour.data(), vertex_weight.data(), nullptr,
          edge_weight.data(), &parts, share.data(), nullptr, options, &cut, part.data());
  if (status != METIS_OK) {
    return Status::internal("cannot partition the graph (status " + std::to_string(status) + ")");
  }
  return std::vector<int32_t>(part.begin(), part.end());
}

}  // namespace

const Method& metis_method() {
  static const PartitionMethod method(
      "metis", "multilevel partitioning by METIS: balanced load, small cut", partition);
  return method;
}

}  // namespace placeto
