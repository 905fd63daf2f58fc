// What `eval` writes: a table for people, JSON, CSV, and figures.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trainer/eval/evaluate.h"

namespace placeto::train {

// Rows: methods. Columns: sets, `mixed` by family, too. Cells: geometric mean of makespan over the
// best known ("-" where a method has a problem it cannot place), then the mean cost on the first
// set. Methods are those of any problem, in the order they first appear.
std::string report_table(std::span<const Graded> graded);
std::string report_json(std::span<const Graded> graded, std::span<const std::string> policies);
// One line per problem and method.
std::string report_csv(std::span<const Graded> graded);

// Ways worth a line in the figures: of searches the longest, of heuristics all.
std::vector<Way> ways_to_show(std::span<const Graded> graded);
// Share of problems within a ratio of the best known, per method: as a figure, and as lines of
// method, ratio, share.
std::string cdf_svg(std::span<const Graded> graded, std::span<const Way> ways);
std::string cdf_csv(std::span<const Graded> graded, std::span<const Way> ways);
// Geometric mean of the ratio over mean placements evaluated, of methods that come in several
// lengths ("search 100", "search 300", ...), with `auto` and the policy beside them.
std::string effort_svg(std::span<const Graded> graded);
// Geometric mean of the ratio per set: the methods named, those that are there.
std::string sets_svg(std::span<const Graded> graded, std::span<const Way> ways);

}  // namespace placeto::train
