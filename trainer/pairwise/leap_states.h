// What leaps are learned from: states on the way to a placement that a long search found, and where
// each group has to go from there.
#pragma once

#include <optional>

#include "runtime/cost/problem.h"
#include "runtime/heuristics/method.h"
#include "trainer/pairwise/samples.h"

namespace placeto::train {

// A problem's lesson: where a leap begins, and where it should end.
struct Lesson {
  Assignment start, end;
};
// What `place` finds without a policy and a budget, and after so many evaluations, or fewer where
// graphs are so large that they would take minutes. Equal devices of the second are named like the
// first (canonical.h). Nothing where nothing fits.
std::optional<Lesson> prepare_lesson(const Problem& problem, uint64_t evaluations);

// Decisions about groups of the finest level in `states` states: the start, then mixtures of it and
// the end, some groups elsewhere by chance, as leaps that were not perfect and polishing leave
// them. About all groups, or as many, drawn by chance, as make `decisions` together. By seed.
Samples record_leaps(const Problem& problem, const Lesson& lesson, uint32_t states,
                     uint32_t decisions, uint64_t seed);

}  // namespace placeto::train
