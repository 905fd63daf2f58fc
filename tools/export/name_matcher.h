// A name-based assignment string of ONNX Runtime as the engine reads it (1.30,
// core/framework/layering_annotations.cc): a pattern matches the nodes whose name contains it; the
// longest matching pattern wins, among equally long ones the one that comes first; nodes in bodies
// of control flow are matched by their own names; patterns are trimmed and hold none of "(),;".
#pragma once

#include <string_view>
#include <vector>

namespace placeto {

class NameMatcher {
 public:
  explicit NameMatcher(std::string_view rules);  // which must outlive it

  // The device, as it is written in the rules, of a node of that name; "" if no pattern matches.
  std::string_view device_of(std::string_view name) const;

 private:
  struct Pattern {
    std::string_view text, device;
  };
  std::vector<Pattern> patterns_;  // longest first, in the order of the rules among equals
};

// Whether rules may hold the text as a pattern, to match just that.
bool is_name_pattern(std::string_view text);

}  // namespace placeto
