// Rollouts: sampled passes of a `pairwise` policy over a problem, for `siblings`.
//
// An episode is the runtime's placer in sampling mode: some passes, coarse to fine, every choice
// drawn from softmax(scores / temperature), staying included, and none taken back. The cost of a
// state is the logarithm of its makespan. The reward of a step is the decrease of cost it causes,
// its return what the cost decreases by from the step to the end of the episode, undiscounted
// (Addanki et al., section 3.1): so a move is also worth what it makes possible later.
//
// Episodes on one problem have one start, but visit other groups in other orders: what they have in
// common is where each level of each pass begins. The baseline of a return is the mean over the
// other episodes of what they decreased the cost by from there on.
#pragma once

#include "runtime/policy/file/policy.h"
#include "trainer/base/config.h"
#include "trainer/data/problems.h"
#include "trainer/pairwise/samples.h"

namespace placeto::train {

struct Rollouts {
  // For every step: rows of its candidates; gains, each candidate's exact decrease of cost if asked
  // for, else 0.
  Samples samples;
  std::vector<uint32_t> choice;        // index into the step's candidates; their number: it stayed
  std::vector<float> log_probability;  // of the choice
  std::vector<float> advantage;        // not scaled
  // For every episode, relative to the best heuristic: cost at the start, at the end, lowest met.
  std::vector<float> first, last, best;

  uint32_t steps() const { return samples.decisions(); }
  void append(const Rollouts& other);
  std::string to_bytes() const;
  // False if the bytes are none that to_bytes made.
  bool from_bytes(std::string_view bytes);
};

// config.rollouts episodes on one problem from one start, drawn by seed. With `credit`, gains are
// found, clamped to its range. Nothing if no heuristic fits the memory.
Rollouts roll_out(Instance instance, const Policy& policy, const EpisodesConfig& config,
                  const LearnConfig* credit, uint64_t seed);

}  // namespace placeto::train
