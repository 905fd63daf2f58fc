// What `placeto tune` chose for a directory that it wrote, read back from tune.json there: how the
// stages beside it are to be run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace placeto {

struct TunedChoice {
  std::string name;  // "3 stages on 2 devices (search)"
  uint32_t stages = 1, replicas = 1;
  uint32_t threads = 1;                // of each session; 0: as many as the engine likes
  std::vector<std::string> providers;  // "gpu:0=cuda", of the machine's devices; may lack some
};

bool is_tuned(const std::string& directory);

// Fails with kIo if there is no such file, and with kBadInput if it is not what tune writes.
Result<TunedChoice> read_choice(const std::string& directory);

}  // namespace placeto
