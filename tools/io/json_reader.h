// JSON to FlatBuffers by schema. Private to tools/io.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"
#include "runtime/format/file_kind.h"

namespace placeto {

// The binary form of a JSON text of that kind of file, which is a known one. The input is strict
// JSON (RFC 8259), optionally after a UTF-8 byte order mark. Refuses, with the line, the column and
// the path of the place: fields the schema lacks, fields given twice, values of another type,
// numbers that the field's type cannot hold, null, text that is not UTF-8. Nesting is as deep as
// the schema and no deeper, so the recursion is bounded. Lists that are longer than the limits
// allow, each or all of one name together, end the reading, and memory is a small multiple of the
// text's size.
Result<std::vector<uint8_t>> json_to_buffer(std::string_view text, FileKind kind,
                                            const Limits& limits = {});

}  // namespace placeto
