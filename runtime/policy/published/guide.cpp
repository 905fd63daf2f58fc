#include "runtime/policy/published/guide.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/message.h"
#include "runtime/policy/published/pass.h"

namespace placeto {
namespace {

// A pass takes nodes x simulation time: seconds from here on.
constexpr uint32_t kMostNodes = 10'000;

// Logits are drawn from as the softmax was trained.
constexpr float kTemperature = 1;

class PublishedGuide final : public PolicyGuide {
 public:
  PublishedGuide(const Policy& policy, const Problem& problem, KernelChoice kernels, Stop* stop)
      : problem_(&problem),
        placer_(policy, problem, kernels, stop),
        devices_(problem.device_count()) {
    std::iota(devices_.begin(), devices_.end(), 0u);
  }

  Candidate place(const Candidate& start, const PolicyPasses& passes,
                  MoveEvaluator& evaluator) override {
    PublishedPassOptions options;
    if (passes.passes > 0) options.passes = passes.passes;
    if (passes.seed) options.temperature = kTemperature;
    options.seed = passes.seed.value_or(0);
    if (passes.on_step) {
      options.on_step = [&](const PublishedStep& step) { passes.on_step(describe(step)); };
    }
    return placer_.place(start, options, evaluator);
  }

 private:
  PolicyStep describe(const PublishedStep& from) const {
    return {problem_->members(problem_->group_of(from.node)),
            devices_,
            from.mask,
            from.logits,
            from.features,
            problem_->node_count(),
            from.choice,
            from.log_probability};
  }

  const Problem* problem_;
  PublishedPlacer placer_;
  std::vector<uint32_t> devices_;  // of the topology, all of them
};

}  // namespace

Result<std::unique_ptr<PolicyGuide>> make_published_guide(const Policy& policy, Workbench& bench,
                                                          KernelChoice kernels) {
  const Problem& problem = bench.problem();
  if (problem.node_count() > kMostNodes) {
    return Status::invalid(join({"the placeto architecture simulates the graph at every step: ",
                                 problem.node_count(), " nodes, expected at most ", kMostNodes}));
  }
  if (Status s = PublishedPlacer::check(policy, problem); !s.ok()) return s;
  return std::unique_ptr<PolicyGuide>(
      std::make_unique<PublishedGuide>(policy, problem, kernels, bench.stop()));
}

std::string_view published_feature_name(uint32_t column, uint32_t devices) {
  constexpr auto kPlacedOn = static_cast<uint32_t>(StepFeature::k_placed_on);
  if (column >= step_columns(devices)) return "";
  if (column > kPlacedOn) column -= std::min(devices - 1, column - kPlacedOn);
  return kStepFeatureList[column].name;
}

}  // namespace placeto
