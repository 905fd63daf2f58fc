#include "tools/capi/bridge.h"

#include <algorithm>
#include <cstring>

#include "runtime/format/graph_file.h"
#include "runtime/format/placement_file.h"
#include "runtime/format/topology_file.h"

namespace placeto::capi {
namespace {

template <class Handle, class Spec>
Status decode(const Handle* from,
              placeto_status (*encode)(const Handle*, void*, size_t, size_t*, placeto_error*)
                  PLACETO_NOEXCEPT,
              Result<Spec> (*parse)(std::span<const uint8_t>, const Limits&), Spec& to) {
  placeto_error error;
  size_t size = 0;
  if (Status s = status_of(encode(from, nullptr, 0, &size, &error), error); !s.ok()) return s;
  std::vector<uint8_t> bytes(size);
  if (Status s = status_of(encode(from, bytes.data(), size, &size, &error), error); !s.ok()) {
    return s;
  }
  Result<Spec> spec = parse(bytes, kNoLimits);
  if (!spec.ok()) return spec.status();
  to = *std::move(spec);
  return {};
}

// What is handed out was read within the caller's limits; how long its bytes are in this form is
// nothing that the caller knows of.
placeto_limits of_any_length(const placeto_limits* limits) {
  placeto_limits any;
  placeto_default_limits(&any, sizeof any);
  if (limits != nullptr) {
    std::memcpy(&any, limits, std::min(limits->struct_size, sizeof any));
    any.struct_size = sizeof any;
  }
  any.max_file_bytes = kNoLimits.max_file_bytes;
  return any;
}

}  // namespace

Status hand_out(const GraphSpec& spec, const placeto_limits* limits, placeto_graph** graph) {
  const Result<std::vector<uint8_t>> bytes = encode_graph(spec);
  if (!bytes.ok()) return bytes.status();
  const placeto_limits any = of_any_length(limits);
  placeto_error error;
  return status_of(placeto_graph_load_memory(bytes->data(), bytes->size(), &any, graph, &error),
                   error);
}

Status hand_out(const TopologySpec& spec, const placeto_limits* limits,
                placeto_topology** topology) {
  const Result<std::vector<uint8_t>> bytes = encode_topology(spec);
  if (!bytes.ok()) return bytes.status();
  const placeto_limits any = of_any_length(limits);
  placeto_error error;
  return status_of(
      placeto_topology_load_memory(bytes->data(), bytes->size(), &any, topology, &error), error);
}

Status take_in(const placeto_graph* from, GraphSpec& to) {
  return decode(from, placeto_graph_encode, decode_graph, to);
}

Status take_in(const placeto_topology* from, TopologySpec& to) {
  return decode(from, placeto_topology_encode, decode_topology, to);
}

Status take_in(const placeto_placement* from, PlacementSpec& to) {
  return decode(from, placeto_placement_encode, decode_placement, to);
}

}  // namespace placeto::capi
