// placeto inspect, of engine descriptions (models/engines/README.md).
#pragma once

#include <string>

#include "tools/cli/common.h"
#include "tools/engine/description.h"

namespace placeto::cli {

Json describe(const EngineDescription& engine);
std::string summarize(const EngineDescription& engine);

}  // namespace placeto::cli
