// FlatBuffers to JSON by schema. Private to tools/io.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/result.h"
#include "runtime/format/file_kind.h"

namespace placeto {

// The JSON form of a buffer that encode_* made of a known kind: the fields that are present, in the
// schema's order and with its names. The top level takes one line per field and, for lists of
// tables, one line per entry. Numbers have the fewest digits that read back as the same number.
// Fails with kInvalidArgument at a number that is not finite or text that is not UTF-8: JSON has no
// form for those. The buffer is trusted: verify bytes of other origin first.
Result<std::string> buffer_to_json(std::span<const uint8_t> buffer, FileKind kind);

}  // namespace placeto
