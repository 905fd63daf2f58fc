#include "runtime/graph/text.h"

#include "runtime/base/message.h"

#include <charconv>
#include <cmath>
#include <cstdint>

namespace placeto {
namespace {

uint8_t byte_at(std::string_view text, size_t i) {
  return static_cast<uint8_t>(text[i]);
}

bool is_continuation(std::string_view text, size_t i) {
  return i < text.size() && (byte_at(text, i) & 0xc0) == 0x80;
}

// Length of the well-formed UTF-8 sequence that starts at i; 0 if there is none.
// The Unicode Standard, table 3-7.
size_t sequence_length(std::string_view text, size_t i) {
  const uint8_t first = byte_at(text, i);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4 || !is_continuation(text, i + 1)) return 0;
  if (first < 0xe0) return 2;
  const uint8_t second = byte_at(text, i + 1);
  if (!is_continuation(text, i + 2)) return 0;
  if (first == 0xe0 && second < 0xa0) return 0;  // overlong
  if (first == 0xed && second > 0x9f) return 0;  // surrogates
  if (first < 0xf0) return 3;
  if (!is_continuation(text, i + 3)) return 0;
  if (first == 0xf0 && second < 0x90) return 0;  // overlong
  if (first == 0xf4 && second > 0x8f) return 0;  // above U+10FFFF
  return 4;
}

void append_escaped(std::string& out, uint8_t byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

}  // namespace

size_t valid_utf8_prefix(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const size_t length = sequence_length(text, i);
    if (length == 0) break;
    i += length;
  }
  return i;
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kShown = 64;
  std::string out = "'";
  size_t i = 0;
  while (i < text.size() && i < kShown) {
    const size_t length = sequence_length(text, i);
    const uint8_t byte = byte_at(text, i);
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      append_escaped(out, byte);
      i += 1;
    } else {
      out.append(text, i, length);
      i += length;
    }
  }
  out += i < text.size() ? "...'" : "'";
  return out;
}

std::string number_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-infinity" : "infinity";
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

Status check_text(std::string_view text, const Limits& limits) {
  if (text.size() > limits.max_name_bytes) {
    return bad_input({"is ", text.size(), " bytes long, expected at most ", limits.max_name_bytes});
  }
  if (text.find('\0') != std::string_view::npos) {
    return bad_input({"is ", in_quotes(text), ", expected text without NUL characters"});
  }
  if (valid_utf8_prefix(text) != text.size()) {
    return bad_input({"is ", in_quotes(text), ", expected valid UTF-8"});
  }
  return {};
}

Status check_name(std::string_view name, const Limits& limits) {
  if (name.empty()) return Status::bad_input("is empty, expected a name");
  return check_text(name, limits);
}

}  // namespace placeto
