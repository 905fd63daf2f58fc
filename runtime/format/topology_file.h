// Binary topology files (schema/topology.fbs).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"
#include "runtime/graph/topology.h"

namespace placeto {

// The description a binary topology file holds. Verifies the bytes (identifier, structure, exact
// end, no unknown fields), then format_version, sizes and how far shared data may expand; whether
// the description makes a topology is for Topology::build to say. Never trusts the bytes: any input
// gives a description or kBadInput, in time and memory bounded by its size and the limits.
Result<TopologySpec> decode_topology(std::span<const uint8_t> bytes, const Limits& limits = {});

// Inverse of decode_topology: fields at their default are left out, so equal descriptions give
// equal bytes. Fails with kInvalidArgument when the file would pass 2 GiB.
Result<std::vector<uint8_t>> encode_topology(const TopologySpec& spec);

}  // namespace placeto
