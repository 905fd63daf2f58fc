// Metropolis' rule with the random number drawn first: a candidate is accepted if its objective is
// below the current one plus temperature x objective x (-ln u), so its evaluation can stop there.
// What overflows memory less is accepted whatever it takes, what overflows it more never.
#pragma once

#include "runtime/base/portable_math.h"
#include "runtime/base/random.h"
#include "runtime/cost/evaluator.h"

namespace placeto {

// What a candidate's objective must be below. `temperature` is a share of the objective.
inline double threshold_us(double now_us, double temperature, Random& random) {
  const double u = 1 - random.uniform();
  return now_us * (1 - temperature * portable_log(u));
}

inline bool accepts(const Score& score, const Score& now, double threshold_us) {
  if (score.overflow_bytes != now.overflow_bytes) return score.overflow_bytes < now.overflow_bytes;
  return score.objective_us < threshold_us;
}

}  // namespace placeto
