// Hands the steps of a policy's passes to the caller's function.
#pragma once

#include "runtime/include/placeto/placeto.h"
#include "runtime/placer/placer.h"

namespace placeto::capi {

class StepReporter final : public PolicyObserver {
 public:
  // `report` is not null.
  StepReporter(placeto_step_function report, void* context) : report_(report), context_(context) {}

  void see(uint32_t sample, const PolicyStep& step) override;

 private:
  placeto_step_function report_;
  void* context_;
};

}  // namespace placeto::capi
