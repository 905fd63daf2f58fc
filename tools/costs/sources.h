// Run times from files, as a caller names them: profiles, tables, and what estimates the rest.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/graph/graph.h"
#include "tools/costs/measured.h"

namespace placeto {

struct CostSources {
  std::vector<std::string> profiles;      // KIND=FILE (any_profile.h)
  std::vector<std::string> tables;        // files of node,kind,us
  std::vector<std::string> efficiencies;  // files that calibrate wrote

  bool any() const { return !profiles.empty() || !tables.empty() || !efficiencies.empty(); }
};

// A profile, and how far it tells the graph's story.
struct ProfileUse {
  std::string kind, file;
  Coverage coverage;
  // That some of its times are of other shapes than the graph's; "" if none is.
  std::string note_on_shapes() const;
};

// Sets the costs of the description (set_costs); nothing, if no file is named. `outputs` as in
// costs_from_profile. Messages start with the file that they are about.
Result<std::vector<ProfileUse>> add_costs(const CostSources& sources,
                                          std::span<const NodeOutputs> outputs, GraphSpec& spec);

}  // namespace placeto
