// A balanced partition with few transfers between its parts: a start for searches and passes that
// build a placement node by node and never see that a whole region belongs together.
#pragma once

#include "runtime/groups/hierarchy.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// One part per device, sized by the devices' speeds. Obeys allowed devices, colocation and pins, as
// the hierarchy does; memory is not looked at. Empty once stopped.
Assignment balanced_partition(const Problem& problem, const Hierarchy& hierarchy,
                              Stop* stop = nullptr);

}  // namespace placeto
