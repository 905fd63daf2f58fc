// What somebody who misspelt a name may have meant: names a few edits away, in at most half of the
// letters (edit distance with swapped neighbours, "optimal string alignment": G. Navarro, A guided
// tour to approximate string matching, ACM Computing Surveys 33(1), 2001), or of which the word is
// the beginning.
#include <algorithm>

#include "tools/options/options.h"

namespace placeto::cli {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string suggestion(std::string_view given, const std::vector<std::string>& names) {
  constexpr size_t kShown = 2, kLongestWord = 64;
  if (given.empty() || given.size() > kLongestWord) return "";
  const std::string word = lower_case(given);
  const size_t bare = std::min(word.find_first_not_of('-'), word.size());  // dashes say nothing
  const size_t far = 1 + (word.size() - bare) / 3;
  std::vector<std::pair<size_t, std::string>> close;
  for (const std::string& name : names) {
    const std::string lower = lower_case(name);
    const bool begins = word.size() >= bare + 3 && lower.starts_with(word);
    const size_t longer = std::max(word.size(), lower.size());  // names may be a million
    if (!begins && longer - std::min(word.size(), lower.size()) > far) continue;
    const size_t edits = begins && lower != word ? 1 : distance(word, lower);
    const bool mostly_alike = 2 * edits <= longer - std::min(bare, longer);
    if (edits <= far && mostly_alike) close.emplace_back(edits, name);
  }
  std::sort(close.begin(), close.end());
  close.erase(std::unique(close.begin(), close.end()), close.end());  // names may be given twice
  if (close.empty()) return "";
  std::string text = ", did you mean '" + close[0].second + "'";
  for (size_t i = 1; i < std::min(close.size(), kShown) && close[i].first == close[0].first; ++i) {
    text += " or '" + close[i].second + "'";
  }
  return text + "?";
}

}  // namespace placeto::cli
