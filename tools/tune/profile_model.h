// A model with the run times that the engine measures for it. Private to this folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "tools/tune/tune.h"

namespace placeto {

// The model, profiled.
struct ProfiledModel {
  std::string file;              // as the engine optimised it
  std::string weights;           // that are outside of it; "": none
  GraphSpec spec;                // with run times of every kind of the machine
  std::vector<DimSetting> dims;  // that are left for those who read the file
  std::vector<std::pair<std::string, std::string>> set;  // as Placed has them
  double whole_us = 0;    // of the whole model on the first device and one thread, not profiled
  std::string reference;  // provider of that device
};

// Optimises, profiles for each kind of device, scales. `folder` is for files.
Result<ProfiledModel> profile_model(const Topology& topology, const TuneOptions& options,
                                    const std::string& folder);

}  // namespace placeto
