// Collecting: decisions on one problem, each with its exact credit.
//
// States come from the runtime's own placer: greedy passes of the current policy, then a search
// whose proposals it ranks, from starts good and bad. So the records show what a policy meets in
// use, its own mistakes included (Ross, Gordon and Bagnell, "A reduction of imitation learning and
// structured prediction to no-regret online learning", AISTATS 2011). For some of the groups it is
// asked about, the cost model says what every candidate device would give: an all-action credit.
#pragma once

#include "runtime/policy/file/policy.h"
#include "trainer/data/problems.h"
#include "trainer/pairwise/samples.h"

namespace placeto::train {

// About config.decisions decisions. `policy` may be null: then proposals are random. Deterministic
// by seed. Gains are clamped to [least, most]; a move that overflows memory more (less) than the
// placement has the least (largest) gain.
//
// With learn.imitation, each decision also says what the search made of the group in the end, which
// began where the policy's passes ended (expert iteration: Anthony, Tian and Barber, "Thinking fast
// and slow with deep learning and tree search", 2017). Equal devices are renamed first, so that the
// search's placement resembles that of the decision.
Samples collect(const Instance& instance, const Policy* policy, const CollectConfig& config,
                const LearnConfig& learn, uint64_t seed);

}  // namespace placeto::train
