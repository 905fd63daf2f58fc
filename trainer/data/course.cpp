#include "trainer/data/course.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/heuristics/heuristics.h"
#include "runtime/placer/placer.h"

namespace placeto::train {

static double limited_bytes(const Problem& problem) {
  double bytes = 0;
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    if (problem.memory_limit(d) == Problem::kUnlimited) continue;
    bytes += static_cast<double>(problem.memory_limit(d));
  }
  return bytes;
}

std::optional<Start> parse_start(std::string_view name) {
  const auto* at = std::find(std::begin(kStartNames), std::end(kStartNames), name);
  if (at == std::end(kStartNames)) return std::nullopt;
  return kStarts[at - std::begin(kStartNames)];
}

std::optional<Course> make_course(Instance instance) {
  const Problem& problem = *instance.problem;
  Result<PlaceResult> best = place_auto(problem, {});
  if (!best.ok()) return std::nullopt;
  Evaluator evaluator(problem);
  std::vector<Candidate> singles = place_on_each_device(problem, evaluator);
  Course course;
  course.heuristic = std::move(best->best);
  course.reference_us = course.heuristic.score.objective_us;
  course.single = *std::min_element(singles.begin(), singles.end(), is_better);
  course.limited_bytes = limited_bytes(problem);
  course.instance = std::move(instance);
  return course;
}

Candidate start_of(const Course& course, Start start, uint64_t seed) {
  switch (start) {
    case Start::kHeuristic:
      return course.heuristic;
    case Start::kSingle:
      return course.single;
    case Start::kRandom:
      break;
  }
  MethodOptions random;
  random.seed = seed;
  return *random_method().place(*course.instance.problem, random);
}

double overflow_share(const Course& course, const Score& score) {
  if (course.limited_bytes <= 0) return 0;
  return static_cast<double>(score.overflow_bytes) / course.limited_bytes;
}

}  // namespace placeto::train
