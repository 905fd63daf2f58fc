#include "tools/io/placement_json.h"

#include "runtime/format/file_kind.h"

namespace placeto {

nlohmann::ordered_json placement_object(const PlacementSpec& spec) {
  return {{"format_version", kFormatVersion},
          {"graph", spec.graph},
          {"topology", spec.topology},
          {"devices", spec.devices},
          {"assignment", spec.assignment},
          {"makespan_us", spec.makespan_us},
          {"peak_memory_bytes", spec.peak_memory_bytes},
          {"method", spec.method}};
}

}  // namespace placeto
