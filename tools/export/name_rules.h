// Placements as a name-based assignment string of ONNX Runtime (session option
// session.name_based_layer_assignment): "cpu(stem,block1.);gpu(block2.)".
//
// The longest pattern that is part of a name decides (name_matcher.h). A name as a whole is the
// longest that its node can match, so whole names always work where names are distinct; everything
// else here makes that shorter.
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

}  // namespace placeto
