// A placing by `auto` with a budget of evaluations.
#pragma once

#include "runtime/placer/placer.h"

namespace placeto {

inline Result<PlaceResult> placed_with(const Problem& problem, uint64_t evaluations,
                                       const Policy* policy = nullptr) {
  MethodOptions options;
  options.budget.evaluations = evaluations;
  return place_auto(problem, options, {.policy = policy});
}

}  // namespace placeto
