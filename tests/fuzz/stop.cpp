// A placing that is stopped at any moment: a problem drawn from a seed, of up to 64 devices, and a
// policy of either architecture or none. What comes back is a whole answer, or says that there is
// none.
#include "runtime/placer/placer.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/targets.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"

namespace placeto::fuzz {
namespace {

std::shared_ptr<const Policy> choose_policy(Input& input, uint32_t devices) {
  switch (input.below(4)) {
    case 0:
      return nullptr;
    case 1:
      return test::load_policy(test::small_placeto_policy(devices, test::Looks::kAtLoadsNearby));
    default:
      return test::load_policy(test::small_pairwise_policy());
  }
}

void check_answer(const Problem& problem, const Result<PlaceResult>& placed) {
  if (!placed.ok()) {
    const StatusCode code = placed.status().code();
    check(code == StatusCode::kStopped || code == StatusCode::kInfeasible ||
              code == StatusCode::kNotFound,
          "without an answer it was stopped, or nothing fits");
    return;
  }
  const Candidate& best = placed->best;
  check(obeys_rules(problem, best.assignment), "the rules hold");
  check(best.score.feasible(), "the placement fits");
  Evaluator evaluator(problem);
  check(evaluator.evaluate(best.assignment) == best.score, "the score is that of the placement");
}

}  // namespace

int fuzz_stop(const uint8_t* data, size_t size) {
  Input input(data, size);
  Random random(input.word());
  const test::RandomShape shape{.most_nodes = 1 + input.below(80),
                                .most_devices = 1 + input.below(64),
                                .whole_numbers = input.one_in(2),
                                .restrictions = input.one_in(2)};
  const test::Instance instance = test::random_instance(shape, input.below(16), random);
  if (!instance.problem) return 0;
  const Problem& problem = *instance.problem;
  const auto policy = choose_policy(input, problem.device_count());

  uint32_t looks_left = 1 + input.word() % 20'000;
  Stop stop([](void* left) { return --*static_cast<uint32_t*>(left) == 0; }, &looks_left,
            1 + input.below(64));
  MethodOptions options;
  options.budget.evaluations = input.below(50);
  options.stop = &stop;
  options.passes = 1 + input.below(3);
  options.samples = input.below(3);
  check_answer(problem, place_auto(problem, options, {.policy = policy.get()}));
  return 1;
}

}  // namespace placeto::fuzz
