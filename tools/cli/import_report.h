// What importing a model found out about it, as JSON and as notes.
#pragma once

#include <string>

#include "tools/cli/common.h"
#include "tools/onnx/import.h"

namespace placeto::cli {

// The fields that `import` and `inspect` have in common.
Json json_of(const ImportReport& report);

// What could not be decided or inferred, on standard error. `path` is what the caller gave.
void note_unknown(const std::string& path, const ImportReport& report);

}  // namespace placeto::cli
