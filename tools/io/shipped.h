// Files of models/ that travel inside the programs, so that they work from anywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace placeto::shipped {

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

// The file of that name; nullptr if there is none.
inline const File* find(std::span<const File> files, std::string_view name) {
  const auto file = std::ranges::find(files, name, &File::name);
  return file == files.end() ? nullptr : &*file;
}

// Whether it names a built-in topology, and no file.
inline bool is_topology(const std::string& name) {
  std::error_code error;
  return find(topologies(), name) != nullptr && !std::filesystem::exists(name, error);
}

inline std::vector<std::string> topology_names() {
  std::vector<std::string> names;
  for (const File& file : topologies()) names.emplace_back(file.name);
  std::ranges::sort(names);
  return names;
}

}  // namespace placeto::shipped
