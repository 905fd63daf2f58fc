// The JSON forms: which schema describes each kind of file. Private to tools/io.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <string_view>

#include "runtime/format/file_kind.h"

namespace placeto {

// The reflection table of the root; null for kUnknown.
const flatbuffers::TypeTable* root_of(FileKind kind);

// Which kind of file the text is a JSON object of, told by its top-level fields; kUnknown when they
// do not tell. Reads no further than it needs, and does not check the text.
FileKind detect_json(std::string_view text);

}  // namespace placeto
