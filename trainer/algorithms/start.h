// The policy that training begins with, instead of weights drawn by seed: `learn.start`.
#pragma once

#include <string>

#include "runtime/base/result.h"
#include "trainer/nn/learner.h"

namespace placeto::train {

// `start`: a policy file, or "default", the one that ships. kBadInput if the learner cannot take
// it.
Status begin_with_file(const std::string& start, Learner& learner);

}  // namespace placeto::train
