// Policies from JSON. Private to tools/io.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"

namespace placeto {

// The binary policy file that a JSON text describes, ready to be loaded. `file_bytes` and `sha256`
// are of the binary form and therefore computed; where the text states them, they must agree, so
// that a policy that was damaged or edited on the way is refused. Whoever edits one on purpose
// leaves the two out. Errors of the text name line, column and field.
Result<std::vector<uint8_t>> policy_from_json(std::string_view text, const Limits& limits = {});

// Whether the bytes are a policy file that this runtime can execute: both verifications.
Status check_policy(std::span<const uint8_t> bytes, const Limits& limits = {});

}  // namespace placeto
