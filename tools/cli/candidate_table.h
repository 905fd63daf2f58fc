// The candidates of a placing, and what they are worth: one row each, but for equal devices.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/placer/placer.h"
#include "tools/report/report_page.h"

namespace placeto::cli {

// Rows for tables of candidates, the chosen one marked. Once stopped, the others have what the
// placing knows of them: no memory, and no makespan if it was for throughput.
std::vector<CandidateRow> candidate_rows(const Problem& problem, const PlaceResult& result,
                                         Stop* stop = nullptr);
// "11.2 MiB", or "11.2 MiB !" beyond the limit.
std::string memory_cell(uint64_t bytes, uint64_t limit);

// One line per row, of equal devices one for all: makespan, ratio to the lower bound, memory per
// device, whether it fits.
std::string candidate_table(const Problem& problem, const LowerBounds& bounds,
                            std::span<const CandidateRow> rows);

}  // namespace placeto::cli
