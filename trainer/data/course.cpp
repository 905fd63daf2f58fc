#include "trainer/data/course.h"

#include <algorithm>
#include <utility>

#include "runtime/heuristics/heuristics.h"
#include "runtime/placer/placer.h"

namespace placeto::train {

std::optional<Course> make_course(Instance instance) {
  const Problem& problem = *instance.problem;
  MethodOptions options;
  options.grouping = Grouping::kNone;  // episodes should not start elsewhere whenever that changes
  Result<PlaceResult> best = place_auto(problem, options);
  if (!best.ok()) return std::nullopt;
  Evaluator evaluator(problem);
  std::vector<Candidate> singles = place_on_each_device(problem, evaluator);
  Course course;
  course.heuristic = std::move(best->best);
  course.reference_us = course.heuristic.score.objective_us;
  course.single =
      *std::min_element(singles.begin(), singles.end(),
                        [](const Candidate& a, const Candidate& b) { return a.score < b.score; });
  course.instance = std::move(instance);
  return course;
}

}  // namespace placeto::train
