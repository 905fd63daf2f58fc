#include "trainer/published/courses.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "runtime/policy/published/features.h"
#include "tools/machine/host.h"
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

namespace {

// Every step of an episode sees all nodes: what memory is taken by are pairs of a node and a step.
struct Size {
  double nodes = 0, steps = 0;  // of a pass
  double pairs() const { return nodes * steps; }
};

Size size_of(const Problem& problem) {
  return {double(problem.node_count()), double(problem.group_count())};
}

// What the gradient of a pair holds, in floats per column of the features: measured with 8 rounds
// on two devices, 4.2 KB.
constexpr double kFloatsOfRound = 16, kFloatsBeside = 32;
// A pair is in one of three sets that are pooled.
constexpr double kSetsBytes = 3 * sizeof(float);

// Bytes of memory.
struct Needs {
  double kept = 0;      // sets of all graphs; records of all episodes, if all are on the largest
  double gradient = 0;  // of an episode on the largest
};

Needs needs_of(const std::vector<Size>& sizes, const Config& config, uint32_t episodes) {
  Needs needs;
  for (const Size& size : sizes) needs.kept += kSetsBytes * size.pairs();
  if (sizes.empty()) return needs;
  const Size& largest = *std::ranges::max_element(sizes, {}, &Size::pairs);
  const double column = step_columns(config.data.devices) * sizeof(float);
  const double steps = largest.steps * config.episodes.passes;
  const double learned = config.episodes.steps == 0
                             ? steps
                             : std::min(steps, static_cast<double>(config.episodes.steps));
  needs.kept += column * largest.nodes * steps * episodes;
  needs.gradient =
      column * largest.nodes * learned * (kFloatsOfRound * config.placeto.rounds + kFloatsBeside);
  return needs;
}

// What this process may use, in a container, too.
double memory_there() {
  const uint64_t bytes = read_host().memory_bytes;
  return bytes > 0 ? static_cast<double>(bytes) : std::numeric_limits<double>::infinity();
}

// `name` says which graph a size is of.
Status check_memory(const std::vector<Size>& sizes, const Config& config, uint32_t episodes,
                    const std::function<std::string(size_t)>& name) {
  const Needs needs = needs_of(sizes, config, episodes);
  const double bytes = needs.kept + needs.gradient, there = memory_there();
  if (bytes <= there) return {};
  const auto largest = std::ranges::max_element(sizes, {}, &Size::pairs);
  constexpr double kGigabyte = 1e9;
  return Status::bad_input(fmt::format(
      "{}: {} nodes, where every step of an episode sees every node: {} episodes at a time take "
      "{:.1f} GB, expected at most the {:.1f} GB that there are: fewer nodes (data.merged_nodes "
      "merges them, where devices are of one kind), or less of episodes.graphs, rollouts, passes "
      "or steps",
      name(static_cast<size_t>(largest - sizes.begin())), largest->nodes, episodes,
      bytes / kGigabyte, there / kGigabyte));
}

}  // namespace

Result<std::vector<Course>> training_courses(const Config& config, const ProblemSource& problems,
                                             uint32_t episodes, const std::atomic<bool>* stop) {
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
  const auto make = [&](uint32_t i) {
    if (own != nullptr) return own_problem(config, own->train, i);
    if (mixed) {
      return draw_with_devices(config.data, Split::kTrain, config.seed, i,
                               config.data.fixed_graphs);
    }
    const uint32_t number = only > 0 ? only - 1 : i;
    const Half half = number < kFamilyGraphs ? Half::kSeen : Half::kUnseen;
    return family_problem(config.data.set, half, number % kFamilyGraphs,
                          {config.data.devices, config.data.merged_nodes});
  };
  std::vector<Size> sizes(count);
  auto courses = parallel_collect<Course>(count, config.threads, [&](uint32_t i) {
    if (asked()) return std::optional<Course>();
    Instance instance = make(i);
    sizes[i] = size_of(*instance.problem);
    return make_course(std::move(instance));
  });
  if (asked()) return Status(StatusCode::kStopped, "stopped while graphs were made ready");
  const auto name = [&](size_t i) {
    return own != nullptr ? own->train.graphs[i / own->train.topologies.size()].path
                          : fmt::format("graph {} of data.set {}", i + 1, config.data.set);
  };
  if (Status s = check_memory(sizes, config, episodes, name); !s.ok()) return s;
  return courses;
}

uint32_t gradients_at_once(const Config& config, const std::vector<Course>& courses,
                           uint32_t episodes) {
  if (config.learn.processor != "cpu") return 1;
  std::vector<Size> sizes;
  for (const Course& course : courses) sizes.push_back(size_of(*course.instance.problem));
  const Needs needs = needs_of(sizes, config, episodes);
  const double left = (memory_there() - needs.kept) / 2;  // half is for whatever else there is
  const double fit = left / std::max(1.0, needs.gradient);
  return static_cast<uint32_t>(std::clamp(fit, 1.0, double(thread_count(config.threads))));
}

}  // namespace placeto::train
