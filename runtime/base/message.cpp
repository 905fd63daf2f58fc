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

}  // namespace placeto
