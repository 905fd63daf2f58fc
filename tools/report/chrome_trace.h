// A predicted run in the Chrome trace event format, which Perfetto and chrome://tracing open.
// Format: "Trace Event Format", Chromium project, 2016.
#pragma once

#include <span>
#include <string>

#include "runtime/cost/simulator.h"

namespace placeto {

// JSON with one track per device, one per channel that carries something, an `X` slice per node and
// transfer, a flow arrow from each producer to its transfers and from those to the consumers they
// serve, and one memory counter per device. Slices of a track never overlap.
std::string chrome_trace(const Problem& problem, std::span<const uint32_t> assignment,
                         const Timeline& timeline);

}  // namespace placeto
