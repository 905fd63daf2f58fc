// Lists of operators in constants: " Conv Gemm MatMul ".
#pragma once

#include <string_view>

namespace placeto {

// Whether `word`, which holds no space, stands in the list between two spaces.
constexpr bool holds_word(std::string_view list, std::string_view word) {
  if (word.empty()) return false;
  for (size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    const size_t end = at + word.size();
    if (at > 0 && end < list.size() && list[at - 1] == ' ' && list[end] == ' ') return true;
  }
  return false;
}

}  // namespace placeto
