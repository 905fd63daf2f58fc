// Ways to run a model that need no placement. Private to this folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/tune/contenders.h"

namespace placeto {

// Opened: more threads, the engine as it comes, by itself and with each provider beside the
// processor's, and, for a stream, replicas. None where a processor stands for a slower one: what
// would run on the others could not be held. `optimised`: the model's file as the engine optimised
// it. Adds to `notes` what is odd about the machine.
Result<std::vector<std::unique_ptr<Runnable>>> unplaced_contenders(const TopologySpec& machine,
                                                                   const TuneOptions& options,
                                                                   const std::string& optimised,
                                                                   std::vector<std::string>& notes);

}  // namespace placeto
