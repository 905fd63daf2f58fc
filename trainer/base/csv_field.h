// Fields of CSV files (RFC 4180).
#pragma once

#include <string>
#include <string_view>

namespace placeto::train {

// In quotes where it would end early without: names of files may hold anything.
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace placeto::train
