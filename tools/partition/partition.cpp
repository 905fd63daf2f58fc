#include "tools/partition/partition.h"

#include <array>
#include <numeric>
#include <vector>

#include "tools/partition/methods.h"

namespace placeto {

std::span<const Method* const> partition_methods() {
  static const std::vector<const Method*> methods{
#ifdef PLACETO_HAVE_SCOTCH
      &scotch_method(),
#endif
#ifdef PLACETO_HAVE_METIS
      &metis_method(),
#endif
  };
  return methods;
}

std::span<const std::string_view> partition_method_names() {
  static constexpr std::array<std::string_view, 2> kNames{"scotch", "metis"};
  return kNames;
}

Result<Candidate> place_partitioned(
    const Problem& problem, std::string_view method, uint64_t seed,
    Result<std::vector<int32_t>> (*partition)(const PartGraph& graph, uint64_t seed)) {
  const PartGraph graph = build_part_graph(problem);
  std::vector<int32_t> part(static_cast<size_t>(graph.vertex_count()), 0);
  if (graph.part_count() > 1 && graph.vertex_count() <= graph.part_count()) {
    std::iota(part.begin(), part.end(), 0);
  } else if (graph.part_count() > 1) {
    auto parts = partition(graph, seed);
    if (!parts.ok()) return parts.status();
    part = std::move(*parts);
  }
  return place_parts(problem, graph, part, method);
}

}  // namespace placeto
