// What `placeto tune` chose for a directory that it wrote, read back from tune.json there: how the
// stages beside it are to be run.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/result.h"
#include "tools/engine/manifest_reader.h"

namespace placeto {

struct TunedChoice {
  std::string name;  // "3 stages on 2 devices (search)"
  uint32_t stages = 1, replicas = 1;
  uint32_t threads = 1;  // of each session; 0: as many as the engine likes
  // By device of the machine; may lack some.
  std::vector<std::pair<std::string, std::string>> providers;
};

// Fails with kIo if there is no such file, and with kBadInput if it is not what tune writes.
Result<TunedChoice> read_choice(const std::string& directory);

// How the stages of a manifest are run.
struct RunChoice {
  std::string tuned = {};  // what tune chose; "" if it did not write the directory
  uint32_t threads = 0, replicas = 0;
  std::vector<std::string> providers = {};  // per device
};
// Completes what a caller says: 0 and "" are what it leaves open. There goes what tune chose, if it
// wrote the directory, else one thread and one replica; of providers nothing. Fails as read_choice
// does, but for a directory that tune did not write.
Status complete_choice(const Manifest& manifest, const std::string& directory, RunChoice& choice);

}  // namespace placeto
