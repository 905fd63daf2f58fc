#include "runtime/capi/observer.h"

#include <numeric>

#include "runtime/policy/pairwise/policy_pass.h"
#include "runtime/policy/published/placeto_pass.h"

namespace placeto::capi {
namespace {

placeto_step describe(uint32_t sample, std::span<const uint32_t> nodes,
                      std::span<const uint32_t> devices, std::span<const uint8_t> mask,
                      std::span<const float> scores, std::span<const float> features,
                      uint32_t rows) {
  placeto_step step = {};
  step.struct_size = sizeof step;
  step.sample = sample;
  step.nodes = nodes.data();
  step.node_count = nodes.size();
  step.devices = devices.data();
  step.mask = mask.data();
  step.scores = scores.data();
  step.device_count = devices.size();
  step.features = features.data();
  step.feature_rows = rows;
  step.feature_columns = rows == 0 ? 0 : features.size() / rows;
  return step;
}

}  // namespace

void StepReporter::see(uint32_t sample, const PolicyStep& from) {
  const auto count = static_cast<uint32_t>(from.devices.size());
  mask_.resize(count, 1);
  placeto_step step =
      describe(sample, from.nodes, from.devices, mask_, from.scores, from.rows, count);
  step.choice = from.choice == count ? PLACETO_NONE : from.devices[from.choice];
  step.log_probability = from.log_probability;
  report_(context_, &step);
}

void StepReporter::see(uint32_t sample, const PlacetoStep& from) {
  devices_.resize(from.mask.size());
  std::iota(devices_.begin(), devices_.end(), 0u);
  placeto_step step = describe(sample, problem_->members(problem_->group_of(from.node)), devices_,
                               from.mask, from.logits, from.features, problem_->node_count());
  step.choice = from.choice;
  step.log_probability = from.log_probability;
  report_(context_, &step);
}

}  // namespace placeto::capi
