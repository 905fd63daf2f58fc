// The policy that training begins with, instead of weights drawn by seed: `learn.start`.
#pragma once

#include "runtime/base/result.h"
#include "trainer/base/config.h"
#include "trainer/nn/learner.h"

namespace placeto::train {

// That is a policy file, or "default", the one that ships. kBadInput, saying where the
// configuration names it, if the learner cannot take it.
Status begin_with_file(const Config& config, Learner& learner);

}  // namespace placeto::train
