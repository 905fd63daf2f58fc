// The table of the paper: run times of Inception-V3, NMT and NASNet on 2 and 4 GPUs under each way
// to place them (Addanki et al., NeurIPS 2019, table 1).
//
// The paper measured training steps on K80s; here the cost model predicts them, with costs
// estimated from the published networks' operations and bytes. Compare ratios, not times.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trainer/base/parallel.h"
#include "trainer/eval/evaluate.h"
#include "trainer/eval/named_policy.h"

namespace placeto::train {

struct PaperOptions {
  std::string network;  // this one alone; empty: all
  // Groups that policies of the published architecture and the RNN placer place; 0: as many as each
  // network needs, so that there is something left to decide.
  uint32_t groups = 0;
  // Sampled by placers trained on the network itself; 0: left out.
  uint32_t rnn_placements = 1'000, hierarchical_placements = 1'000;
  uint64_t trained_placements = 200'000;
  uint64_t sampling_seed = 1;    // of those
  uint64_t evaluations = 5'000;  // of the two searches that the best known comes from
  OnProgress on_progress = {};   // after each row
};

struct PaperRow {
  std::string network;
  uint32_t devices = 0;
  double cpu_us = 0;     // everything on the host's processor
  double single_us = 0;  // everything on one GPU
  Graded graded;         // set: the network
};

std::vector<std::string> paper_networks();

std::vector<PaperRow> measure_paper(std::span<const NamedPolicy> policies,
                                    const PaperOptions& options);

// Predicted run times in milliseconds, as a ratio to a single GPU, and after how many placements
// the best was sampled; a line for each way to place.
std::string paper_table(std::span<const PaperRow> rows);
std::string paper_csv(std::span<const PaperRow> rows);

}  // namespace placeto::train
