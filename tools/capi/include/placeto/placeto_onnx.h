/* Placeto for ONNX models and JSON files: what `placeto place` and `placeto export` do with files,
 * as a second library, libplaceto-onnx, beside libplaceto. It makes objects of placeto.h and takes
 * them:
 *
 *     placeto_onnx_options import;
 *     placeto_onnx_default_options(&import, sizeof import);
 *     import.dims = dims;  // {"batch=1"}
 *     import.dim_count = 1;
 *     placeto_onnx_load_graph("net.onnx", &import, &graph, &error);
 *     placeto_onnx_load_topology("cpu+gpu", NULL, &topology, &error);
 *     placeto_onnx_default_policy(&policy, &error);
 *     placeto_place(graph, topology, policy, &options, &placement, &error);
 *     placeto_onnx_write_stages("net.onnx", &import, placement, PLACETO_ONNX_STAGES_RECORDED,
 *                               "net.stages", &error);
 *
 * Conduct is that of placeto.h: nothing throws, prints or keeps global state, errors are statuses
 * and messages, strings and arrays passed in are copied unless a function says otherwise. What
 * differs:
 * - It reads the files that it is given the names of, and writes those that it says.
 * - Importing a model takes up to 128 KB of the calling thread's stack.
 * - ONNX models are parsed by protobuf, and libonnx infers shapes in a child process (fork), so
 *   that what a model does to it costs one operator its shape. Where no process is to be had, for
 *   want of a descriptor or of memory, the import fails.
 * - Where memory runs out inside protobuf, or while a description of an engine is read, nothing can
 *   be promised: hosts that run near their limit convert models beforehand, with `placeto import`.
 */
#ifndef PLACETO_PLACETO_ONNX_H
#define PLACETO_PLACETO_ONNX_H

#include <placeto/placeto.h>

#ifdef __cplusplus
extern "C" {
#endif

/* PLACETO_MAKE_VERSION of the library's numbers; it goes with the libplaceto of that version. */
PLACETO_API uint32_t placeto_onnx_version(void) PLACETO_NOEXCEPT;
/* 1 if the library was built with libonnx; 0: it reads JSON and graph files, and models are refused
 * with a message. */
PLACETO_API int32_t placeto_onnx_has_onnx(void) PLACETO_NOEXCEPT;

/* Called with what a user should know and no error says: shapes that could not be inferred,
 * operators that an engine lacks. The text is valid during the call. Must not throw. */
typedef void (*placeto_onnx_note_function)(void* context, const char* text);

/* ---- Graphs ---------------------------------------------------------------------------------- */
typedef struct placeto_onnx_options {
  size_t struct_size;
  const char* const*
      dims; /* numbers for free dimensions, "batch=1", "x[0]=1", "*=1"; default none */
  size_t dim_count;
  const char* const* values; /* values that inputs always have, "use_cache_branch=false" */
  size_t value_count;
  const char* const* shapes; /* shapes that nobody can infer, "features=1x256x7x7:float32" */
  size_t shape_count;
  const char* const* profiles; /* run times: KIND=FILE of ONNX Runtime, trtexec or benchmark_app,
                                  "cpu=profile.json" */
  size_t profile_count;
  const char* const* tables; /* run times: files of lines node,kind,us */
  size_t table_count;
  const char* const* efficiencies; /* estimates: files that `placeto calibrate` wrote */
  size_t efficiency_count;
  int32_t copy_shared;   /* 1: large parameters that several nodes read are copied to each device;
                            default 0: those nodes share one */
  int32_t tear_patterns; /* 1: devices may divide what engines run as one operator; default 0 */
  const placeto_limits* limits;       /* NULL (default): the default limits */
  placeto_onnx_note_function on_note; /* NULL (default): nobody listens */
  void* note_context;                 /* handed to `on_note` */
} placeto_onnx_options;

/* As the placeto_default_... functions of placeto.h. */
PLACETO_API placeto_status placeto_onnx_default_options(placeto_onnx_options* options,
                                                        size_t struct_size) PLACETO_NOEXCEPT;

/* An ONNX model, or a graph file in JSON or binary, told apart by content. Of `options` (NULL: the
 * defaults) only limits count for graph files. PLACETO_IO, PLACETO_BAD_INPUT, or
 * PLACETO_INVALID_ARGUMENT where options do not fit the model or dimensions are left without a
 * number; messages start with the path. */
PLACETO_API placeto_status placeto_onnx_load_graph(const char* path,
                                                   const placeto_onnx_options* options,
                                                   placeto_graph** graph,
                                                   placeto_error* error) PLACETO_NOEXCEPT;
/* The same of a file's content. `name`: of a model that has none; NULL: "model". */
PLACETO_API placeto_status placeto_onnx_load_graph_memory(const void* bytes, size_t size,
                                                          const char* name,
                                                          const placeto_onnx_options* options,
                                                          placeto_graph** graph,
                                                          placeto_error* error) PLACETO_NOEXCEPT;

/* ---- Topologies and the default policy ------------------------------------------------------- */
/* A topology file in JSON or binary, or the name of one that ships with Placeto ("cpu+gpu"). */
PLACETO_API placeto_status placeto_onnx_load_topology(const char* path,
                                                      const placeto_limits* limits,
                                                      placeto_topology** topology,
                                                      placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_onnx_load_topology_memory(const void* bytes, size_t size,
                                                             const placeto_limits* limits,
                                                             placeto_topology** topology,
                                                             placeto_error* error) PLACETO_NOEXCEPT;
/* The policy that `placeto place` uses unless it is told otherwise. */
PLACETO_API placeto_status placeto_onnx_default_policy(placeto_policy** policy,
                                                       placeto_error* error) PLACETO_NOEXCEPT;

/* ---- Engines ----------------------------------------------------------------------------------
 * How an engine executes, what its providers can run and what it fuses: a file, or the name of a
 * description that ships with Placeto ("onnxruntime"). Immutable: threads may share one. */
typedef struct placeto_onnx_engine placeto_onnx_engine;
PLACETO_API placeto_status placeto_onnx_engine_load(const char* path, placeto_onnx_engine** engine,
                                                    placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API void placeto_onnx_engine_free(placeto_onnx_engine* engine) PLACETO_NOEXCEPT;

/* The topology as that engine runs on it: its execution, and its prices of stages for devices that
 * give none. */
PLACETO_API placeto_status placeto_onnx_engine_topology(const placeto_onnx_engine* engine,
                                                        const placeto_topology* topology,
                                                        placeto_topology** changed,
                                                        placeto_error* error) PLACETO_NOEXCEPT;

/* What the engine demands of placements of one graph on one topology. */
typedef struct placeto_onnx_rules placeto_onnx_rules;
/* `providers`: DEVICE=NAME or KIND=NAME, "gpu=cuda", of which a device goes before its kind; a CPU
 * has the provider "cpu". `on_note` may be NULL. */
PLACETO_API placeto_status placeto_onnx_engine_rules(
    const placeto_onnx_engine* engine, const placeto_graph* graph, const placeto_topology* topology,
    const char* const* providers, size_t provider_count, placeto_onnx_note_function on_note,
    void* note_context, placeto_onnx_rules** rules, placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API void placeto_onnx_rules_free(placeto_onnx_rules* rules) PLACETO_NOEXCEPT;
/* Puts them into the options of placeto_place, after those that are there: forbids and colocate
 * then lead into `rules` and live as long, also when other options get the same. (What options with
 * entries of their own get takes memory until then.) Where options->tolerance is 0 it becomes the
 * engine's: one device is kept unless leaving it is predicted to gain more. Threads may share one.
 */
PLACETO_API placeto_status placeto_onnx_rules_add(placeto_onnx_rules* rules,
                                                  placeto_options* options,
                                                  placeto_error* error) PLACETO_NOEXCEPT;

/* ---- Results --------------------------------------------------------------------------------- */
/* The placement as a JSON placement file, which every command takes; ends with a newline and is no
 * NUL-terminated string. Else as placeto_graph_encode. What the placement was made with it does not
 * know: commands that simulate it need the same --dim and --engine. */
PLACETO_API placeto_status placeto_onnx_placement_json(const placeto_placement* placement,
                                                       void* buffer, size_t capacity, size_t* size,
                                                       placeto_error* error) PLACETO_NOEXCEPT;

/* How a model is divided into stages. */
enum {
  PLACETO_ONNX_STAGES_RECORDED = 0, /* as placed, under staged execution; else as few as possible */
  PLACETO_ONNX_STAGES_FEWEST = 1,
  PLACETO_ONNX_STAGES_OVERLAP = 2,  /* cut so that devices can overlap */
  PLACETO_ONNX_STAGES_CROSSINGS = 3 /* by changes of the device: fewer, that wait for little */
};
/* Writes one ONNX file per stage, with its weights, and manifest.json into the new folder
 * `directory`, whole or not at all. `options` are those that the model was imported with; dims,
 * values and shapes count. PLACETO_BAD_INPUT if the placement is not one of this model,
 * PLACETO_INVALID_ARGUMENT if `directory` exists and is not empty. */
PLACETO_API placeto_status placeto_onnx_write_stages(const char* model,
                                                     const placeto_onnx_options* options,
                                                     const placeto_placement* placement,
                                                     int32_t stages, const char* directory,
                                                     placeto_error* error) PLACETO_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* PLACETO_PLACETO_ONNX_H */
