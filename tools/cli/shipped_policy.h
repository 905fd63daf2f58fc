// The policy that ships with the command line: models/default.plpo, embedded when it is built.
#pragma once

#include <cstdint>
#include <span>

namespace placeto::cli::shipped {

// Empty if the file was not there.
std::span<const uint8_t> default_policy();

}  // namespace placeto::cli::shipped
