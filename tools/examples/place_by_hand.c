/* Builds a small graph and a topology by hand, places the graph, and prints where each node went
 * and why.
 *
 *     cc place_by_hand.c $(pkg-config --cflags --libs placeto) -o place_by_hand
 *
 * The graph: two towers that only meet at the end, so that two devices can share the work.
 *
 *            +-> image_1 -> image_2 --+
 *     input -+                        +-> join
 *            +-> text_1 --> text_2 ---+
 */
#include <placeto/placeto.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES 6
#define DEVICES 2

/* Leaves with the message of an error; the operating system frees what was allocated. */
static void check(placeto_status status, const placeto_error* error) {
  if (status == PLACETO_OK) return;
  fprintf(stderr, "%s: %s\n", placeto_status_text(status), error->message);
  exit(1);
}

static uint32_t add_node(placeto_graph_builder* builder, const char* name, double gpu_us,
                         double cpu_us, uint64_t output_bytes) {
  placeto_error error;
  placeto_node node;
  double cost_us[2];
  uint32_t index = PLACETO_NONE;
  cost_us[0] = gpu_us; /* one entry per kind, in the order given to set_kinds */
  cost_us[1] = cpu_us;
  placeto_default_node(&node, sizeof node);
  node.name = name;
  node.cost_us = cost_us;
  node.cost_count = 2;
  node.outputs = &output_bytes;
  node.output_count = 1;
  node.resident_bytes = 4000000;
  check(placeto_graph_builder_add_node(builder, &node, &index, &error), &error);
  return index;
}

static placeto_graph* build_graph(void) {
  static const char* const kinds[2] = {"gpu", "cpu"};
  placeto_graph_builder* builder;
  placeto_graph* graph;
  placeto_error error;
  uint32_t input, image_1, image_2, text_1, text_2, join;
  check(placeto_graph_builder_create("two towers", &builder, &error), &error);
  check(placeto_graph_builder_set_kinds(builder, kinds, 2, &error), &error);
  input = add_node(builder, "input", 5, 5, 600000);
  image_1 = add_node(builder, "image_1", 900, 9000, 800000);
  image_2 = add_node(builder, "image_2", 700, 7000, 4000);
  text_1 = add_node(builder, "text_1", 800, 1500, 100000);
  text_2 = add_node(builder, "text_2", 600, 900, 4000);
  join = add_node(builder, "join", 20, 30, 4);
  check(placeto_graph_builder_add_edge(builder, input, 0, image_1, &error), &error);
  check(placeto_graph_builder_add_edge(builder, image_1, 0, image_2, &error), &error);
  check(placeto_graph_builder_add_edge(builder, image_2, 0, join, &error), &error);
  check(placeto_graph_builder_add_edge(builder, input, 0, text_1, &error), &error);
  check(placeto_graph_builder_add_edge(builder, text_1, 0, text_2, &error), &error);
  check(placeto_graph_builder_add_edge(builder, text_2, 0, join, &error), &error);
  check(placeto_graph_builder_build(builder, NULL, &graph, &error), &error);
  placeto_graph_builder_free(builder);
  return graph;
}

static placeto_topology* build_topology(void) {
  static const char* const names[DEVICES] = {"gpu:0", "cpu:0"};
  static const char* const kinds[DEVICES] = {"gpu", "cpu"};
  static const uint64_t memory_bytes[DEVICES] = {16000000, 0}; /* 0: unlimited */
  placeto_topology_builder* builder;
  placeto_topology* topology;
  placeto_topology_rules rules;
  placeto_device device;
  placeto_error error;
  int d;
  check(placeto_topology_builder_create("small host", &builder, &error), &error);
  placeto_default_topology_rules(&rules, sizeof rules);
  rules.bandwidth_bytes_per_us = 12000;
  rules.gap_us = 10;
  check(placeto_topology_builder_set_rules(builder, &rules, &error), &error);
  for (d = 0; d < DEVICES; ++d) {
    placeto_default_device(&device, sizeof device);
    device.name = names[d];
    device.kind = kinds[d];
    device.memory_bytes = memory_bytes[d];
    check(placeto_topology_builder_add_device(builder, &device, NULL, &error), &error);
  }
  check(placeto_topology_builder_build(builder, NULL, &topology, &error), &error);
  placeto_topology_builder_free(builder);
  return topology;
}

static void print_nodes(placeto_placement* placement, const placeto_graph* graph,
                        const placeto_topology* topology) {
  uint32_t devices[NODES], v;
  placeto_error error;
  check(placeto_placement_assignment(placement, devices, NODES, &error), &error);
  for (v = 0; v < NODES; ++v) {
    placeto_reason reason;
    reason.struct_size = sizeof reason;
    check(placeto_placement_explain(placement, v, &reason, &error), &error);
    printf("%-8s on %s", placeto_graph_node_name(graph, v),
           placeto_topology_device_name(topology, devices[v]));
    if (reason.second_device != PLACETO_NONE) {
      printf(": %.1f us; on %s it would be %.1f us%s", reason.cost_us,
             placeto_topology_device_name(topology, reason.second_device), reason.second_cost_us,
             reason.second_feasible ? "" : " and not fit in memory");
    }
    printf("\n");
  }
}

static void print_candidates(const placeto_placement* placement) {
  size_t i;
  placeto_error error;
  for (i = 0; i < placeto_placement_candidate_count(placement); ++i) {
    placeto_candidate candidate;
    candidate.struct_size = sizeof candidate;
    check(placeto_placement_candidate(placement, i, &candidate, &error), &error);
    printf("%c %-14s %8.1f us%s\n", candidate.won ? '*' : ' ', candidate.method,
           candidate.makespan_us, candidate.feasible ? "" : "  does not fit in memory");
  }
}

int main(void) {
  placeto_graph* graph = build_graph();
  placeto_topology* topology = build_topology();
  placeto_placement* placement;
  placeto_options options;
  placeto_error error;
  placeto_default_options(&options, sizeof options);
  options.budget_evaluations = 200;
  check(placeto_place(graph, topology, NULL, &options, &placement, &error), &error);
  printf("placeto %s: %s on %s takes %.1f us (at least %.1f us), by %s\n\n", placeto_version_text(),
         placeto_graph_name(graph), placeto_topology_name(topology),
         placeto_placement_makespan_us(placement), placeto_placement_lower_bound_us(placement),
         placeto_placement_method(placement));
  print_nodes(placement, graph, topology);
  printf("\n");
  print_candidates(placement);
  placeto_graph_free(graph); /* in any order */
  placeto_topology_free(topology);
  placeto_placement_free(placement);
  return 0;
}
