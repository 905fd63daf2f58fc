// What a `placeto` policy is trained on.
#pragma once

#include <atomic>
#include <vector>

#include "trainer/base/config.h"
#include "trainer/data/source.h"
#include "trainer/published/episode.h"

namespace placeto::train {

// The problems of a configuration; graphs where no heuristic fits the memory are left out.
// kBadInput if a topology of one's own has not as many devices as the policy, or if learning from
// so many `episodes` at a time on the largest graph takes more memory than the machine has;
// kStopped once `stop` is set.
Result<std::vector<Course>> training_courses(const Config& config, const ProblemSource& problems,
                                             uint32_t episodes,
                                             const std::atomic<bool>* stop = nullptr);

}  // namespace placeto::train
