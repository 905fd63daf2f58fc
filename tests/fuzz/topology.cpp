// Binary topology files: decoded, written again, and built.
#include "runtime/format/topology_file.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/targets.h"

namespace placeto::fuzz {

int fuzz_topology(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes = own_copy(data, size);
  auto spec = decode_topology(bytes);
  if (!spec.ok()) return check_refused(spec.status()), 0;
  check_round_trip(*spec, encode_topology, decode_topology);
  const auto topology = Topology::build(*std::move(spec));
  if (!topology.ok()) return check_refused(topology.status()), 0;
  for (uint32_t d = 0; d < topology->device_count(); ++d) {
    check(topology->find_device(topology->device(d).name) == d, "a device is found by its name");
    for (uint32_t e = 0; e < topology->device_count(); ++e) {
      if (d == e) continue;
      check(topology->link(d, e).bandwidth_bytes_per_us > 0, "links have a bandwidth");
      check(topology->channel(d, e) < topology->channel_count(), "links have a channel");
    }
  }
  return 1;
}

}  // namespace placeto::fuzz
