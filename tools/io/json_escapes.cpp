#include "tools/io/json_escapes.h"

#include <cstddef>
#include <cstdint>

namespace placeto {
namespace {

struct Found {
  size_t bytes = 0;  // 0: harmless
  uint32_t code = 0;
};

// What the text, in UTF-8, begins with.
Found harmful(std::string_view text) {
  const auto at = [&](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  if (at(0) == 0x7f) return {1, 0x7f};
  if (at(0) == 0xc2 && at(1) >= 0x80 && at(1) < 0xa0) return {2, at(1)};
  if (at(0) != 0xe2 || (at(1) != 0x80 && at(1) != 0x81)) return {};
  const uint32_t code = 0x2000 | (at(1) & 0x3f) << 6 | (at(2) & 0x3f);
  const bool reorders = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return reorders ? Found{3, code} : Found{};
}

}  // namespace

std::string with_escapes(std::string_view json) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(json.size());
  for (size_t i = 0; i < json.size();) {
    const Found found = harmful(json.substr(i));
    if (found.bytes == 0) {
      text += json[i++];
      continue;
    }
    text += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) text += kDigits[found.code >> shift & 15];
    i += found.bytes;
  }
  return text;
}

}  // namespace placeto
