// The algorithms of learning that there are. What a new one needs: README.md of trainer.
#pragma once

#include <memory>

#include "trainer/train/algorithm.h"

namespace placeto::train {

// Any of algorithms() in base/config_keys.h; the configuration has been checked.
std::unique_ptr<Algorithm> make_algorithm(const Config& config);

// One for each file. Siblings come as passes of either architecture.
std::unique_ptr<Algorithm> make_credit(const Config& config);
std::unique_ptr<Algorithm> make_leaps(const Config& config);
std::unique_ptr<Algorithm> make_reinforce(const Config& config);
std::unique_ptr<Algorithm> make_pairwise_siblings(const Config& config);
std::unique_ptr<Algorithm> make_published_siblings(const Config& config);

}  // namespace placeto::train
