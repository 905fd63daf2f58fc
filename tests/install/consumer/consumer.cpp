// The same as consumer.c by the C++ wrapper, in a program with names like the library's own: with
// the static library they must not get mixed up.
#include <cstdio>
#include <placeto/placeto.hpp>

int main() {
  placeto::GraphBuilder nodes("pair");
  placeto::TopologyBuilder devices("host");
  placeto::TopologyRules rules;
  rules.bandwidth_bytes_per_us = 1;
  devices.set_rules(rules);
  const double cost_us = 10;
  for (const char* name : {"gpu:0", "gpu:1"}) {
    placeto::Node node;
    node.cost_us = &cost_us;
    node.cost_count = 1;
    nodes.add_node(node);
    placeto::Device device;
    device.name = name;
    device.kind = "gpu";
    devices.add_device(device);
  }
  const auto graph = nodes.build();
  const auto topology = devices.build();
  if (!graph || !topology) return 1;
  const auto placement = placeto::place(*graph, *topology);
  if (!placement) {
    std::fprintf(stderr, "%s\n", placement.error().message.c_str());
    return 1;
  }
  std::printf("%.1f us\n", placement->makespan_us());
  return placement->makespan_us() == cost_us ? 0 : 1;
}
