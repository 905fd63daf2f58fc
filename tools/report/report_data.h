// What a report page shows, as the JSON that its script reads.
#pragma once

#include <span>
#include <string>

#include "tools/report/report_page.h"

namespace placeto {

// Safe between <script> tags: no '<' in it. Times are microseconds with three decimals.
std::string report_data(const Problem& problem, const LowerBounds& bounds,
                        std::span<const ReportPlacement> placements);

}  // namespace placeto
