// Names in graphs and topologies: what is accepted, and how messages show them. Bytes as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"

namespace placeto {

// The same bytes, as text or as numbers.
inline std::string_view as_text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// The text in single quotes, cut after 64 bytes, with control characters and bytes that are not
// UTF-8 as \xNN: safe to print whatever the file held.
std::string in_quotes(std::string_view text);

// The fewest digits that read back as the same number; "nan", "infinity" or "-infinity" else.
std::string number_text(double x);

// Length in bytes of the longest prefix that is well-formed UTF-8 (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF); text.size() when all of it is.
size_t valid_utf8_prefix(std::string_view text);

// Fails when the text is longer than limits.max_name_bytes, is not UTF-8 or has a NUL byte: it
// could not be written as JSON or passed on as a C string. The message is to be placed with at().
Status check_text(std::string_view text, const Limits& limits);

// check_text, and the text may not be empty.
Status check_name(std::string_view name, const Limits& limits);

}  // namespace placeto
