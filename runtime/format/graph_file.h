// Binary graph files (schema/graph.fbs).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"
#include "runtime/graph/graph.h"

namespace placeto {

// The description a binary graph file holds. Verifies the bytes (identifier, structure, exact end,
// no unknown fields), then format_version, sizes and how far shared data may expand; whether the
// description makes a graph is for Graph::build to say. Never trusts the bytes: any input gives a
// description or kBadInput, in time and memory bounded by its size and the limits.
Result<GraphSpec> decode_graph(std::span<const uint8_t> bytes, const Limits& limits = {});

// Inverse of decode_graph: fields at their default are left out, so equal descriptions give equal
// bytes. Fails with kInvalidArgument when the file would pass 2 GiB.
Result<std::vector<uint8_t>> encode_graph(const GraphSpec& spec);

}  // namespace placeto
