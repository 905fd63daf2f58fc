// Machines as topologies: what a host is taken to be, and what measuring makes of that. Every
// number says whether it was measured, comes from a data sheet, or is a guess (Source).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/graph/topology.h"
#include "tools/machine/host.h"
#include "tools/machine/nvidia.h"

namespace placeto {

const char* text_of(Source source);

// cpu:0, cpu:1, ... are workers, each with its share of the processors: `workers` of them, 0: one
// for each NUMA node. Accelerators follow, with what `nvidia` knows of them. Rates and links are
// data sheets' where the host says enough, else guesses.
TopologySpec describe_host(const Host& host, const std::vector<NvidiaDevice>& nvidia,
                           uint32_t workers);

struct MeasureOptions {
  uint32_t threads = 1;  // of each session
  // Execution provider per device; "" where nothing is to be measured.
  std::vector<std::string> providers;
};

// Measures every device that has a provider, one after another, and the links between them.
// Numbers that could not be measured stay as they are, with their source; `notes` says why. Fails,
// before it measures, with kInvalidArgument where a provider is not there.
Result<TopologySpec> measure_machine(TopologySpec machine, const MeasureOptions& options,
                                     std::vector<std::string>& notes);

// "" if all rates, bandwidths and prices come from equal sources; else a sentence that says which
// do not.
std::string mixed_sources(const TopologySpec& machine);

}  // namespace placeto
