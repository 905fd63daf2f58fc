// Policy files: loaded as they are and, when that is refused, with length and hash made right.
// Whatever loads must be able to place.
#include "runtime/policy/file/policy.h"

#include "runtime/cost/problem.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/reseal.h"
#include "tests/fuzz/targets.h"

namespace placeto::fuzz {
namespace {

//     +-> 1 -+
//  0 -+      +-> 3
//     +-> 2 -+
Graph diamond() {
  GraphSpec spec;
  spec.nodes.resize(4);
  for (NodeSpec& node : spec.nodes) {
    node.cost_us = {10};
    node.outputs = {100};
    node.resident_bytes = 1;
  }
  spec.edges = {{0, 0, 1}, {0, 0, 2}, {1, 0, 3}, {2, 0, 3}};
  auto graph = Graph::build(std::move(spec));
  check(graph.ok(), "the diamond builds");
  return *std::move(graph);
}

Topology devices(uint32_t count) {
  TopologySpec spec;
  for (uint32_t d = 0; d < count; ++d) spec.devices.push_back({std::to_string(d), "gpu"});
  spec.default_link.bandwidth_bytes_per_us = 50;
  auto topology = Topology::build(std::move(spec));
  check(topology.ok(), "plain devices build");
  return *std::move(topology);
}

// Weights may be any finite floats, so scores may overflow: a placement comes out all the same.
void check_placing(const Policy& policy) {
  constexpr uint32_t kHeldDevices = 4;  // what a test has time for
  const uint32_t wanted = policy.dimensions().devices == 0 ? 2 : policy.dimensions().devices;
  if (wanted > kHeldDevices) return;
  const Graph graph = diamond();
  const Topology topology = devices(wanted);
  const auto problem = Problem::build(graph, topology);
  check(problem.ok(), "the problem builds");
  MethodOptions options;
  options.passes = 1;
  const auto result = place_auto(*problem, options, {.policy = &policy});
  check(result.ok(), "a policy that loads places");
  for (const uint32_t device : result->best.assignment) check(device < wanted, "devices exist");
}

bool load(const std::vector<uint8_t>& bytes) {
  const auto policy = Policy::load(bytes, Policy::Bytes::kView, known_features());
  const auto spec = decode_policy(bytes, known_features());
  check(policy.ok() == spec.ok(), "loading and decoding accept the same files");
  if (!policy.ok()) return check_refused(policy.status()), false;
  const auto again = encode_policy(*spec);
  check(again.ok(), "what was read can be written");
  const auto same = decode_policy(*again, known_features());
  check(same.ok() && *same == *spec, "a description survives being written and read");
  check_placing(**policy);
  return true;
}

}  // namespace

int fuzz_policy(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes = own_copy(data, size);
  if (load(bytes)) return 1;
  return reseal_policy(bytes) && load(bytes) ? 1 : 0;
}

}  // namespace placeto::fuzz
