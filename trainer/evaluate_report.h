// What `eval` writes: a table for people, JSON, CSV, and a figure.
#pragma once

#include <span>
#include <string>

#include "trainer/evaluate.h"

namespace placeto::train {

// Rows: methods. Columns: sets and families. Cells: geometric mean of makespan over the best known
// ("-" where a method has a problem it cannot place), then the mean time.
std::string report_table(std::span<const Graded> graded, bool color);
std::string report_json(std::span<const Graded> graded, std::string_view policy_name);
// One line per problem and method.
std::string report_csv(std::span<const Graded> graded);
// Share of problems within a ratio of the best known, per method.
std::string report_svg(std::span<const Graded> graded, std::span<const std::string> methods);

}  // namespace placeto::train
