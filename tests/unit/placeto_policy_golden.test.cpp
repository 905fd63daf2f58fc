// One hash over many placements of both architectures. It must not change with the build, the
// instruction set or the number of threads; a change of features, networks or passes may change it,
// and then says so here.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/sha256.h"
#include "runtime/policy/pairwise/pass.h"
#include "runtime/policy/published/pass.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"

using namespace placeto;

namespace {

constexpr uint32_t kCases = 160;

// Case i, the same whichever thread asks for it. Some have rules that leave no placement.
test::Instance instance(uint32_t i) {
  Random random(1'000 + i);
  const test::RandomShape shape{.most_nodes = i % 4 == 0 ? 120u : 24u,
                                .most_devices = 4,
                                .whole_numbers = i % 3 == 0,
                                .restrictions = i % 2 == 0};
  constexpr uint32_t kRuleSets = 16;  // those there were when the hashes below were made
  return test::random_instance(shape, random.below(kRuleSets), random);
}

Assignment place_pairwise(const Problem& problem, const Candidate& start, uint32_t i) {
  const auto policy = test::load_policy(test::small_pairwise_policy());
  const Hierarchy hierarchy(problem);
  PairwisePlacer placer(*policy, problem, hierarchy);
  MoveEvaluator evaluator(problem);
  PairwisePassOptions options;
  options.seed = i;
  if (i % 3 == 2) options.temperature = 0.1f;
  return placer.place(start, options, evaluator).assignment;
}

PolicySpec policy_of_case(uint32_t devices, uint32_t i) {
  if (i % 5 == 4) return test::published_placeto_policy(devices, 1 + i % 8, i % 2 == 0, i);
  const auto looks = i % 2 == 0 ? test::Looks::kAtLoads : test::Looks::kAtLoadsNearby;
  return test::small_placeto_policy(devices, looks, i % 4);
}

Assignment place_placeto(const PolicySpec& spec, const Problem& problem, const Candidate& start,
                         uint32_t i) {
  const auto policy = test::load_policy(spec);
  if (!PublishedPlacer::check(*policy, problem).ok()) return {};
  PublishedPlacer placer(*policy, problem);
  MoveEvaluator evaluator(problem);
  PublishedPassOptions options;
  options.passes = 2;
  options.seed = i;
  if (i % 3 == 2) options.temperature = 0.1f;
  return placer.place(start, options, evaluator).assignment;
}

// Placements of every case by either architecture, made by that many threads.
std::vector<Assignment> place_all(uint32_t thread_count) {
  std::vector<Assignment> placements(2 * kCases);
  std::atomic<uint32_t> next{0};
  const auto work = [&] {
    for (uint32_t i = next++; i < kCases; i = next++) {
      const test::Instance c = instance(i);
      if (!c.problem) continue;
      Random random(i);
      const Candidate start{"start", test::random_assignment(*c.problem, random), {}};
      placements[2 * i] = place_pairwise(*c.problem, start, i);
      placements[2 * i + 1] =
          place_placeto(policy_of_case(c.problem->device_count(), i), *c.problem, start, i);
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < thread_count; ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return placements;
}

std::string hash(const std::vector<Assignment>& placements, uint32_t architecture) {
  std::vector<uint8_t> bytes;
  for (size_t i = architecture; i < placements.size(); i += 2) {
    for (const uint32_t device : placements[i]) bytes.push_back(static_cast<uint8_t>(device));
    bytes.push_back(0xff);
  }
  std::string text;
  for (const uint8_t byte : sha256(bytes)) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace

TEST_CASE("policies place the same in every build and with one and eight threads") {
  const std::vector<Assignment> alone = place_all(1);
  CHECK(place_all(8) == alone);
  size_t placed = 0;
  for (const Assignment& a : alone) placed += !a.empty();
  CHECK(placed > kCases);  // most cases have a placement
  CHECK(hash(alone, 0) == "959c73297557935fa9d988cec13df3c32386f665628cab796be62222685b741e");
  CHECK(hash(alone, 1) == "beadf30403b02c34c2d7cffae0e65f367cef2d935a0865f95b8398ba1767a073");
}

TEST_CASE("the policies with written-down weights improve most random placements") {
  std::array<uint32_t, 2> better{}, cases{};
  for (uint32_t i = 0; i < kCases; ++i) {
    const test::Instance c = instance(i);
    if (!c.problem || c.problem->node_count() < 8 || c.problem->device_count() < 2) continue;
    Random random(i);
    const Candidate start{"start", test::random_assignment(*c.problem, random), {}};
    Evaluator evaluator(*c.problem);
    const Score before = evaluator.evaluate(start.assignment);
    const PolicySpec placeto =
        test::small_placeto_policy(c.problem->device_count(), test::Looks::kAtLoads);
    const std::array placements = {place_pairwise(*c.problem, start, 0),
                                   place_placeto(placeto, *c.problem, start, 0)};
    for (size_t a = 0; a < 2; ++a) {
      const Score after = evaluator.evaluate(placements[a]);
      CHECK(after <= before);
      better[a] += after.objective_us < 0.9 * before.objective_us;
      ++cases[a];
    }
  }
  MESSAGE("pairwise " << better[0] << ", placeto " << better[1] << " of " << cases[0]);
  CHECK(2 * better[0] > cases[0]);
  CHECK(2 * better[1] > cases[1]);
}
