// Placing: one call of the placer under way.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "runtime/heuristics/workbench.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/guide.h"

namespace placeto {

struct Placing {
  Placing(const Problem& problem, const MethodOptions& method_options, const PlacerOptions& more)
      : bench(problem, method_options), options(more) {}

  double elapsed_us() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
        .count();
  }

  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  Workbench bench;
  const PlacerOptions& options;
  std::unique_ptr<PolicyGuide> guide;  // from the step on in which the policy places
  std::string note;                    // why it does not
};

}  // namespace placeto
