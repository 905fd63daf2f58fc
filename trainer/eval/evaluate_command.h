// The commands that measure policies: eval, pareto, starts, table.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/result.h"
#include "tools/options/options.h"
#include "trainer/base/config.h"

namespace placeto::train {

// What they are told. Lives as long as the program.
class Measurements {
 public:
  // Adds them. The one that runs sets `status`.
  Measurements(cli::Program& program, Status& status);
  ~Measurements();

 private:
  struct Arguments;
  std::unique_ptr<Arguments> arguments_;
};

// A short table on problems that a new policy was not trained on: the held-out ones of one's own,
// with the shipped policy and as much search as `training_seconds` would pay for beside it, or
// those of the set that it was trained on (unseen_by).
Status compare_after_training(const Config& config, const std::string& policy,
                              double training_seconds);

}  // namespace placeto::train
