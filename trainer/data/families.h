// The data sets of the paper: `cifar10`, `ptb` and `nmt`, 32 training steps each, half to train on
// and half never seen in training (Addanki et al., NeurIPS 2019, section 4.1).
//
//   cifar10   convolutional networks from ENAS's space of cells, by seed
//   ptb       recurrent language models from ENAS's space of cells, by seed
//   nmt       encoder and decoder with attention: every combination of 2 depths, 4 lengths,
//             2 batch sizes and 2 widths, each value as often seen as unseen
//
// The published graphs were profiled on K80s; these are generated (tools/workloads) and estimated
// for the same GPUs, so that makespans differ from the paper's and ratios can be compared.
#pragma once

#include <string_view>

#include "trainer/base/family_names.h"
#include "trainer/data/problems.h"

namespace placeto::train {

inline constexpr uint32_t kFamilyGraphs = 16;  // of each half

enum class Half : uint8_t { kSeen, kUnseen };

struct FamilyOptions {
  uint32_t devices = 2;  // K80 GPUs, linked as in models/topologies/2xk80.json
  uint32_t groups = 0;   // merge operators until a graph has at most so many nodes; 0: do not
};

bool is_family(std::string_view name);

// Graph `index` (< kFamilyGraphs) of a half: the same whenever and wherever it is made. `family` of
// the instance is the name. With `groups`, the instance holds the merged graph
// (trainer/data/merge.h) and `merged` tells how to place the operators by it.
Instance family_problem(std::string_view name, Half half, uint32_t index,
                        const FamilyOptions& options);

// `count` K80 GPUs with 12 GB, all linked alike.
TopologySpec k80_topology(uint32_t count);

}  // namespace placeto::train
