// Binary placement files (schema/placement.fbs).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"
#include "runtime/format/placement.h"

namespace placeto {

// The description a binary placement file holds, checked with check_placement. Like decode_graph,
// never trusts the bytes.
Result<PlacementSpec> decode_placement(std::span<const uint8_t> bytes, const Limits& limits = {});

// Inverse of decode_placement. Fails with kInvalidArgument when the file would pass 2 GiB.
Result<std::vector<uint8_t>> encode_placement(const PlacementSpec& spec);

}  // namespace placeto
