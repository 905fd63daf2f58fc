// Hands the steps of a policy's passes to the caller's function.
#pragma once

#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/include/placeto/placeto.h"
#include "runtime/placer/placer.h"

namespace placeto::capi {

class StepReporter final : public PolicyObserver {
 public:
  // The problem must outlive it. `report` is not null.
  StepReporter(const Problem& problem, placeto_step_function report, void* context)
      : problem_(&problem), report_(report), context_(context) {}

  void see(uint32_t sample, const PolicyStep& step) override;
  void see(uint32_t sample, const PlacetoStep& step) override;

 private:
  const Problem* problem_;
  placeto_step_function report_;
  void* context_;
  std::vector<uint32_t> devices_;  // of the topology, all of them
  std::vector<uint8_t> mask_;      // ones
};

}  // namespace placeto::capi
