// What a `placeto` policy is trained on.
#pragma once

#include <vector>

#include "trainer/base/config.h"
#include "trainer/published/episode.h"

namespace placeto::train {

// The problems of a configuration; graphs where no heuristic fits the memory are left out.
std::vector<Course> training_courses(const Config& config);

}  // namespace placeto::train
