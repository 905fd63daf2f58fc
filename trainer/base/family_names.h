// What configurations, options and test sets call the paper's data sets (trainer/data/families.h).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace placeto::train {

inline constexpr std::array<std::string_view, 3> kFamilyNames = {"cifar10", "ptb", "nmt"};

// As values that an option may have, behind others.
inline std::vector<std::string> with_families(std::vector<std::string> words) {
  words.insert(words.end(), kFamilyNames.begin(), kFamilyNames.end());
  return words;
}

// "cifar10, ptb, nmt": for messages.
inline std::string families_text(std::string_view last_comma = ", ") {
  std::string text;
  for (size_t i = 0; i < kFamilyNames.size(); ++i) {
    if (i != 0) text += i + 1 == kFamilyNames.size() ? last_comma : ", ";
    text += kFamilyNames[i];
  }
  return text;
}

}  // namespace placeto::train
