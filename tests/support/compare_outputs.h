// How far what two models gave differs: for tests of what runs them.
#pragma once

#include <algorithm>

#include "tools/engine/runner.h"

namespace placeto::test {

// The largest deviation of any output. Fails as output_deviations does.
inline Result<double> compare_outputs(const StagedModel& actual, const StagedModel& expected) {
  const auto deviations = output_deviations(actual, expected);
  if (!deviations.ok()) return deviations.status();
  double worst = 0;
  for (const OutputDeviation& output : *deviations) worst = std::max(worst, output.deviation);
  return worst;
}

}  // namespace placeto::test
