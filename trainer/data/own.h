// Problems of one's own: graph files times topology files.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "runtime/graph/topology.h"
#include "trainer/data/problems.h"

namespace placeto::train {

// How large one's own graphs may be, each and together. Learning holds the searches of several
// problems at a time, and a graph of a million nodes would take gigabytes and hours for a step.
constexpr uint32_t kMostOwnNodes = 100'000, kMostOwnEdges = 1'000'000;
constexpr uint64_t kMostOwnNodesTogether = 1'000'000;

struct OwnProblems {
  struct File {
    std::string path;
    GraphSpec graph;
  };
  std::vector<File> graphs;
  std::vector<TopologySpec> topologies;
  std::vector<std::string> copies;  // which files were left out, and what each equals: a line each

  uint32_t count() const { return static_cast<uint32_t>(graphs.size() * topologies.size()); }
  // All topologies of the first graph, then those of the second. Its family is the file's name.
  Instance problem(uint32_t i) const;
};

// The files that patterns name, sorted, each once; the names of topologies that ship stay as they
// are. kBadInput if a pattern names none.
Result<std::vector<std::string>> own_files(const std::vector<std::string>& patterns,
                                           bool are_topologies);

// Reads the files that the patterns name (`*`, `?`, `[...]`, as a shell expands them), sorted by
// path: graphs in either form, or ONNX models (*.onnx). Files of equal contents count once,
// whatever they are called: a copy of what is learned from could not be held out. kBadInput, naming
// the file, where one is not what it should be, where a graph and a topology do not fit each other,
// where graphs are too large, or where a pattern names no file. kStopped once `stop` is set.
Result<OwnProblems> read_own_problems(const std::vector<std::string>& graphs,
                                      const std::vector<std::string>& topologies,
                                      const std::atomic<bool>* stop = nullptr);

// The same problems in two parts, by graph: `share` of the graphs, drawn by seed, are held out; at
// least one if there are two or more, and never all.
struct OwnSplit {
  OwnProblems train, held_out;
};
OwnSplit split_by_graph(const OwnProblems& all, double share, uint64_t seed);

}  // namespace placeto::train
