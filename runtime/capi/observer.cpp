#include "runtime/capi/observer.h"

#include "runtime/policy/guide.h"

namespace placeto::capi {

void StepReporter::see(uint32_t sample, const PolicyStep& from) {
  static_assert(PolicyStep::kStays == PLACETO_NONE);
  placeto_step step = {};
  step.struct_size = sizeof step;
  step.sample = sample;
  step.choice = from.choice;
  step.nodes = from.nodes.data();
  step.node_count = from.nodes.size();
  step.devices = from.devices.data();
  step.mask = from.mask.data();
  step.scores = from.scores.data();
  step.device_count = from.devices.size();
  step.features = from.features.data();
  step.feature_rows = from.feature_rows;
  step.feature_columns = from.feature_rows == 0 ? 0 : from.features.size() / from.feature_rows;
  step.log_probability = from.log_probability;
  report_(context_, &step);
}

}  // namespace placeto::capi
