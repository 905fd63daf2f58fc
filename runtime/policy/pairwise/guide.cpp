#include "runtime/policy/pairwise/guide.h"

#include "runtime/policy/pairwise/pass.h"

namespace placeto {
namespace {

class PairwiseGuide final : public PolicyGuide {
 public:
  PairwiseGuide(const Policy& policy, Workbench& bench, KernelChoice kernels)
      : leaps_(policy.leap() != nullptr),
        placer_(policy, bench.problem(), bench.hierarchy(), kernels, bench.stop()) {}

  Candidate place(const Candidate& start, const PolicyPasses& passes,
                  MoveEvaluator& evaluator) override {
    PairwisePassOptions options;
    options.passes =
        passes.passes > 0 ? passes.passes : passes_that_pay(evaluator.problem().node_count());
    if (passes.seed) options.temperature = pairwise::kTemperature;
    options.seed = passes.seed.value_or(0);
    if (passes.on_step) {
      options.on_step = [&](const PairwiseStep& step) { passes.on_step(describe(step)); };
    }
    return placer_.place(start, options, evaluator);
  }

  std::optional<Candidate> leap(const Candidate& start, MoveEvaluator& evaluator) override {
    if (!leaps_) return std::nullopt;
    return placer_.leap(start, evaluator);
  }

 private:
  PolicyStep describe(const PairwiseStep& from) {
    const auto count = static_cast<uint32_t>(from.devices.size());
    mask_.resize(count, 1);
    PolicyStep step{from.nodes, from.devices, mask_, from.scores, from.rows, count};
    if (from.choice != count) step.choice = from.devices[from.choice];
    step.log_probability = from.log_probability;
    return step;
  }

  bool leaps_;
  PairwisePlacer placer_;
  std::vector<uint8_t> mask_;  // ones: it scores no other devices
};

}  // namespace

Result<std::unique_ptr<PolicyGuide>> make_pairwise_guide(const Policy& policy, Workbench& bench,
                                                         KernelChoice kernels) {
  return std::unique_ptr<PolicyGuide>(std::make_unique<PairwiseGuide>(policy, bench, kernels));
}

std::string_view pairwise_feature_name(uint32_t column) {
  return column < kPairFeatures ? kPairFeatureList[column].name : "";
}

}  // namespace placeto
