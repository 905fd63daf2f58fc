// What placeto inspect shows of each kind of file, in a file of its own each; of ONNX models:
// inspect_model.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/format/placement.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"
#include "runtime/policy/file/policy.h"
#include "tools/cli/common.h"
#include "tools/engine/description.h"

namespace placeto::cli {

Json describe(const EngineDescription& engine);
Json describe(const Graph& graph);
Json describe(const PlacementSpec& spec);
Json describe(const Policy& policy);
Json describe(const Topology& topology);

std::string summarize(const EngineDescription& engine);
std::string summarize(const Graph& graph);
std::string summarize(const PlacementSpec& spec);
std::string summarize(const Policy& policy);
std::string summarize(const Topology& topology);

// "Conv 12, Relu 9, 3 more": so many operators at most, the most frequent first.
std::string ops_text(const std::map<std::string, uint64_t>& ops, size_t shown);

}  // namespace placeto::cli
