/* Places two independent nodes on two devices. Exit status 0 if they run side by side. */
#include <placeto/placeto.h>
#include <stdio.h>

static int failed(const placeto_error* error) {
  fprintf(stderr, "%s\n", error->message);
  return 1;
}

int main(void) {
  const double cost_us = 10;
  const char* const names[2] = {"gpu:0", "gpu:1"};
  placeto_graph_builder* nodes;
  placeto_topology_builder* devices;
  placeto_graph* graph;
  placeto_topology* topology;
  placeto_placement* placement;
  placeto_node node;
  placeto_topology_rules rules;
  placeto_device device;
  placeto_error error;
  double makespan_us;
  int i;

  if (placeto_version() != PLACETO_VERSION) {
    fprintf(stderr, "header %d, library %d\n", (int)PLACETO_VERSION, (int)placeto_version());
    return 1;
  }
  if (placeto_graph_builder_create("pair", &nodes, &error)) return failed(&error);
  if (placeto_topology_builder_create("host", &devices, &error)) return failed(&error);
  placeto_default_topology_rules(&rules, sizeof rules);
  rules.bandwidth_bytes_per_us = 1;
  if (placeto_topology_builder_set_rules(devices, &rules, &error)) return failed(&error);
  for (i = 0; i < 2; ++i) {
    placeto_default_node(&node, sizeof node);
    node.cost_us = &cost_us;
    node.cost_count = 1;
    if (placeto_graph_builder_add_node(nodes, &node, NULL, &error)) return failed(&error);
    placeto_default_device(&device, sizeof device);
    device.name = names[i];
    device.kind = "gpu";
    if (placeto_topology_builder_add_device(devices, &device, NULL, &error)) {
      return failed(&error);
    }
  }
  if (placeto_graph_builder_build(nodes, NULL, &graph, &error)) return failed(&error);
  if (placeto_topology_builder_build(devices, NULL, &topology, &error)) return failed(&error);
  if (placeto_place(graph, topology, NULL, NULL, &placement, &error)) return failed(&error);
  makespan_us = placeto_placement_makespan_us(placement);
  placeto_placement_free(placement);
  placeto_topology_free(topology);
  placeto_graph_free(graph);
  placeto_topology_builder_free(devices);
  placeto_graph_builder_free(nodes);
  printf("%.1f us\n", makespan_us);
  return makespan_us == cost_us ? 0 : 1;
}
