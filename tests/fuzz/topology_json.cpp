// Topology files in JSON: recognised, read, written again, and checked.
#include "runtime/format/topology_file.h"
#include "tests/fuzz/json.h"
#include "tests/fuzz/targets.h"

namespace placeto::fuzz {

int fuzz_topology_json(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes = own_copy(data, size);
  const std::string_view text = as_text(bytes);
  (void)looks_like_json(text);
  (void)detect_json(text);
  auto spec = read_json(text, FileKind::kTopology, decode_topology);
  if (!spec.ok()) return 0;
  check_json_round_trip(*spec, FileKind::kTopology, encode_topology, decode_topology);
  const auto topology = Topology::build(*std::move(spec));
  if (!topology.ok()) return check_refused(topology.status()), 0;
  return 1;
}

}  // namespace placeto::fuzz
