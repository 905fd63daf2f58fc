// Change: how a neighbour of a placement is written down, as a list of the nodes that are elsewhere
// and where they are. Groups that move and windows that are placed anew (runtime/search,
// runtime/heuristics) are such lists, as are the moves of policies; the evaluator of moves scores
// them, and `Outlook` and `PathBound` say what they can lead to at best. The nodes of a list are
// distinct.
#pragma once

#include <cstdint>

namespace placeto {

// The device may be the one that the node is on already.
struct Change {
  uint32_t node;
  uint32_t device;
  friend bool operator==(const Change&, const Change&) = default;
};

}  // namespace placeto
