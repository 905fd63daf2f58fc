// The steps of `auto`, in the order in which it takes them: the heuristics, then what improves the
// best of them. A new step is a function (step_functions.h) and an entry of the table in steps.cpp,
// which help texts and reports list.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/placer/placing.h"

namespace placeto {

inline constexpr std::string_view kAlways = "always";

struct Step {
  std::string_view name;
  std::string_view summary;  // one line for help texts
  std::string_view when;     // it applies: kAlways, or the condition in words
  bool (*applies)(const Placing& placing);
  // Adds candidates. Does what little it can once stopped; fails only if no later step helps.
  Status (*run)(const Step& step, Placing& placing);
  bool by_budget = false;          // it searches as the budget says
  const Method* method = nullptr;  // of a heuristic: the method, which can also be run alone
};

std::vector<Step> auto_steps();

}  // namespace placeto
