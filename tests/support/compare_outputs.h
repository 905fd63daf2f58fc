// How far what two models gave differs: for tests of what runs them.
#pragma once

#include <algorithm>

#include "tools/engine/compare_outputs.h"

namespace placeto::test {

// The largest deviation of any output. Fails as check_same_outputs and keep_outputs do.
inline Result<double> compare_outputs(const StagedModel& actual, const StagedModel& expected) {
  if (Status s = check_same_outputs(actual, expected); !s.ok()) return s;
  const auto outputs = keep_outputs(expected);
  if (!outputs.ok()) return outputs.status();
  const auto deviations = output_deviations(actual, *outputs);
  if (!deviations.ok()) return deviations.status();
  double worst = 0;
  for (const OutputDeviation& output : *deviations) worst = std::max(worst, output.deviation);
  return worst;
}

}  // namespace placeto::test
