// The RNN placer: Mirhoseini et al., "Device placement optimization with reinforcement learning",
// ICML 2017, the learned baseline of the paper. It is trained for one graph at a time and knows
// nothing of any other.
//
// A sequence-to-sequence model (section 3.2): an LSTM reads the groups of operators in topological
// order, each as an embedding of its type, its sizes and its row of the adjacency matrix; a second
// LSTM with attention over the first's states (Bahdanau et al., ICLR 2015) emits one device per
// group, and is fed each device that it chose. REINFORCE (section 3.1): the reward is the negated
// square root of the run time, the baseline its moving average, Adam, gradients clipped by norm.
//
// Unlike the published one: 64 hidden units, not 512, for the graphs have at most some hundred
// groups; one process, not asynchronous controllers; the cost model, not a machine, gives run
// times.
#pragma once

#include "trainer/eval/sampled.h"

namespace placeto::train {

// The problem's groups (colocated nodes) are what is decided.
Sampled place_by_rnn(const Instance& instance, const SamplingOptions& options);

}  // namespace placeto::train
