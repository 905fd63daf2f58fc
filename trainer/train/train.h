// Training: iterations of acting through the runtime and learning from what came of it.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "trainer/base/config.h"
#include "trainer/train/distributed.h"
#include "trainer/train/run_folder.h"

namespace placeto::train {

struct Progress {
  uint32_t iteration, iterations;
  double seconds;       // this process has been training
  double left;          // estimate
  std::string summary;  // how well it does, in a few words
};

struct TrainOptions {
  Hosts* hosts = nullptr;  // that collect, this one among them; each trains in its own folder
  const std::atomic<bool>* stop = nullptr;  // saves after the iteration under way and returns
  std::function<void(const Progress&)> on_progress;
  std::function<void(const std::string&)> on_note;  // one line for people
};

// Trains in the folder from its last checkpoint, or from the beginning if `resume` is false. The
// result depends on the configuration alone: not on the number of threads or hosts, nor on
// interruptions.
Status train(const Config& config, std::string_view config_text, RunFolder& folder, bool resume,
             const TrainOptions& options);

// The policy file of the run's last checkpoint.
Result<std::vector<uint8_t>> export_run(const Config& config, std::string_view config_text,
                                        const RunFolder& folder);

}  // namespace placeto::train
