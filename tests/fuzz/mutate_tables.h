// Changes to a FlatBuffer that keep it one: a schema's reflection says where its numbers, offsets,
// lengths and vtables lie. Plain damage rarely gets past the verifier; these mostly do, with tables
// that are shared or overlap and numbers at the edges of their types.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <vector>

#include "runtime/base/random.h"

namespace placeto::fuzz {

// One change, of the same length. False, and none, where nothing of `root` can be found.
bool mutate_tables(std::vector<uint8_t>& bytes, const flatbuffers::TypeTable* root, Random& random);

}  // namespace placeto::fuzz
