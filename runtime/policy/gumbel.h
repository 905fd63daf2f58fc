// Gumbel's noise: with it added to each of some logits, the largest of any subset is a draw from
// the softmax over that subset. Maddison, Tarlow and Minka, "A* sampling", NIPS 2014.
#pragma once

#include <algorithm>

#include "runtime/base/portable_math.h"
#include "runtime/base/random.h"

namespace placeto {

inline double gumbel(Random& random) {
  const double u = std::min(random.uniform() + 0x1p-54, 1 - 0x1p-53);  // never 0 or 1
  return -portable_log(-portable_log(u));
}

}  // namespace placeto
