// Inventories: what a run on graphs of one's own is of, as text that a folder keeps. A line for
// each graph and topology has its part, SHA-256 and name: "held out 1f...: a.graph".
#pragma once

#include <string>

#include "trainer/data/own.h"

namespace placeto::train {

std::string inventory_of(const OwnSplit& own);

// Whether they have the same lines, in whatever order.
bool same_inventory(const std::string& before, const std::string& now);

// "graph a.graph has changed, graph b.graph is new": how the files of two inventories differ. Other
// graphs may be held out only because there are more files or fewer, so that is said last.
std::string inventory_difference(const std::string& before, const std::string& now);

}  // namespace placeto::train
