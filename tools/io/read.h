// Reading graphs, topologies, placements and policies, binary or JSON: told apart by content, never
// by file name. A path of "-" is standard input; pipes, as
// shells make for <(command), are read like it. Every message starts with the path.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"
#include "runtime/format/file_kind.h"
#include "runtime/format/placement.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"
#include "runtime/policy/file/policy.h"

namespace placeto {

// Checked in full: what these return is ready for use.
Result<Graph> read_graph(const std::string& path, const Limits& limits = {});
Result<Topology> read_topology(const std::string& path, const Limits& limits = {});
Result<PlacementSpec> read_placement(const std::string& path, const Limits& limits = {});

// The same of bytes at hand; `name` stands for the path in messages.
Result<Graph> parse_graph(std::vector<uint8_t> bytes, const std::string& name,
                          const Limits& limits = {});
Result<Topology> parse_topology(std::vector<uint8_t> bytes, const std::string& name,
                                const Limits& limits = {});

// The descriptions as they stand in the file, before Graph::build and Topology::build check them.
Result<GraphSpec> read_graph_spec(const std::string& path, const Limits& limits = {});
Result<TopologySpec> read_topology_spec(const std::string& path, const Limits& limits = {});

// Features and architectures are those of this runtime.
Result<std::shared_ptr<const Policy>> read_policy(const std::string& path,
                                                  const Limits& limits = {});

// The content of a binary policy file, verified: Policy::load takes it. Kept as bytes because a
// policy is known by their SHA-256.
struct PolicyFile {
  std::vector<uint8_t> bytes;
  friend bool operator==(const PolicyFile&, const PolicyFile&) = default;
};

// Any of them, in the order of kFileKinds, checked in full.
using AnySpec = std::variant<GraphSpec, TopologySpec, PlacementSpec, PolicyFile>;
Result<AnySpec> read_any(const std::string& path, const Limits& limits = {});

FileKind kind_of(const AnySpec& spec);

}  // namespace placeto
