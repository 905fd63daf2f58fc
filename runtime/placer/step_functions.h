// What the steps of `auto` do; steps.cpp says when. Each adds candidates to the bench, does what
// little it can once stopped, and fails only if no later step helps.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/placer/steps.h"

namespace placeto {

// step_fit.cpp
Status pack_groups(const Step& step, Placing& placing);
Status relieve_faster(const Step& step, Placing& placing);
Status form_chain(const Step& step, Placing& placing);
Status repair(const Step& step, Placing& placing);
Status reorder(const Step& step, Placing& placing);
// step_stages.cpp
Status form_pipeline(const Step& step, Placing& placing);
Status split(const Step& step, Placing& placing);
Status refine(const Step& step, Placing& placing);
Status simplify(const Step& step, Placing& placing);
// step_moves.cpp
Status move_promising(const Step& step, Placing& placing);
Status shift_borders(const Step& step, Placing& placing);
Status polish_best(const Step& step, Placing& placing);
// step_policy.cpp
Status place_by_policy(const Step& step, Placing& placing);
// step_proof.cpp
Status try_all(const Step& step, Placing& placing);
Status solve_small(const Step& step, Placing& placing);
Status prove(const Step& step, Placing& placing);
// step_search.cpp
Status search_briefly(const Step& step, Placing& placing);
Status search(const Step& step, Placing& placing);
// step_fewer.cpp
Status place_near(const Step& step, Placing& placing);
Status place_on_fewer(const Step& step, Placing& placing);

// The rest is what they share.

// `auto`, of a placing that has not begun: for placing within another, which has no use for a
// comparison with runs one after the other.
PlaceOutcome place_auto(Placing& placing);
// The steps of `auto` that apply, up to the one of that name or a stop.
Status take_steps(Placing& placing, std::string_view end = {});
inline constexpr std::string_view kAfterHeuristics = "pipeline";

bool is_staged(const Placing& placing);
bool is_large(const Placing& placing);
// A copy is not looked at by the stop.
bool is_quickly_copied(const Problem& problem);
bool nothing_fits(const Placing& placing);
bool has_few_groups(const Placing& placing);

// Makes what the steps after the heuristics need; false if there is no time left for it.
bool ready(Workbench& bench);

// Where moves begin: with the best and, if that takes little longer, with one device. Where
// transfers take long, what list schedules scatter is not easily gathered, but what gains by
// leaving a device is found.
std::vector<Candidate> starts(const Workbench& bench);

// A share of the finish that stages of the best get, for each of the many placements that a search
// of so many evaluations ends with.
void finish_part(uint64_t evaluations, Workbench& bench, Candidate& candidate);

// Moves that promise most, on large graphs; on small ones moves of single groups, while one gains.
// What comes of it is a candidate of that name if it is better than the best.
void move_from(Candidate start, std::string_view name, Placing& placing);

// The guide of the policy that the options have.
Status make_guide(Placing& placing);
// Leaps of the guide and moves from where they end, by turns, while that gains.
void leap_by_policy(Placing& placing);
// The guide's passes, from the best candidate: the best of the greedy placement, one from a single
// device if that takes little longer, and the drawn ones that the bench's options ask for.
Candidate guided_candidate(Placing& placing);

}  // namespace placeto
