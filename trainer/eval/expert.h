// Rules by which people place networks: the baseline `expert` of the paper.
#pragma once

#include "runtime/heuristics/method.h"

namespace placeto::train {

// Recurrent networks with an encoder and a decoder: each layer of both on a device of its own, in
// order (layers share devices where there are fewer), embeddings with the first layer, attention
// and softmax with the last (Sutskever et al., NeurIPS 2014; Mirhoseini et al., ICML 2017, section
// 4.2). Layers are recognised by the names that tools/workloads gives. Everything else, Inception
// and NASNet among it: consecutive stages of equal time, the runtime's `contiguous`.
const Method& expert_method();

}  // namespace placeto::train
