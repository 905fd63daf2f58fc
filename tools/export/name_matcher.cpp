#include "tools/export/name_matcher.h"

#include <algorithm>

namespace placeto {
namespace {

std::string_view trim(std::string_view text) {
  constexpr const char* kBlank = " \t\n\r\f\v";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

}  // namespace

NameMatcher::NameMatcher(std::string_view rules) {
  while (!rules.empty()) {
    const std::string_view entry = rules.substr(0, rules.find(';'));
    rules.remove_prefix(std::min(rules.size(), entry.size() + 1));
    const size_t open = entry.find('('), close = entry.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) continue;
    std::string_view list = entry.substr(open + 1, close - open - 1);
    while (!list.empty()) {
      const std::string_view item = list.substr(0, list.find(','));
      list.remove_prefix(std::min(list.size(), item.size() + 1));
      if (!trim(item).empty()) patterns_.push_back({trim(item), trim(entry.substr(0, open))});
    }
  }
  std::stable_sort(patterns_.begin(), patterns_.end(), [](const Pattern& a, const Pattern& b) {
    return a.text.size() > b.text.size();
  });
}

std::string_view NameMatcher::device_of(std::string_view name) const {
  for (const Pattern& pattern : patterns_) {
    if (name.find(pattern.text) != std::string_view::npos) return pattern.device;
  }
  return {};
}

bool is_name_pattern(std::string_view text) {
  return !text.empty() && text.front() != '=' && trim(text) == text &&
         text.find_first_of("(),;") == std::string_view::npos;
}

}  // namespace placeto
