// Problems of one's own: graph files times topology files.
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/topology.h"
#include "trainer/data/problems.h"

namespace placeto::train {

struct OwnProblems {
  struct File {
    std::string path;
    GraphSpec graph;
  };
  std::vector<File> graphs;
  std::vector<TopologySpec> topologies;

  uint32_t count() const { return static_cast<uint32_t>(graphs.size() * topologies.size()); }
  // All topologies of the first graph, then those of the second. Its family is the file's name.
  Instance problem(uint32_t i) const;
};

// Reads the files that the patterns name (`*`, `?`, `[...]`, as a shell expands them), sorted by
// path: graphs in either form, or ONNX models (*.onnx). kBadInput, naming the file, where one is
// not what it should be, where a graph and a topology do not fit each other, or where a pattern
// names no file.
Result<OwnProblems> read_own_problems(const std::vector<std::string>& graphs,
                                      const std::vector<std::string>& topologies);

// The same problems in two parts, by graph: `share` of the graphs, drawn by seed, are held out; at
// least one if there are two or more, and never all.
struct OwnSplit {
  OwnProblems train, held_out;
};
OwnSplit split_by_graph(const OwnProblems& all, double share, uint64_t seed);

}  // namespace placeto::train
