// Packing: a placement that fits in memory, wherever there is one, and nothing else. For where the
// heuristics, which look at time first, leave none.
#pragma once

#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

struct Packing {
  enum class Verdict : uint8_t {
    kFits,        // resident bytes do, and each node alone with its tensors
    kImpossible,  // proved
    kNotFound,
  };
  Verdict verdict = Verdict::kNotFound;
  Assignment assignment;       // obeys the rules; the least overflow found. Empty if stopped.
  uint64_t missing_bytes = 0;  // kImpossible: no placement lacks less
};

// What every run holds counts: resident bytes, and beside them, while a node runs, its inputs,
// outputs and workspace. What else a run holds depends on its timeline, and is left out. Up to 40
// groups with resident bytes on 64 devices, whatever fits is found, also to the byte, but for
// instances made to be hard, and those where groups without them need what these must leave free.
Packing pack(const Problem& problem, Stop* stop = nullptr);

}  // namespace placeto
