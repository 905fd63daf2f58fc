// Between handles of libplaceto and values of this library: it has a copy of the runtime of its
// own, so whatever crosses goes as the bytes of a file, through the functions of placeto.h.
#pragma once

#include <string>

#include "runtime/capi/support.h"
#include "runtime/format/placement.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/topology.h"
#include "tools/capi/include/placeto/placeto_onnx.h"

namespace placeto::capi {

// A status that a function of placeto.h returned, with what it said.
inline Status status_of(placeto_status status, const placeto_error& error) {
  return status == PLACETO_OK ? Status() : Status(static_cast<StatusCode>(status), error.message);
}

Status hand_out(const GraphSpec& spec, const placeto_limits* limits, placeto_graph** graph);
Status hand_out(const TopologySpec& spec, const placeto_limits* limits,
                placeto_topology** topology);

Status take_in(const placeto_graph* from, GraphSpec& to);
Status take_in(const placeto_topology* from, TopologySpec& to);
Status take_in(const placeto_placement* from, PlacementSpec& to);

// Where tools read standard input, this library reads a file of that name.
inline std::string file_name(const char* path) {
  return std::string(path) == "-" ? "./-" : path;
}

}  // namespace placeto::capi
