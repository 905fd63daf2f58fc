// Text put together from pieces, for error messages:
//
//     bad_input({"nodes[", v, "] has ", count, " outputs, expected ", limit})
//
// A chain of std::string's operator + leaves a temporary, and code to destroy it, behind every
// plus, and this library says of every byte of its inputs what may be wrong with it. Pieces are
// plain values, and the work is done in one place.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace placeto {

// A view of a text, or a whole number. Lives no longer than the text it is made from: for use as an
// argument, where temporaries live long enough.
class Piece {
 public:
  Piece(const char* text) : text_(text) {}         // NOLINT(google-explicit-constructor)
  Piece(std::string_view text) : text_(text) {}    // NOLINT(google-explicit-constructor)
  Piece(const std::string& text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  Piece(std::integral auto number)                 // NOLINT(google-explicit-constructor)
      : number_(static_cast<uint64_t>(number)), kind_(number < 0 ? kNegative : kNumber) {}
  Piece(char) = delete;  // no number, and texts are at hand

  void append_to(std::string& text) const;

 private:
  std::string_view text_;
  uint64_t number_ = 0;  // two's complement
  enum : uint8_t { kText, kNumber, kNegative } kind_ = kText;
};

using Pieces = std::initializer_list<Piece>;

std::string join(Pieces pieces);
// Status::bad_input of that text, which callers then need not destroy.
Status bad_input(Pieces pieces);
// The same, "nodes: 7 entries, expected at most 5".
Status too_many(std::string_view list, size_t entries, uint64_t most);

// "nodes[3]".
std::string entry(std::string_view list, size_t i);

// "512 B", "1.50 KiB", "11.2 GiB".
std::string bytes_text(uint64_t bytes);
// "3 B, expected 108 KiB"; to the byte where that reads as the same.
std::string unlike_bytes(uint64_t is, uint64_t expected);

}  // namespace placeto
