// Files that hold what kinds of devices reach: written by `placeto calibrate`, read by `placeto
// import --efficiencies`.
//
//   { "format_version": 1, "kind": "cpu", "device": "in words", "peak_flops": 1e11,
//     "memory_bandwidth": 2e10,
//     "classes": { "conv": { "flops": 0.6, "bandwidth": 0.7, "launch_us": 1, "samples": 40 } } }
//
// "classes" has a row for every name of operator_class.h.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.h"
#include "tools/costs/roofline.h"

namespace placeto {

std::string efficiencies_to_json(const Efficiencies& efficiencies);

// Fails with kBadInput, naming the field, unless it is a complete file of that form with rates
// above 0 and launch times of at least 0.
Result<Efficiencies> efficiencies_from_json(std::string_view text);
Result<Efficiencies> read_efficiencies(const std::string& path);

}  // namespace placeto
