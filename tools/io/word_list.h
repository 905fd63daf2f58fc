// Lists of words in one text: " Conv Gemm MatMul ", "Conv|Gemm".
#pragma once

#include <algorithm>
#include <string_view>

namespace placeto {

// Whether `word` stands in the list; "" is no word.
constexpr bool holds_word(std::string_view list, std::string_view word, char separator = ' ') {
  while (!word.empty() && !list.empty()) {
    const size_t end = list.find(separator);
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(list.size(), end) + (end < list.size() ? 1 : 0));
  }
  return false;
}

}  // namespace placeto
