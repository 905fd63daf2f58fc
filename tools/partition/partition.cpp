#include "tools/partition/partition.h"

#include <array>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/base/message.h"
#include "tools/io/guarded_child.h"
#include "tools/partition/methods.h"

namespace placeto {
namespace {

constexpr ChildLimits kChildLimits{
    .memory_bytes = uint64_t{16} << 30, .cpu_seconds = 7200, .wall_seconds = 7200, .deaths = 1};

Assignment partitioned(const Problem& problem, uint64_t seed,
                       PartitionMethod::Partition partition) {
  const PartGraph graph = build_part_graph(problem);
  std::vector<int32_t> part(static_cast<size_t>(graph.vertex_count()), 0);
  if (graph.part_count() > 1 && graph.vertex_count() <= graph.part_count()) {
    std::iota(part.begin(), part.end(), 0);
  } else if (graph.part_count() > 1) {
    auto parts = partition(graph, seed);
    if (!parts.ok()) throw std::runtime_error(parts.status().message());
    part = std::move(*parts);
  }
  return place_parts(problem, graph, part);
}

}  // namespace

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

Result<Candidate> PartitionMethod::place(Workbench& bench) const {
  const Problem& problem = bench.problem();
  const auto serve = [&](const std::string&) {
    const Assignment assignment = partitioned(problem, bench.options().seed, partition_);
    return std::string(reinterpret_cast<const char*>(assignment.data()),
                       assignment.size() * sizeof assignment[0]);
  };
  GuardedChild child(serve, kChildLimits);
  Result<std::string> answer = child.ask({}, bench.stop());
  if (answer.status().code() == StatusCode::kStopped) return answer.status();
  if (!answer.ok()) return Status::internal(join({name_, " ", answer.status().message()}));
  Candidate candidate{std::string(name_), Assignment(problem.node_count()), {}};
  if (answer->size() != candidate.assignment.size() * sizeof candidate.assignment[0]) {
    return Status::internal(join({name_, " placed other nodes"}));
  }
  std::memcpy(candidate.assignment.data(), answer->data(), answer->size());
  candidate.score = bench.evaluator().evaluate(candidate.assignment);
  if (stopped(bench.stop())) return Status::stopped();
  return candidate;
}

}  // namespace placeto
