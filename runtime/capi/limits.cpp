// Apart from the rest of support.h, which libraries share that know no limits.
#include "runtime/capi/support.h"

namespace placeto::capi {

Status read_limits(const placeto_limits* from, Limits& to) {
  if (from == nullptr) return {};
  placeto_limits given;
  placeto_default_limits(&given, sizeof given);
  if (Status s = read_struct("placeto_limits", from, given); !s.ok()) return s;
  to.max_nodes = given.max_nodes;
  to.max_edges = given.max_edges;
  to.max_outputs = given.max_outputs;
  to.max_kinds = given.max_kinds;
  to.max_devices = given.max_devices;
  to.max_links = given.max_links;
  to.max_name_bytes = given.max_name_bytes;
  to.max_file_bytes = given.max_file_bytes;
  to.max_run_entries = given.max_run_entries;
  return {};
}

}  // namespace placeto::capi
