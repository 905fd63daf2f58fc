// What a `placeto` policy is trained on.
#pragma once

#include <atomic>
#include <vector>

#include "trainer/base/config.h"
#include "trainer/data/course.h"
#include "trainer/data/source.h"

namespace placeto::train {

// The problems of a configuration; graphs where no heuristic fits the memory are left out.
// kBadInput if a topology of one's own has not as many devices as the policy, or if learning from
// so many `episodes` at a time on the largest graph takes more memory than the machine has;
// kStopped once `stop` is set.
Result<std::vector<Course>> training_courses(const Config& config, const ProblemSource& problems,
                                             uint32_t episodes,
                                             const std::atomic<bool>* stop = nullptr);

// On how many threads gradients of episodes can be computed at once, on the largest graph, beside
// the records of so many episodes: config.threads, fewer where memory is short, one on a GPU.
uint32_t gradients_at_once(const Config& config, const std::vector<Course>& courses,
                           uint32_t episodes);

}  // namespace placeto::train
