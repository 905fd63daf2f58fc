// What must hold of every problem that can be stated.
#pragma once

#include "runtime/placer/placer.h"

namespace placeto::fuzz {

// Places by every method and by `auto`, twice, and aborts unless the answers keep the rules, are
// worth what the simulator says, bit for bit, and none of them is better than what `auto` hands
// out.
void judge(const Problem& problem, const MethodOptions& options, const PlacerOptions& placer);

}  // namespace placeto::fuzz
