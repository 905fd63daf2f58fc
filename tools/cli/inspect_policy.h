// placeto inspect, of policy files.
#pragma once

#include <string>

#include "runtime/policy/file/policy.h"
#include "tools/cli/common.h"

namespace placeto::cli {

Json describe(const Policy& policy);
std::string summarize(const Policy& policy);

}  // namespace placeto::cli
