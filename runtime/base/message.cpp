#include "runtime/base/message.h"

#include <charconv>

namespace placeto {

void Piece::append_to(std::string& text) const {
  if (kind_ == kText) {
    text.append(text_);
    return;
  }
  if (kind_ == kNegative) text += '-';
  const uint64_t magnitude = kind_ == kNegative ? 0 - number_ : number_;
  char digits[20];  // of 2^64 - 1
  text.append(digits, std::to_chars(digits, digits + sizeof digits, magnitude).ptr);
}

std::string join(Pieces pieces) {
  std::string text;
  for (const Piece& piece : pieces) piece.append_to(text);
  return text;
}

Status bad_input(Pieces pieces) {
  return Status::bad_input(join(pieces));
}

Status too_many(std::string_view list, size_t entries, uint64_t most) {
  return bad_input({list, ": ", entries, " entries, expected at most ", most});
}

std::string entry(std::string_view list, size_t i) {
  return join({list, "[", i, "]"});
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1024) return join({bytes, " B"});
  constexpr std::string_view kUnits[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1023.95; ++unit) value /= 1024;
  const uint32_t digits = value >= 99.95 ? 1 : value >= 9.995 ? 10 : 100;  // three of them in all
  const auto scaled = static_cast<uint64_t>(value * digits + 0.5);
  const std::string whole = join({scaled / digits}), part = join({scaled % digits});
  if (digits == 1) return whole + std::string(kUnits[unit]);
  return join({whole, ".", digits == 100 && part.size() == 1 ? "0" : "", part, kUnits[unit]});
}

std::string unlike_bytes(uint64_t is, uint64_t expected) {
  const std::string one = bytes_text(is), other = bytes_text(expected);
  if (one != other) return one + ", expected " + other;
  return join({is, " bytes, expected ", expected});
}

}  // namespace placeto
