/* A small host, for measuring what the library costs: builds a graph of 1,000 nodes and a topology
 * of 8 devices, loads a policy, places a few times, and prints one line of JSON.
 *
 *     example POLICY
 */
#include <placeto/placeto.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { kNodes = 1000, kDevices = 8, kRuns = 9 };

static placeto_error error;

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, error.message);
  return 1;
}

/* Numbers that are the same everywhere (Numerical Recipes' linear congruential generator). */
static uint32_t next_number(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static placeto_graph* make_graph(void) {
  placeto_graph_builder* builder;
  placeto_graph* graph = NULL;
  uint32_t state = 1, v;
  if (placeto_graph_builder_create("size", &builder, &error) != PLACETO_OK) return NULL;
  for (v = 0; v < kNodes; ++v) {
    placeto_node node;
    const double cost = 50 + next_number(&state) % 1000;
    const uint64_t output = 1000 + next_number(&state) % 1000000;
    placeto_default_node(&node, sizeof node);
    node.cost_us = &cost;
    node.cost_count = 1;
    node.outputs = &output;
    node.output_count = 1;
    if (placeto_graph_builder_add_node(builder, &node, NULL, &error) != PLACETO_OK) return NULL;
    if (v < 4) continue;
    /* One or two inputs among the twenty before it. */
    const uint32_t reach = v < 20 ? v : 20, first = v - 1 - next_number(&state) % reach;
    const uint32_t second = v - 1 - next_number(&state) % reach;
    placeto_graph_builder_add_edge(builder, first, 0, v, &error);
    if (second != first) placeto_graph_builder_add_edge(builder, second, 0, v, &error);
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
  if (placeto_topology_builder_create("size", &builder, &error) != PLACETO_OK) return NULL;
  placeto_default_topology_rules(&rules, sizeof rules);
  rules.bandwidth_bytes_per_us = 7600;
  rules.gap_us = 25;
  placeto_topology_builder_set_rules(builder, &rules, &error);
  for (d = 0; d < kDevices; ++d) {
    placeto_device device;
    placeto_default_device(&device, sizeof device);
    snprintf(name, sizeof name, "gpu:%d", d);
    device.name = name;
    device.kind = "gpu";
    if (placeto_topology_builder_add_device(builder, &device, NULL, &error) != PLACETO_OK) {
      return NULL;
    }
  }
  placeto_topology_builder_build(builder, NULL, &topology, &error);
  placeto_topology_builder_free(builder);
  return topology;
}

static double processor_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Largest resident set so far, in KiB; 0 where the kernel does not tell. */
static long peak_kib(void) {
  char line[128];
  long kib = 0;
  FILE* file = fopen("/proc/self/status", "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "VmHWM:", 6) == 0) sscanf(line + 6, "%ld", &kib);
  }
  fclose(file);
  return kib;
}

int main(int argc, char** argv) {
  placeto_policy* policy = NULL;
  double best = 1e300, makespan = 0;
  int i;
  if (argc != 2) {
    fprintf(stderr, "usage: example POLICY\n");
    return 2;
  }
  const double began = processor_ms();
  if (placeto_policy_load_file(argv[1], PLACETO_FILE_READ, NULL, &policy, &error) != PLACETO_OK) {
    return failed(argv[1]);
  }
  const double loaded = processor_ms();
  placeto_graph* graph = make_graph();
  if (graph == NULL) return failed("graph");
  placeto_topology* topology = make_topology();
  if (topology == NULL) return failed("topology");
  for (i = 0; i < kRuns; ++i) {
    placeto_placement* placement;
    const double start = processor_ms();
    if (placeto_place(graph, topology, policy, NULL, &placement, &error) != PLACETO_OK) {
      return failed("place");
    }
    const double took = processor_ms() - start;
    if (took < best) best = took;
    makespan = placeto_placement_makespan_us(placement);
    placeto_placement_free(placement);
  }
  printf("{\"load_ms\": %.3f, \"place_ms\": %.3f, \"peak_kib\": %ld, \"makespan_us\": %.17g}\n",
         loaded - began, best, peak_kib(), makespan);
  placeto_policy_free(policy);
  placeto_topology_free(topology);
  placeto_graph_free(graph);
  return 0;
}
