// Static mapping by dual recursive bipartitioning onto a complete graph of weighted processors.
// Pellegrini and Roman, "Scotch: a software package for static mapping by dual recursive
// bipartitioning of process and architecture graphs", HPCN Europe 1996.
#include <cstdint>
#include <cstdio>  // scotch.h uses FILE
//
#include <scotch.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tools/partition/methods.h"
#include "tools/partition/part_graph.h"

namespace placeto {
namespace {

constexpr double kImbalance = 0.05;   // how far a part may exceed its share
constexpr double kSpeedUnits = 1000;  // resolution of processor weights

std::vector<SCOTCH_Num> widened(const std::vector<int32_t>& values) {
  return {values.begin(), values.end()};
}

// Scotch's objects, each with its exit function; SCOTCH_*Init has succeeded for what is held here.
struct Objects {
  SCOTCH_Context context;
  SCOTCH_Graph plain, bound;
  SCOTCH_Arch arch;
  SCOTCH_Strat strategy;

  Objects() {
    SCOTCH_contextInit(&context);
    SCOTCH_graphInit(&plain);
    SCOTCH_graphInit(&bound);
    SCOTCH_archInit(&arch);
    SCOTCH_stratInit(&strategy);
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;
  ~Objects() {
    SCOTCH_stratExit(&strategy);
    SCOTCH_archExit(&arch);
    SCOTCH_graphExit(&bound);
    SCOTCH_graphExit(&plain);
    SCOTCH_contextExit(&context);
  }
};

Result<std::vector<int32_t>> map_graph(const PartGraph& graph, uint64_t seed) {
  auto offset = widened(graph.offset), neighbour = widened(graph.neighbour);
  auto edge_weight = widened(graph.edge_weight), vertex_weight = widened(graph.vertex_weight);
  std::vector<SCOTCH_Num> speed, part(vertex_weight.size());
  for (const double share : graph.share) {
    speed.push_back(static_cast<SCOTCH_Num>(std::max(1.0, share * kSpeedUnits)));
  }
  neighbour.push_back(0);  // an empty graph still needs addresses
  edge_weight.push_back(1);

  const auto objects = std::make_unique<Objects>();
  Objects& o = *objects;
  // One thread and a fixed seed: the same answer on every call and machine.
  const bool ready =
      SCOTCH_contextThreadSpawn(&o.context, 1, nullptr) == 0 &&
      SCOTCH_contextOptionSetNum(&o.context, SCOTCH_OPTIONNUMDETERMINISTIC, 1) == 0 &&
      SCOTCH_graphBuild(&o.plain, 0, graph.vertex_count(), offset.data(), offset.data() + 1,
                        vertex_weight.data(), nullptr, graph.offset.back(), neighbour.data(),
                        edge_weight.data()) == 0 &&
      SCOTCH_archCmpltw(&o.arch, graph.part_count(), speed.data()) == 0 &&
      SCOTCH_stratGraphMapBuild(&o.strategy, SCOTCH_STRATQUALITY, graph.part_count(), kImbalance) ==
          0;
  if (!ready) return Status::internal("refuses the graph");
  SCOTCH_contextRandomSeed(&o.context, static_cast<SCOTCH_Num>(seed & 0x7fffffff));
  SCOTCH_contextRandomReset(&o.context);
  if (SCOTCH_contextBindGraph(&o.context, &o.plain, &o.bound) != 0 ||
      SCOTCH_graphMap(&o.bound, &o.arch, &o.strategy, part.data()) != 0) {
    return Status::internal("cannot partition the graph");
  }
  return std::vector<int32_t>(part.begin(), part.end());
}

}  // namespace

const Method& scotch_method() {
  static const PartitionMethod method(
      "scotch", "static mapping by Scotch: balanced load, small cut", map_graph);
  return method;
}

}  // namespace placeto
