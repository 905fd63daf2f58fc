#include "trainer/published/courses.h"

#include <optional>

#include <fmt/format.h>

#include "trainer/base/parallel.h"
#include "trainer/data/families.h"
#include "trainer/data/merge.h"

namespace placeto::train {

// A problem of one's own, merged where devices are alike and operators are many.
static Instance own_problem(const Config& config, const OwnProblems& own, uint32_t i) {
  Instance instance = own.problem(i);
  const uint32_t most = config.data.merged_nodes;
  const bool merge = most > 0 && instance.problem->node_count() > most;
  if (!merge || instance.problem->class_count() > 1) return instance;
  return merge_operators(std::move(instance), most);
}

Result<std::vector<Course>> training_courses(const Config& config, const ProblemSource& problems,
                                             const std::atomic<bool>* stop) {
  const OwnSplit* own = problems.own();
  for (size_t t = 0; own != nullptr && t < own->train.topologies.size(); ++t) {
    const TopologySpec& topology = own->train.topologies[t];
    if (topology.devices.size() == config.data.devices) continue;
    return Status::bad_input(
        fmt::format("data.topologies: {} has {} devices, expected {} as in "
                    "data.devices",
                    topology.name, topology.devices.size(), config.data.devices));
  }
  const bool mixed = config.data.set == "mixed";
  const uint32_t only = config.data.only;
  const uint32_t count = own != nullptr ? own->train.count()
                         : mixed        ? config.data.fixed_graphs
                         : only > 0     ? 1
                                        : kFamilyGraphs;
  const auto asked = [stop] { return stop != nullptr && *stop; };
  auto courses = parallel_collect<Course>(count, config.threads, [&](uint32_t i) {
    if (asked()) return std::optional<Course>();
    if (own != nullptr) return make_course(own_problem(config, own->train, i));
    if (mixed) {
      return make_course(
          draw_with_devices(config.data, Split::kTrain, config.seed, i, config.data.fixed_graphs));
    }
    const uint32_t number = only > 0 ? only - 1 : i;
    const Half half = number < kFamilyGraphs ? Half::kSeen : Half::kUnseen;
    return make_course(family_problem(config.data.set, half, number % kFamilyGraphs,
                                      {config.data.devices, config.data.merged_nodes}));
  });
  if (asked()) return Status(StatusCode::kStopped, "stopped while graphs were made ready");
  return courses;
}

}  // namespace placeto::train
