// Counters that OpenVINO's benchmark_app writes (-report_type average_counters or
// detailed_counters): tables with semicolons, one row per layer, one table per inference request.
#pragma once

#include <string_view>

#include "tools/costs/profile.h"

namespace placeto {

// Whether a line near the beginning is the heading of such a table.
bool looks_like_openvino_profile(std::string_view text);

// The mean of each layer over the tables; layers that did not run are left out. What is outside of
// tables, and their rows of totals, is not read. Fails with kBadInput, naming the line, for other
// rows, and when no layer ran.
Result<Profile> parse_openvino_profile(std::string_view text);

}  // namespace placeto
