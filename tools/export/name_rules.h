// Placements as a name-based assignment string of ONNX Runtime (session option
// session.name_based_layer_assignment): "cpu(stem,block1.);gpu(block2.)".
//
// The engine's rules (1.30, core/framework/layering_annotations.cc): a pattern matches the nodes
// whose name contains it; the longest matching pattern wins, among equally long ones the one that
// comes first; nodes in bodies of control flow are matched by their own names; patterns are trimmed
// and hold none of "(),;". A name as a whole is the longest pattern that its node can match, so
// whole names always work where names are distinct; everything else here makes that shorter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace placeto {

// The engine refuses longer values.
inline constexpr size_t kMaxOptionBytes = 8192;

struct NamedNode {
  std::string_view name;
  uint32_t device = 0;  // index into the engine's names
};

// A string of at most kMaxOptionBytes that gives each node its device, checked against the engine's
// rules. `engine`: name of each device. Fails with kInvalidArgument, with the reason, when there is
// none (a node without a name or with one that is not a legal pattern, two nodes of one name on two
// devices) or none that short was found.
Result<std::string> name_rules(std::span<const NamedNode> nodes,
                               std::span<const std::string> engine);

// The device, as it is written in the string, that the engine gives to a node of that name; "" if
// no pattern matches.
std::string match_name_rules(std::string_view rules, std::string_view name);

}  // namespace placeto
