#include "trainer/data/courses.h"

#include <optional>

#include "trainer/base/parallel.h"
#include "trainer/data/families.h"

namespace placeto::train {

// Of the i-th stream of mixed problems, the first with the right number of devices.
static Instance draw_with_devices(const Config& config, uint32_t i) {
  DataConfig data = config.data;
  data.max_devices = data.devices;
  for (uint64_t n = i;; n += data.graphs) {
    Instance instance = draw_problem(data, problem_seed(Split::kTrain, config.seed, n));
    if (instance.problem->device_count() == data.devices) return instance;
  }
}

std::vector<Course> training_courses(const Config& config) {
  const bool mixed = config.data.set == "mixed";
  const uint32_t only = config.data.only;
  std::vector<std::optional<Course>> drawn(mixed      ? config.data.graphs
                                           : only > 0 ? 1
                                                      : kFamilyGraphs);
  parallel_for(static_cast<uint32_t>(drawn.size()), config.threads, [&](uint32_t i) {
    if (mixed) {
      drawn[i] = make_course(draw_with_devices(config, i));
    } else {
      const uint32_t number = only > 0 ? only - 1 : i;
      const Half half = number < kFamilyGraphs ? Half::kSeen : Half::kUnseen;
      drawn[i] = make_course(family_problem(config.data.set, half, number % kFamilyGraphs,
                                            {config.data.devices, config.data.groups}));
    }
  });
  std::vector<Course> courses;
  for (auto& course : drawn) {
    if (course) courses.push_back(std::move(*course));
  }
  return courses;
}

}  // namespace placeto::train
