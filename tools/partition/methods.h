// The partitioners of this build, and what they share.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/heuristics/workbench.h"
#include "tools/partition/part_graph.h"

namespace placeto {

const Method& scotch_method();  // only where PLACETO_HAVE_SCOTCH
const Method& metis_method();   // only where PLACETO_HAVE_METIS

// Partitions the problem and turns the parts into a placement. All of it is done by a child
// process: the libraries keep global state, print to standard output, and know neither deadlines
// nor Ctrl-C.
class PartitionMethod final : public Method {
 public:
  // Gives one part per vertex of a graph that has more vertices than parts, and at least two parts;
  // smaller ones are answered here: the libraries mishandle them.
  using Partition = Result<std::vector<int32_t>> (*)(const PartGraph& graph, uint64_t seed);

  PartitionMethod(std::string_view name, std::string_view summary, Partition partition)
      : name_(name), summary_(summary), partition_(partition) {}

  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }
  Result<Candidate> place(Workbench& bench) const override;

 private:
  std::string_view name_, summary_;
  Partition partition_;
};

}  // namespace placeto
