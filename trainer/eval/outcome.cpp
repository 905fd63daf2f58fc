#include "trainer/eval/outcome.h"

namespace placeto::train {

std::string Way::label() const {
  const std::string number = length > 0 ? " " + std::to_string(length) : "";
  const std::string placer = policy.empty() ? "policy" : policy;
  switch (approach) {
    case Approach::kAuto:
      return "auto";
    case Approach::kHeuristic:
    case Approach::kBaseline:
      return method;
    case Approach::kSampled:
      return method + number;
    case Approach::kPolicy:
      return placer;
    case Approach::kSearch:
      return "search" + number;
    case Approach::kPolicyThenSearch:
      return placer + " + search" + number;
    case Approach::kTimedSearch:
      return "search, as long as training";
    case Approach::kLongSearch:
      return "long search" + number;
  }
  return {};
}

}  // namespace placeto::train
