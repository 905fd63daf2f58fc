// Siblings: episodes of a `placeto` policy on one graph from one start, and what is computed of all
// that an iteration samples.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/published/episode.h"
#include "trainer/train/run.h"

namespace placeto::train {

struct Siblings {
  uint32_t course = 0;
  Start start = Start::kHeuristic;
  uint64_t start_seed = 0;
  std::vector<Episode> episodes;
  std::vector<std::vector<float>> advantages;  // one list per episode
};

std::vector<std::vector<float>> returns_of(const Siblings& siblings, double discount);
void scale_advantages(std::vector<Siblings>& all, double factor);

struct Totals {
  double steps = 0, last_cost = 0, best_cost = 0, decrease = 0;  // means over episodes but steps
};
Totals total(const std::vector<Siblings>& all);

// Scales the exact gains of an iteration to unit mean square: one step's is a small part of what an
// episode decreases.
Status scale_gains(std::vector<Siblings>& all, Run& run);

// Fills in the costs of the episodes that other hosts ran: all that advantages need of them. Steps,
// which are large, are learned from where they were taken. All siblings are equally many.
Status exchange_costs(Run& run, std::vector<Siblings>& all);

// Replaces the numbers by the sums over all hosts.
Status sum_over_hosts(const Run& run, std::vector<float>& numbers);

}  // namespace placeto::train
