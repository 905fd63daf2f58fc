// The C interface: a graph, a topology and options from the bytes, placed with or without a
// policy, and every result read and compared with the others.
#include <cmath>

#include "runtime/policy/file/policy_file.h"
#include "tests/fuzz/capi_objects.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/targets.h"
#include "tests/support/small_policies.h"

namespace placeto::fuzz {
namespace {

struct Scene {
  GraphHandle graph;
  TopologyHandle topology;
  const placeto_policy* policy;  // or null
  Options options;
  uint32_t nodes, devices;
};

// One for the whole run: policies are immutable.
const placeto_policy* small_policy() {
  static const PolicyHandle policy = [] {
    const auto bytes = encode_policy(test::small_pairwise_policy());
    check(bytes.ok(), "the policy is written");
    placeto_policy* loaded = nullptr;
    check(placeto_policy_load_memory(bytes->data(), bytes->size(), PLACETO_BYTES_COPY, nullptr,
                                     &loaded, nullptr) == PLACETO_OK,
          "the policy loads");
    return PolicyHandle(loaded);
  }();
  return policy.get();
}

// Writing and loading what was built gives the same bytes again.
template <class Handle, class Object>
void check_encoding(const Object* object,
                    placeto_status (*encode)(const Object*, void*, size_t, size_t*,
                                             placeto_error*) noexcept,
                    placeto_status (*load)(const void*, size_t, const placeto_limits*, Object**,
                                           placeto_error*) noexcept) {
  placeto_error error;
  size_t size = 0;
  check(encode(object, nullptr, 0, &size, &error) == PLACETO_OK, "the size is told");
  std::vector<uint8_t> bytes(size), again(size);
  check(encode(object, bytes.data(), size - 1, &size, &error) == PLACETO_BUFFER_TOO_SMALL,
        "a buffer one byte short is too small");
  check(encode(object, bytes.data(), size, &size, &error) == PLACETO_OK, "it is written");
  Object* loaded = nullptr;
  check(load(bytes.data(), size, nullptr, &loaded, &error) == PLACETO_OK, "it loads");
  const Handle owner(loaded);
  check(encode(loaded, again.data(), size, &size, &error) == PLACETO_OK, "it is written again");
  check(bytes == again, "equal objects give equal bytes");
}

PlacementHandle place(const Scene& scene) {
  placeto_placement* placement = nullptr;
  placeto_error error;
  const bool ok = check_outcome(placeto_place(scene.graph.get(), scene.topology.get(), scene.policy,
                                              &scene.options.value, &placement, &error),
                                error);
  check(ok == (placement != nullptr), "there is a placement if it succeeded");
  return PlacementHandle(placement);
}

std::vector<uint32_t> assignment_of(const placeto_placement* placement) {
  std::vector<uint32_t> devices(placeto_placement_node_count(placement));
  placeto_error error;
  check(
      placeto_placement_assignment(placement, devices.data(), devices.size(), &error) == PLACETO_OK,
      "the assignment is read");
  return devices;
}

void check_rules(const Scene& scene, const std::vector<uint32_t>& assignment) {
  check(assignment.size() == scene.nodes, "every node has a device");
  for (const uint32_t device : assignment) check(device < scene.devices, "devices exist");
  for (const auto& [node, device] : scene.options.pins) {
    check(assignment[node] == device, "pins hold");
  }
  for (const auto& [node, device] : scene.options.forbids) {
    check(assignment[node] != device, "forbidden devices are left out");
  }
  for (const uint32_t node : scene.options.together) {
    check(assignment[node] == assignment[scene.options.together[0]], "lists share a device");
  }
}

void check_numbers(const placeto_placement* placement) {
  placeto_error error;
  const uint32_t nodes = placeto_placement_node_count(placement);
  std::vector<double> start(nodes), finish(nodes);
  check(
      placeto_placement_times(placement, start.data(), finish.data(), nodes, &error) == PLACETO_OK,
      "times are read");
  const double makespan = placeto_placement_makespan_us(placement);
  check(makespan >= 0, "the makespan is a time");
  double last = 0;
  for (uint32_t v = 0; v < nodes; ++v) {
    check(start[v] >= 0 && start[v] <= finish[v], "nodes finish after they start");
    last = std::fmax(last, finish[v]);
  }
  check(last <= makespan, "no node finishes after the makespan");
  check(placeto_placement_lower_bound_us(placement) <= makespan * (1 + 1e-9),
        "no placement beats the lower bound");
  check(placeto_placement_feasible(placement) == 1, "a placement that is handed out fits");
  std::vector<uint64_t> lacking(placeto_placement_device_count(placement));
  check(
      placeto_placement_shortfall(placement, lacking.data(), lacking.size(), &error) == PLACETO_OK,
      "the shortfall is read");
  for (const uint64_t bytes : lacking) check(bytes == 0, "what fits lacks nothing");
}

void check_reasons(const Scene& scene, placeto_placement* placement) {
  placeto_error error;
  for (uint32_t v = 0; v < scene.nodes; ++v) {
    placeto_reason reason;
    reason.struct_size = sizeof reason;
    check(placeto_placement_explain(placement, v, &reason, &error) == PLACETO_OK, "explained");
    check(reason.device == placeto_placement_device(placement, v), "reasons know the device");
    check((reason.second_device == PLACETO_NONE) == (reason.allowed_devices == 1),
          "there is a second device if another is allowed");
  }
  bool won = false;
  for (size_t i = 0; i < placeto_placement_candidate_count(placement); ++i) {
    placeto_candidate candidate;
    candidate.struct_size = sizeof candidate;
    check(placeto_placement_candidate(placement, i, &candidate, &error) == PLACETO_OK, "listed");
    check(candidate.won == 0 || candidate.feasible == 1, "the winner fits");
    won = won || candidate.won == 1;
  }
  check(won, "one candidate won");
}

// Scoring the same assignment, and placing again, give the same answer.
void check_again(const Scene& scene, const placeto_placement* placement,
                 const std::vector<uint32_t>& assignment) {
  placeto_placement* raw = nullptr;
  placeto_error error;
  check(placeto_score(scene.graph.get(), scene.topology.get(), assignment.data(), assignment.size(),
                      &scene.options.value, &raw, &error) == PLACETO_OK,
        "a placement can be scored");
  const PlacementHandle scored(raw);
  check(placeto_placement_makespan_us(raw) == placeto_placement_makespan_us(placement),
        "scoring agrees with placing");
  check(placeto_placement_feasible(raw) == 1, "scoring agrees that it fits");
  const PlacementHandle again = place(scene);
  check(again && assignment_of(again.get()) == assignment, "placing is deterministic");
}

}  // namespace

int fuzz_capi(const uint8_t* data, size_t size) {
  Input input(data, size);
  Scene scene{make_graph(input), make_topology(input), nullptr, {}, 0, 0};
  if (scene.graph) {
    check_encoding<GraphHandle>(scene.graph.get(), placeto_graph_encode, placeto_graph_load_memory);
  }
  if (scene.topology) {
    check_encoding<TopologyHandle>(scene.topology.get(), placeto_topology_encode,
                                   placeto_topology_load_memory);
  }
  if (!scene.graph || !scene.topology) return 0;
  scene.nodes = placeto_graph_node_count(scene.graph.get());
  scene.devices = placeto_topology_device_count(scene.topology.get());
  choose_options(input, scene.nodes, scene.devices, scene.options);
  if (input.one_in(2)) scene.policy = small_policy();
  const PlacementHandle placement = place(scene);
  if (!placement) return 0;
  const std::vector<uint32_t> assignment = assignment_of(placement.get());
  check_rules(scene, assignment);
  check_numbers(placement.get());
  check_reasons(scene, placement.get());
  check_again(scene, placement.get(), assignment);
  return 1;
}

}  // namespace placeto::fuzz
