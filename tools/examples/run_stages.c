/* A server in C that runs the stages of a placed model, with two requests in flight:
 *
 *     run_stages STAGES [REQUESTS [NAME=N ...]]      NAME=N: a free dimension
 *
 *     cc run_stages.c $(pkg-config --cflags --libs placeto-runner) -o run_stages
 *
 * STAGES is a directory that `placeto export --split`, `placeto tune` or serve_stages.c wrote, or an
 * ONNX model. Prints how long a request took, and each stage of it. The requests are made up here; a
 * server writes into the same memory what its clients send.
 */
#include <placeto/placeto_runner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSlots = 2 };

static void check(placeto_status status, const placeto_error* error) {
  if (status == PLACETO_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

/* Every input of the slot: numbers from 0 to 1, or the whole number 1, which is valid as an index, a
 * length and a mask (of integers the first byte is the lowest one). */
static void write_request(placeto_runner* runner, uint32_t slot, uint32_t request) {
  placeto_error error;
  uint32_t i;
  for (i = 0; i < placeto_runner_input_count(runner); ++i) {
    placeto_runner_tensor tensor;
    void* data;
    size_t bytes, at;
    tensor.struct_size = sizeof tensor;
    check(placeto_runner_input_tensor(runner, i, &tensor, &error), &error);
    check(placeto_runner_input(runner, slot, i, &data, &bytes, &error), &error);
    memset(data, 0, bytes);
    for (at = 0; at < bytes; at += tensor.element_bytes) {
      const float number = (float)((request + at / tensor.element_bytes) % 10) / 10;
      if (tensor.element == PLACETO_RUNNER_FLOAT32) {
        memcpy((char*)data + at, &number, sizeof number);
      } else {
        ((char*)data)[at] = 1;
      }
    }
  }
}

/* What a request came to, and how long it took. */
typedef struct served {
  uint64_t count, output_bytes;
  double latency_us;
  double* stage_us; /* per stage; all are sums */
} served;

static void read_answer(placeto_runner* runner, uint32_t slot, served* sum) {
  const uint32_t stages = placeto_runner_stage_count(runner);
  double* const starts = malloc(2 * stages * sizeof *starts);
  double* const ends = starts + stages;
  double submitted, last = 0;
  placeto_error error;
  uint32_t i;
  if (starts == NULL) exit(1);
  for (i = 0; i < placeto_runner_output_count(runner); ++i) {
    placeto_runner_view view;
    view.struct_size = sizeof view;
    check(placeto_runner_output(runner, slot, i, &view, &error), &error);
    sum->output_bytes += view.bytes; /* here a server sends view.data */
  }
  check(placeto_runner_times(runner, slot, &submitted, starts, ends, stages, &error), &error);
  for (i = 0; i < stages; ++i) {
    sum->stage_us[i] += ends[i] - starts[i];
    if (ends[i] > last) last = ends[i];
  }
  sum->latency_us += last - submitted;
  ++sum->count;
  free(starts);
}

/* While one request is on its way, the other slot's answer is read and its next request written. */
static void serve(placeto_runner* runner, uint32_t requests, served* sum) {
  placeto_error error;
  uint32_t r;
  for (r = 0; r < requests + kSlots; ++r) {
    const uint32_t slot = r % kSlots;
    if (r >= kSlots && r - kSlots < requests) {
      check(placeto_runner_wait(runner, slot, &error), &error);
      read_answer(runner, slot, sum);
    }
    if (r < requests) {
      write_request(runner, slot, r);
      check(placeto_runner_submit(runner, slot, &error), &error);
    }
  }
}

static void print_stages(const placeto_runner* runner, const served* sum) {
  placeto_error error;
  uint32_t i;
  for (i = 0; i < placeto_runner_stage_count(runner); ++i) {
    placeto_runner_stage stage;
    stage.struct_size = sizeof stage;
    check(placeto_runner_get_stage(runner, i, &stage, &error), &error);
    printf("%-16s on %-8s %10.1f us\n", stage.file, stage.device,
           sum->stage_us[i] / (double)sum->count);
  }
}

int main(int argc, char** argv) {
  placeto_runner_options options;
  placeto_runner* runner;
  placeto_error error;
  served sum;
  uint32_t threads;
  const long requests = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
  if (argc < 2 || requests < 1 || requests > 1000000) {
    fprintf(stderr, "usage: run_stages STAGES [REQUESTS [NAME=N ...]]\n");
    return 2;
  }
  placeto_runner_default_options(&options, sizeof options);
  options.slots = kSlots;
  if (argc > 3) {
    options.dims = (const char* const*)(argv + 3);
    options.dim_count = (size_t)(argc - 3);
  }
  check(placeto_runner_open(argv[1], &options, &runner, &error), &error);
  write_request(runner, 0, 0);
  check(placeto_runner_start(runner, &error), &error);
  memset(&sum, 0, sizeof sum);
  sum.stage_us = calloc(placeto_runner_stage_count(runner), sizeof *sum.stage_us);
  if (sum.stage_us == NULL) return 1;
  serve(runner, (uint32_t)requests, &sum);
  threads = placeto_runner_threads(runner);
  printf("%lu %s by %s with %u %s a stage: %lu bytes out, %.1f us each\n",
         (unsigned long)sum.count, sum.count == 1 ? "request" : "requests",
         placeto_runner_engine(), threads, threads == 1 ? "thread" : "threads",
         (unsigned long)sum.output_bytes, sum.latency_us / (double)sum.count);
  print_stages(runner, &sum);
  free(sum.stage_us);
  placeto_runner_free(runner);
  return 0;
}
