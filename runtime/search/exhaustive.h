// Small problems, solved: every placement that the rules allow is looked at or ruled out.
#pragma once

#include "runtime/heuristics/method.h"

namespace placeto {

// Up to so many groups that several devices may run, a search through all placements is tried: as a
// rule those of 12 groups on 4 devices and of 10 on any number of like ones are solved, larger ones
// where bounds are good.
inline constexpr uint32_t kMostExactGroups = 24;
// That take some tenths of a second: placements with some groups, and stages behind others.
uint64_t most_branches(const Problem& problem);
// What is spent unasked where something fits: all of these up to so many such groups, little
// beyond.
inline constexpr uint32_t kMostSolvedGroups = 12;
uint64_t exact_branches(const Problem& problem);

// Whether it may be tried: few groups, and for latency under staged execution few nodes, as all
// divisions of placements are looked at, too (division_search.h). For throughput there one stage on
// each device is as little as can be; where the best placement cannot do with that, nothing is
// proved.
bool exact_applies(const Problem& problem);

// Improves `best`, which obeys the rules, in place. True if it then is proved that no placement has
// a lower score, up to an exchange of like devices and rounding; false if that took more than
// `branches`, or was stopped. If `best` does not fit in memory then, it is proved that nothing
// does.
bool exhaustive_search(const Problem& problem, uint64_t branches, Stop* stop, Candidate& best);

}  // namespace placeto
