// Prints what the runtime decides and computes on a set of seeded problems, as hashes: one line per
// rule set, over every bit of placements, times and peak memory of every method and both kinds of
// policy. Builds for other machines, or with other flags, must print the same.
#include <cstdio>

#include "runtime/base/sha256.h"
#include "runtime/placer/methods.h"
#include "runtime/placer/placer.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"

namespace placeto {
namespace {

class Digest {
 public:
  template <class T>
  void add(std::span<const T> values) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    hash_.update({bytes, values.size_bytes()});
  }
  void add(const Result<PlaceResult>& placed) {
    const int32_t code = static_cast<int32_t>(placed.status().code());
    add(std::span(&code, 1));
    if (!placed.ok()) return;
    add<uint32_t>(placed->best.assignment);
    add<double>(placed->timeline.start_us);
    add<double>(placed->timeline.finish_us);
    add<uint64_t>(placed->timeline.peak_memory_bytes);
    for (const Candidate& candidate : placed->candidates) add<uint32_t>(candidate.assignment);
    const double bounds[] = {placed->bounds.critical_path_us, placed->bounds.work_us};
    add<double>(bounds);
  }
  void print(const char* name) {
    std::printf("%s ", name);
    for (const uint8_t byte : hash_.finish()) std::printf("%02x", byte);
    std::printf("\n");
  }

 private:
  Sha256 hash_;
};

void place_every_way(const Problem& problem, const Policy& pairwise, Digest& digest) {
  MethodOptions options;
  options.passes = 3;
  options.samples = 1;
  options.budget.evaluations = 60;
  for (const Method* method : builtin_methods()) digest.add(place_with(problem, *method, options));
  digest.add(place_auto(problem, options, {.policy = &pairwise}));
  const auto published = test::load_policy(
      test::published_placeto_policy(problem.device_count(), 2, problem.node_count() % 2 == 0, 5));
  digest.add(place_policy(problem, options, {.policy = published.get()}));
}

}  // namespace
}  // namespace placeto

int main() {
  using namespace placeto;  // NOLINT
  const auto pairwise = test::load_policy(test::small_pairwise_policy());
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    Digest digest;
    Random random(7000 + rules);
    for (int i = 0; i < 12; ++i) {
      const test::RandomShape shape{.most_nodes = i == 11 ? 400u : 40u,
                                    .whole_numbers = i % 2 == 0,
                                    .restrictions = i % 3 == 0};
      Rules caller;
      if (i % 5 == 4) caller.objective = Objective::kThroughput;
      const test::RandomMemory memory{200, i % 4 == 1 ? 2000u : 0u};
      const test::Instance instance = test::random_instance(shape, rules, random, memory, caller);
      if (instance.problem) place_every_way(*instance.problem, *pairwise, digest);
    }
    digest.print(("rules " + std::to_string(rules)).c_str());
  }
  return 0;
}
