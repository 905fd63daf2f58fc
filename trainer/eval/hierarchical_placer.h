// The hierarchical placer: Mirhoseini et al., "A hierarchical model for device placement", ICLR
// 2018, which needs no groups made by hand. It is trained for one graph at a time.
//
// A grouper (section 2: a feed-forward network with one hidden layer) gives every operator a
// softmax over groups; a placer, the sequence-to-sequence model of rnn_placer.h, reads the groups
// (how many operators of each type, what they send, which groups they are next to) and gives each a
// device. Both learn together by REINFORCE from the run time of the placement that they sampled.
//
// Unlike the published one: 64 groups and hidden units, not 256 and 512; an LSTM in one direction;
// of an operator's neighbours their mean places in topological order, not a list of their numbers;
// one placement of each grouping; the cost model, not a machine, gives run times.
#pragma once

#include "trainer/eval/sampled.h"

namespace placeto::train {

// Places operators, colocated ones as one: nothing is merged before.
Sampled place_by_hierarchy(const Instance& operators, const SamplingOptions& options,
                           uint32_t groups = 64);

}  // namespace placeto::train
