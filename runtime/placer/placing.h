// Placing: one call of the placer under way.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "runtime/heuristics/workbench.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/guide.h"
#include "runtime/search/polish.h"

namespace placeto {

struct Placing {
  // The problem and the options of methods must outlive it.
  Placing(const Problem& problem, const MethodOptions& method_options, const PlacerOptions& more)
      : bench(problem, method_options), options(more) {}

  double elapsed_us() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
        .count();
  }

  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  Workbench bench;
  const PlacerOptions options;
  std::unique_ptr<PolicyGuide> guide;  // from the step on in which the policy places
  std::string note;                    // why it does not
  // The best before it was polished, or where the policy's leaps or passes ended if they gained:
  // room for a search to move in.
  Candidate unpolished;
  Polished polished;           // what polishing made of it
  bool proved = false;         // that nothing is better than the best, or that nothing fits
  bool searched = false;       // as the budget says
  bool packed = false;         // packing was tried
  uint64_t missing_bytes = 0;  // that every placement lacks; 0: not known

  // What follows is for placing on fewer devices (step_fewer.cpp), which is a placing within one.
  // Told whatever has been finished: the best before a search, and what ends each of its stretches.
  // A longer search tells all that a shorter one does.
  std::function<void(const Candidate&)> on_finished;
  void tell_finished(const Candidate& candidate) const {
    if (on_finished) on_finished(candidate);
  }
  // Of like devices (fewer_devices.h): sets before this one are searched with fewer of them only
  // where one set alone is.
  size_t first_set = 0;
};

}  // namespace placeto
