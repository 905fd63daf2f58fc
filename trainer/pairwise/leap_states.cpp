#include "trainer/pairwise/leap_states.h"

#include <algorithm>

#include "runtime/groups/hierarchy.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/pairwise/move_features.h"
#include "runtime/policy/pairwise/node_features.h"
#include "trainer/pairwise/canonical.h"

namespace placeto::train {
namespace {

class LeapRecorder {
 public:
  explicit LeapRecorder(const Problem& problem)
      : problem_(problem),
        hierarchy_(problem),
        evaluator_(problem),
        state_(problem),
        features_(problem, hierarchy_) {}

  uint32_t groups() const { return hierarchy_.group_count(0); }

  // About a share of the groups.
  void record(std::span<const uint32_t> now, std::span<const uint32_t> end, double share,
              Random& random) {
    evaluator_.rebase(now);
    state_.refresh(evaluator_);
    std::vector<float> rows(size_t{problem_.node_count()} * kNodeFeatures);
    node_features(state_, rows.data());
    samples.graphs.push_back(GraphState::of(problem_.graph(), rows));
    for (uint32_t g = 0; g < hierarchy_.group_count(0); ++g) {
      if (random.uniform() >= share) continue;
      features_.begin(state_, 0, g);
      const auto devices = features_.candidates();
      if (devices.empty()) continue;
      for (const uint32_t device : devices) {
        samples.rows.resize(samples.rows.size() + kPairFeatures);
        features_.row(device, samples.rows.data() + samples.rows.size() - kPairFeatures);
        samples.gains.push_back(0);
      }
      samples.close_decision(Samples::expert_choice(hierarchy_.nodes(0, g), devices, now, end));
      samples.close_members(hierarchy_.nodes(0, g));
    }
  }

  // Each group where `end` has it, with probability `done`, or as `start` has it, or, with
  // probability `lost`, anywhere.
  Assignment mix(const Lesson& lesson, double done, double lost, Random& random) const {
    Assignment mixed = lesson.start;
    for (uint32_t g = 0; g < hierarchy_.group_count(0); ++g) {
      const auto nodes = hierarchy_.nodes(0, g);
      const uint32_t device = random.below(problem_.device_count());
      const bool is_lost = random.uniform() < lost && hierarchy_.allowed(0, g, device);
      const bool is_done = random.uniform() < done;
      for (const uint32_t v : nodes) {
        if (is_lost) {
          mixed[v] = device;
        } else if (is_done) {
          mixed[v] = lesson.end[v];
        }
      }
    }
    return mixed;
  }

  Samples samples;

 private:
  const Problem& problem_;
  Hierarchy hierarchy_;
  MoveEvaluator evaluator_;
  PlacementState state_;
  MoveFeatures features_;
};

}  // namespace

std::optional<Lesson> prepare_lesson(const Problem& problem, uint64_t evaluations) {
  constexpr uint64_t kMostWork = 200'000'000, kLeast = 1'000;  // nodes simulated; evaluations
  evaluations = std::min(evaluations, std::max(kLeast, kMostWork / problem.node_count()));
  MethodOptions options;
  const PlaceOutcome start = place_auto(problem, options);
  options.budget.evaluations = evaluations;
  const PlaceOutcome end = place_auto(problem, options);
  if (!start.ok() || !end.ok()) return std::nullopt;
  Lesson lesson{start->best.assignment, end->best.assignment};
  if (devices_alike(problem)) lesson.end = renamed_like(problem, lesson.end, lesson.start);
  return lesson;
}

Samples record_leaps(const Problem& problem, const Lesson& lesson, uint32_t states,
                     uint32_t decisions, uint64_t seed) {
  constexpr double kMostLost = 0.05;
  Random random(seed);
  LeapRecorder recorder(problem);
  const double share = double(decisions) / (double(states) * recorder.groups());
  recorder.record(lesson.start, lesson.end, share, random);
  for (uint32_t i = 1; i < states; ++i) {
    const double done = random.uniform(), lost = kMostLost * random.uniform();
    recorder.record(recorder.mix(lesson, done, lost, random), lesson.end, share, random);
  }
  return std::move(recorder.samples);
}

}  // namespace placeto::train
