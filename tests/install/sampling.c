/* Records every decision of drawn placements through the callback, as a trainer would, and checks
 * that they are whole.
 *
 *     sampling POLICY
 */
#include <placeto/placeto.h>
#include <stdio.h>
#include <string.h>

enum { kNodes = 40, kDevices = 4, kSamples = 20 };

static placeto_error error;

typedef struct Record {
  uint32_t last_sample;
  long steps, drawn, moved, wrong;
  double log_probability;
} Record;

static void record(void* context, const placeto_step* step) {
  Record* r = context;
  size_t i, chosen = step->device_count;
  for (i = 0; i < step->device_count; ++i) {
    if (step->devices[i] == step->choice) chosen = i;
  }
  r->last_sample = step->sample;
  r->steps += 1;
  r->drawn += step->sample != 0;
  r->moved += step->choice != PLACETO_NONE;
  r->log_probability += step->log_probability;
  r->wrong += step->device_count == 0 || step->node_count == 0 || step->feature_columns == 0;
  r->wrong += step->log_probability > 0 || (step->sample == 0 && step->log_probability != 0);
  r->wrong += step->choice != PLACETO_NONE && (chosen == step->device_count || !step->mask[chosen]);
}

static placeto_graph* make_graph(void) {
  placeto_graph_builder* builder;
  placeto_graph* graph = NULL;
  uint32_t v;
  if (placeto_graph_builder_create("sampling", &builder, &error) != PLACETO_OK) return NULL;
  for (v = 0; v < kNodes; ++v) {
    placeto_node node;
    const double cost = 50 + 37 * v % 100;
    const uint64_t output = 1000 * (1 + v % 7);
    placeto_default_node(&node, sizeof node);
    node.cost_us = &cost;
    node.cost_count = 1;
    node.outputs = &output;
    node.output_count = 1;
    placeto_graph_builder_add_node(builder, &node, NULL, &error);
    if (v >= 3) placeto_graph_builder_add_edge(builder, v - 3, 0, v, &error);
    if (v >= 5) placeto_graph_builder_add_edge(builder, v - 5, 0, v, &error);
  }
  placeto_graph_builder_build(builder, NULL, &graph, &error);
  placeto_graph_builder_free(builder);
  return graph;
}

static placeto_topology* make_topology(void) {
  placeto_topology_builder* builder;
  placeto_topology* topology = NULL;
  placeto_topology_rules rules;
  char name[16];
  int d;
  if (placeto_topology_builder_create("sampling", &builder, &error) != PLACETO_OK) return NULL;
  placeto_default_topology_rules(&rules, sizeof rules);
  rules.bandwidth_bytes_per_us = 1000;
  placeto_topology_builder_set_rules(builder, &rules, &error);
  for (d = 0; d < kDevices; ++d) {
    placeto_device device;
    placeto_default_device(&device, sizeof device);
    sprintf(name, "gpu:%d", d);
    device.name = name;
    device.kind = "gpu";
    placeto_topology_builder_add_device(builder, &device, NULL, &error);
  }
  placeto_topology_builder_build(builder, NULL, &topology, &error);
  placeto_topology_builder_free(builder);
  return topology;
}

int main(int argc, char** argv) {
  placeto_policy* policy = NULL;
  placeto_placement* placement = NULL;
  placeto_options options;
  Record r;
  placeto_graph* const graph = make_graph();
  placeto_topology* const topology = graph == NULL ? NULL : make_topology();
  memset(&r, 0, sizeof r);
  placeto_default_options(&options, sizeof options);
  options.samples = kSamples;
  options.seed = 7;
  options.kernels = PLACETO_KERNELS_PORTABLE;
  options.on_step = record;
  options.step_context = &r;
  if (topology == NULL || argc != 2 ||
      placeto_policy_load_file(argv[1], PLACETO_FILE_READ, NULL, &policy, &error) != PLACETO_OK ||
      placeto_place(graph, topology, policy, &options, &placement, &error) != PLACETO_OK) {
    fprintf(stderr, "%s\n", argc == 2 ? error.message : "usage: sampling POLICY");
    return 1;
  }
  printf("%ld steps, %ld drawn in %u samples, %ld moves, ln p %.3f, makespan %.1f us by %s\n",
         r.steps, r.drawn, (unsigned)r.last_sample, r.moved, r.log_probability,
         placeto_placement_makespan_us(placement), placeto_placement_method(placement));
  if (r.wrong != 0 || r.last_sample != kSamples || !(r.log_probability < 0)) {
    fprintf(stderr, "%ld of them are wrong\n", r.wrong);
    return 1;
  }
  placeto_placement_free(placement);
  placeto_policy_free(policy);
  placeto_topology_free(topology);
  placeto_graph_free(graph);
  return 0;
}
