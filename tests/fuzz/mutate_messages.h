// Changes to a protobuf message that keep it one: fields are moved, repeated, nested and given
// numbers at the edges, and every length around them is written anew. Knows the wire format only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/random.h"

namespace placeto::fuzz {

// One change. False, and none, where the bytes are no message, or it would have more than
// `most_bytes`.
bool mutate_messages(std::vector<uint8_t>& bytes, size_t most_bytes, Random& random);

}  // namespace placeto::fuzz
