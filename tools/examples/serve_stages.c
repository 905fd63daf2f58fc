/* From an ONNX model to the files that an engine's sessions run, inside a program in C:
 *
 *     serve_stages MODEL.onnx TOPOLOGY NEW_FOLDER [NAME=N ...]      NAME=N: a free dimension
 *
 *     cc serve_stages.c $(pkg-config --cflags --libs placeto-onnx) -o serve_stages
 *
 * The topology is a file or the name of a built-in one. Prints where the time goes and writes one
 * model per stage, with the manifest that says in which order they run; run_stages.c runs them.
 */
#include <placeto/placeto_onnx.h>
#include <stdio.h>
#include <stdlib.h>

static void check(placeto_status status, const placeto_error* error) {
  if (status == PLACETO_OK) return;
  fprintf(stderr, "%s: %s\n", placeto_status_text(status), error->message);
  exit(1);
}

static void print_note(void* context, const char* text) {
  (void)context;
  fprintf(stderr, "note: %s\n", text);
}

/* The machine as the engine runs on it. */
static placeto_topology* load_machine(const char* path, const placeto_onnx_engine* engine) {
  placeto_topology *machine, *staged;
  placeto_error error;
  check(placeto_onnx_load_topology(path, NULL, &machine, &error), &error);
  check(placeto_onnx_engine_topology(engine, machine, &staged, &error), &error);
  placeto_topology_free(machine);
  return staged;
}

static void print_devices(const placeto_topology* topology, const placeto_placement* placement) {
  const uint32_t devices = placeto_topology_device_count(topology);
  uint64_t* const peak = calloc(devices, sizeof *peak);
  placeto_error error;
  uint32_t d;
  if (peak == NULL) exit(1);
  check(placeto_placement_peak_memory(placement, peak, devices, &error), &error);
  for (d = 0; d < devices; ++d) {
    placeto_device device;
    device.struct_size = sizeof device;
    check(placeto_topology_device(topology, d, &device, &error), &error);
    printf("%-8s %8.1f KiB of %.0f\n", device.name, (double)peak[d] / 1024,
           (double)device.memory_bytes / 1024);
  }
  free(peak);
}

int main(int argc, char** argv) {
  placeto_onnx_engine* engine;
  placeto_onnx_rules* rules;
  placeto_topology* topology;
  placeto_graph* graph;
  placeto_policy* policy;
  placeto_placement* placement;
  placeto_onnx_options import;
  placeto_options options;
  placeto_error error;
  uint32_t stages;
  if (argc < 4) {
    fprintf(stderr, "usage: serve_stages MODEL.onnx TOPOLOGY NEW_FOLDER [NAME=N ...]\n");
    return 2;
  }
  placeto_onnx_default_options(&import, sizeof import);
  import.dims = (const char* const*)(argv + 4);
  import.dim_count = (size_t)(argc - 4);
  import.on_note = print_note;
  check(placeto_onnx_load_graph(argv[1], &import, &graph, &error), &error);

  check(placeto_onnx_engine_load("onnxruntime", &engine, &error), &error);
  topology = load_machine(argv[2], engine);
  check(placeto_onnx_engine_rules(engine, graph, topology, NULL, 0, print_note, NULL, &rules,
                                  &error),
        &error);
  placeto_default_options(&options, sizeof options);
  options.budget_evaluations = 1000;
  check(placeto_onnx_rules_add(rules, &options, &error), &error);
  check(placeto_onnx_default_policy(&policy, &error), &error);
  check(placeto_place(graph, topology, policy, &options, &placement, &error), &error);

  stages = placeto_placement_stage_count(placement);
  printf("%s: %u nodes in %u %s, %.1f us by %s\n", placeto_graph_name(graph),
         placeto_graph_node_count(graph), stages, stages == 1 ? "stage" : "stages",
         placeto_placement_makespan_us(placement), placeto_placement_method(placement));
  print_devices(topology, placement);
  check(placeto_onnx_write_stages(argv[1], &import, placement, PLACETO_ONNX_STAGES_RECORDED, argv[3],
                                  &error),
        &error);
  printf("wrote %s/manifest.json\n", argv[3]);

  placeto_placement_free(placement);
  placeto_policy_free(policy);
  placeto_onnx_rules_free(rules);
  placeto_topology_free(topology);
  placeto_onnx_engine_free(engine);
  placeto_graph_free(graph);
  return 0;
}
