/* Placeto's runner: what `placeto export --split` and `placeto tune` wrote, run by ONNX Runtime
 * inside a server. One session per stage, one thread per device, in a library of its own,
 * libplaceto-runner, which needs none of the others:
 *
 *     placeto_runner_options options;
 *     placeto_runner_default_options(&options, sizeof options);
 *     options.slots = 2;
 *     placeto_runner_open("net.stages", &options, &runner, &error);
 *     placeto_runner_input(runner, 0, 0, &data, &bytes, &error);    fill: something the model takes
 *     placeto_runner_start(runner, &error);                         first run; memory; threads
 *     placeto_runner_input(runner, slot, 0, &data, &bytes, &error); fill: a request
 *     placeto_runner_submit(runner, slot, &error);
 *     placeto_runner_wait(runner, slot, &error);
 *     placeto_runner_output(runner, slot, 0, &view, &error);
 *
 * Conduct is that of placeto.h, whose statuses and errors these are: nothing throws, prints or
 * exits, strings passed in are copied, functions that can fail say so by a status and a message,
 * getters answer 0, "" or PLACETO_NONE for NULL and beyond the last. What differs:
 * - It reads the files of the model, loads ONNX Runtime (when that is first needed, once per
 *   process, and for as long as the process lives) and starts threads.
 * - Before it loads ONNX Runtime it sets ORT_DISABLE_TELEMETRY to 1 in the process's environment,
 *   if that is not set, so that no files of telemetry are written. In a program whose other threads
 *   use the environment, set it yourself before they start.
 * - A slot is what one request in flight needs: memory of its own for every tensor. Different slots
 *   may be used by different threads at the same time, one slot by one thread at a time. Calls that
 *   come too early, too late or twice fail with PLACETO_INVALID_ARGUMENT and change nothing.
 * - Where memory runs out inside the engine, or while a manifest is read, nothing can be promised.
 * - Freeing a runner while another call uses it is the one thing that is not checked.
 *
 * Times are in microseconds, sizes in bytes. The header compiles as C99 and as C++17.
 */
#ifndef PLACETO_PLACETO_RUNNER_H
#define PLACETO_PLACETO_RUNNER_H

#include <placeto/placeto.h>

#ifdef __cplusplus
extern "C" {
#endif

/* PLACETO_MAKE_VERSION of the library's numbers. */
PLACETO_API uint32_t placeto_runner_version(void) PLACETO_NOEXCEPT;
/* The engine that runs models, "onnxruntime 1.30.0"; "" if this library was built without one, or
 * finds none here: placeto_runner_open then says why. Loads it. Static. */
PLACETO_API const char* placeto_runner_engine(void) PLACETO_NOEXCEPT;

/* ---- Opening --------------------------------------------------------------------------------- */
typedef struct placeto_runner placeto_runner;

typedef struct placeto_runner_options {
  size_t struct_size;
  uint32_t threads; /* of each stage's session, for one operator, at most 1,024; 0 (default): what
                       tune.json in the directory of the stages says, else 1 */
  uint32_t slots;   /* requests in flight at most, 1 (default) to 1,024 */
  const char* const* dims; /* numbers for free dimensions, "batch=1", "x[0]=1", "*=1"; default none:
                              those that the stages were placed with, if they say so. A name that
                              stages do not have is refused, one that a whole model does not have
                              counts for nothing */
  size_t dim_count;
  const char* const* providers; /* what runs a device, "gpu:0=cuda", or all whose names begin
                                   so up to a colon, "gpu=cuda"; a whole name goes before a
                                   beginning, and of two of the same sort the last holds. Else what
                                   tune.json says, and for every other device, whatever its name,
                                   "cpu" */
  size_t provider_count;
} placeto_runner_options;

/* As the placeto_default_... functions of placeto.h. */
PLACETO_API placeto_status placeto_runner_default_options(placeto_runner_options* options,
                                                          size_t struct_size) PLACETO_NOEXCEPT;

/* Opens every session. `path`: the directory with the stages, its manifest (.json), or an ONNX
 * model, which runs whole on one device called cpu:0. `options` NULL: the defaults. PLACETO_IO,
 * PLACETO_BAD_INPUT for a manifest that contradicts itself or its stages or a file that the engine
 * refuses, and PLACETO_INVALID_ARGUMENT if there is no engine or provider, or options do not fit
 * the model. */
PLACETO_API placeto_status placeto_runner_open(const char* path,
                                               const placeto_runner_options* options,
                                               placeto_runner** runner,
                                               placeto_error* error) PLACETO_NOEXCEPT;
/* Waits for the stages that run; requests in flight are dropped. No other call may use the runner,
 * and the memory of its inputs and outputs goes with it. */
PLACETO_API void placeto_runner_free(placeto_runner* runner) PLACETO_NOEXCEPT;

/* As opened. Threads: 0 where tune found the engine fastest left to itself: as many as it likes. */
PLACETO_API uint32_t placeto_runner_threads(const placeto_runner* runner) PLACETO_NOEXCEPT;
PLACETO_API uint32_t placeto_runner_slots(const placeto_runner* runner) PLACETO_NOEXCEPT;
/* How many runners of this directory side by side `placeto tune` measured to be the fastest for a
 * stream of requests; 1 where it says nothing. This is one of them. */
PLACETO_API uint32_t placeto_runner_replicas(const placeto_runner* runner) PLACETO_NOEXCEPT;

/* ---- Inputs and outputs ---------------------------------------------------------------------- */
/* Types of elements, as ONNX numbers them. */
enum {
  PLACETO_RUNNER_NO_TENSOR = 0,
  PLACETO_RUNNER_FLOAT32 = 1,
  PLACETO_RUNNER_UINT8 = 2,
  PLACETO_RUNNER_INT8 = 3,
  PLACETO_RUNNER_UINT16 = 4,
  PLACETO_RUNNER_INT16 = 5,
  PLACETO_RUNNER_INT32 = 6,
  PLACETO_RUNNER_INT64 = 7,
  PLACETO_RUNNER_STRING = 8, /* has no size, and cannot be read */
  PLACETO_RUNNER_BOOL = 9,   /* one byte, 0 or 1 */
  PLACETO_RUNNER_FLOAT16 = 10,
  PLACETO_RUNNER_FLOAT64 = 11,
  PLACETO_RUNNER_UINT32 = 12,
  PLACETO_RUNNER_UINT64 = 13,
  PLACETO_RUNNER_BFLOAT16 = 16
};

/* An input or output. What its pointers lead to lives as long as the runner. */
typedef struct placeto_runner_tensor {
  size_t struct_size;
  const char* name;
  int32_t element;            /* its type, as above or another that ONNX knows */
  uint32_t rank;              /* number of axes */
  const char* element_name;   /* "float32", as NumPy calls it */
  size_t element_bytes;       /* 0: no fixed size */
  const int64_t* shape;       /* of each axis; of outputs -1: not known before the run */
  const char* const* symbols; /* what the model calls each axis, "batch"; "" where it has no name */
} placeto_runner_tensor;

PLACETO_API uint32_t placeto_runner_input_count(const placeto_runner* runner) PLACETO_NOEXCEPT;
PLACETO_API uint32_t placeto_runner_output_count(const placeto_runner* runner) PLACETO_NOEXCEPT;
/* The input or output of that name, or PLACETO_NONE. */
PLACETO_API uint32_t placeto_runner_find_input(const placeto_runner* runner,
                                               const char* name) PLACETO_NOEXCEPT;
PLACETO_API uint32_t placeto_runner_find_output(const placeto_runner* runner,
                                                const char* name) PLACETO_NOEXCEPT;
/* The caller sets to->struct_size. */
PLACETO_API placeto_status placeto_runner_input_tensor(const placeto_runner* runner, uint32_t input,
                                                       placeto_runner_tensor* to,
                                                       placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_runner_output_tensor(const placeto_runner* runner,
                                                        uint32_t output, placeto_runner_tensor* to,
                                                        placeto_error* error) PLACETO_NOEXCEPT;

/* Where a slot's next request has that input: memory to write into, rows first, zero at first.
 * Fails while a request of the slot is in flight; the address stays the same until the runner is
 * freed. */
PLACETO_API placeto_status placeto_runner_input(placeto_runner* runner, uint32_t slot,
                                                uint32_t input, void** data, size_t* bytes,
                                                placeto_error* error) PLACETO_NOEXCEPT;

/* ---- Requests -------------------------------------------------------------------------------- */
/* Runs slot 0 once on this thread, copies its inputs into every other slot, and starts the threads.
 * The inputs of slot 0 must hold what the model takes. PLACETO_BAD_INPUT with the engine's words if
 * it refuses them: write others and start again. Once per runner; slots have no request yet. */
PLACETO_API placeto_status placeto_runner_start(placeto_runner* runner,
                                                placeto_error* error) PLACETO_NOEXCEPT;

/* Runs a request from the slot's inputs to its outputs. This thread computes what the first stage's
 * device computes, if no other does: the least time for one request. PLACETO_BAD_INPUT with the
 * engine's words if a stage fails; the slot then has no outputs, and takes the next request. */
PLACETO_API placeto_status placeto_runner_run(placeto_runner* runner, uint32_t slot,
                                              placeto_error* error) PLACETO_NOEXCEPT;
/* The same without waiting: requests of several slots overlap on the devices. */
PLACETO_API placeto_status placeto_runner_submit(placeto_runner* runner, uint32_t slot,
                                                 placeto_error* error) PLACETO_NOEXCEPT;
/* Until what was submitted is done; fails as placeto_runner_run does. Any thread may wait, one for
 * each request. */
PLACETO_API placeto_status placeto_runner_wait(placeto_runner* runner, uint32_t slot,
                                               placeto_error* error) PLACETO_NOEXCEPT;

/* An output of the slot's last request. Valid until the slot is given the next one, or this output
 * is asked for again. */
typedef struct placeto_runner_view {
  size_t struct_size;
  const void* data;
  size_t bytes;
  int32_t element;
  uint32_t rank;
  const int64_t* shape; /* complete */
} placeto_runner_view;

/* The caller sets to->struct_size. Fails before the slot's first request, while one is in flight,
 * and after one that failed; PLACETO_INVALID_ARGUMENT, too, for what is no tensor of numbers. */
PLACETO_API placeto_status placeto_runner_output(placeto_runner* runner, uint32_t slot,
                                                 uint32_t output, placeto_runner_view* to,
                                                 placeto_error* error) PLACETO_NOEXCEPT;

/* ---- Monitoring ------------------------------------------------------------------------------ */
/* A stage, numbered as in the manifest. Strings live as long as the runner. */
typedef struct placeto_runner_stage {
  size_t struct_size;
  const char* device;  /* that it was placed on, "gpu:0" */
  const char* file;    /* its ONNX file, relative to the directory */
  uint32_t node_count; /* 0: not known */
  double predicted_us; /* its time by the cost model; 0: not known */
} placeto_runner_stage;

PLACETO_API uint32_t placeto_runner_stage_count(const placeto_runner* runner) PLACETO_NOEXCEPT;
/* The caller sets to->struct_size. */
PLACETO_API placeto_status placeto_runner_get_stage(const placeto_runner* runner, uint32_t stage,
                                                    placeto_runner_stage* to,
                                                    placeto_error* error) PLACETO_NOEXCEPT;
/* When the slot's last request was submitted, and when each stage began and ended: microseconds of
 * CLOCK_MONOTONIC. `submitted_us` may be NULL, and so may each array; `capacity` holds for both, at
 * least the number of stages. Fails before the slot's first request and while one is in flight;
 * after one that failed, stages that did not run have begun and ended when they were passed over.
 */
PLACETO_API placeto_status placeto_runner_times(const placeto_runner* runner, uint32_t slot,
                                                double* submitted_us, double* starts_us,
                                                double* ends_us, size_t capacity,
                                                placeto_error* error) PLACETO_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* PLACETO_PLACETO_RUNNER_H */
