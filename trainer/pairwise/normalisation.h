// How features are shifted and scaled before a `pairwise` network sees them.
#pragma once

#include <vector>

#include "trainer/pairwise/samples.h"

namespace placeto::train {

// The network sees (value - shift) * scale, column by column.
struct Columns {
  std::vector<float> shift, scale;
};

struct Normalisation {
  Columns pair, node;
};

// Mean and standard deviation of each column of the moves, and of the nodes of the graphs; columns
// that hardly vary keep scale 1.
Normalisation measure_normalisation(const Samples& samples);

}  // namespace placeto::train
