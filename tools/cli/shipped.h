// Files of models/ that are embedded when the command line is built, so that it works from
// anywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace placeto::cli::shipped {

struct File {
  std::string_view name;  // without folder and extension
  std::span<const uint8_t> bytes;
};

// Empty if the file was not there.
std::span<const uint8_t> default_policy();
// models/topologies
std::span<const File> topologies();
// models/engines
std::span<const File> engines();

}  // namespace placeto::cli::shipped
