/* Placeto: places the nodes of a computation graph on the devices of a host.
 *
 * The whole C interface. In short:
 *
 *     placeto_graph* graph;           from a file, or node by node with a placeto_graph_builder
 *     placeto_topology* topology;     likewise: the devices and the links between them
 *     placeto_policy* policy = NULL;  optional: a trained policy; NULL places by heuristics alone
 *     placeto_options options;
 *     placeto_placement* placement;
 *     placeto_error error;
 *
 *     placeto_default_options(&options, sizeof options);
 *     if (placeto_place(graph, topology, policy, &options, &placement, &error) != PLACETO_OK) {
 *       fprintf(stderr, "%s\n", error.message);
 *     }
 *     placeto_placement_assignment(placement, devices, node_count, &error);
 *
 * Conduct
 * - Nothing throws, aborts, prints or calls exit. Functions that can fail return a placeto_status
 *   and, if `error` is not NULL, write there what went wrong. There is no global state: no last
 *   error, no initialisation, no threads, no environment variables, and no files other than the
 *   path given.
 * - Threads: different objects may be used by different threads at once. Policies, graphs and
 *   topologies are immutable and may be shared by any number of threads. Builders, and placements
 *   in placeto_placement_explain, are changed by use: one thread at a time. A thread may not be
 *   cancelled (pthread_cancel) while a function reads a file.
 * - Ownership: every object that a function hands out is released with the matching
 *   placeto_..._free, which accepts NULL. The order does not matter: a placement keeps the graph
 *   and the topology it needs alive, and a placing that runs keeps its policy, too. Arrays and
 *   strings passed in are copied, unless the function says otherwise. Strings handed out live as
 *   long as the object they come from.
 * - An output pointer that receives an object is set to NULL when the function fails.
 * - Stack: a placing takes up to 64 KB of the calling thread's.
 * - Getters that return a value answer 0, "" or PLACETO_NONE if the object is NULL or an index is
 *   out of range.
 * - Structs begin with struct_size. The placeto_default_... functions set it with all the other
 *   fields; set it to sizeof the struct yourself in those without such a function. A later version
 *   may append fields and still accepts the sizes of this one.
 * - Text is UTF-8 and ends with a NUL. Times are in microseconds, sizes in bytes.
 * - Placing is deterministic: equal inputs give equal placements on every machine, unless a budget
 *   in milliseconds, a deadline or a cancellation ends a search at a moment of its own, or options
 *   ask for kernels that are not portable.
 *
 * Files are the binary forms of graphs, topologies, placements and policies; `placeto convert`
 * makes them from JSON. This header compiles as C99 and as C++17; placeto.hpp wraps it for C++.
 */
#ifndef PLACETO_PLACETO_H
#define PLACETO_PLACETO_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PLACETO_API __attribute__((visibility("default")))
#else
#define PLACETO_API
#endif

#ifdef __cplusplus
#define PLACETO_NOEXCEPT noexcept
extern "C" {
#else
#define PLACETO_NOEXCEPT
#endif

/* ---- Version ---------------------------------------------------------------------------------
 * Until 1.0.0 the minor number changes when programs have to be compiled again, afterwards the
 * major number. */
#define PLACETO_VERSION_MAJOR 0
#define PLACETO_VERSION_MINOR 1
#define PLACETO_VERSION_PATCH 0
#define PLACETO_MAKE_VERSION(major, minor, patch) \
  ((uint32_t)(major)*1000000u + (uint32_t)(minor)*1000u + (uint32_t)(patch))
/* The version of the header that the program was compiled with. */
#define PLACETO_VERSION \
  PLACETO_MAKE_VERSION(PLACETO_VERSION_MAJOR, PLACETO_VERSION_MINOR, PLACETO_VERSION_PATCH)

/* The version of the library that the program runs with: PLACETO_MAKE_VERSION of its numbers. */
PLACETO_API uint32_t placeto_version(void) PLACETO_NOEXCEPT;
/* The same as text, "0.1.0". Static. */
PLACETO_API const char* placeto_version_text(void) PLACETO_NOEXCEPT;

/* ---- Errors ---------------------------------------------------------------------------------- */
typedef int32_t placeto_status;
enum {
  PLACETO_OK = 0,
  PLACETO_INFEASIBLE = 1,       /* proved: no placement satisfies memory, allowed kinds and rules */
  PLACETO_INVALID_ARGUMENT = 2, /* NULL, an unknown struct_size, options that make no sense */
  PLACETO_BAD_INPUT = 3,        /* a file, graph or topology is malformed; the message says where */
  PLACETO_INTERNAL = 4,         /* a fault of the library */
  PLACETO_OUT_OF_MEMORY = 5,    /* an allocation failed; nothing has changed */
  PLACETO_IO = 6,               /* a file cannot be opened or read */
  PLACETO_BUFFER_TOO_SMALL = 7, /* the message and, for encoded bytes, *size say what is needed */
  PLACETO_STOPPED = 8,          /* cancelled, or past the deadline, before there was a result */
  PLACETO_NOT_FOUND = 9 /* no placement that fits was found, nor a proof that there is none */
};

/* Name of a status: "ok", "infeasible", ...; "unknown" for any other number. Static. */
PLACETO_API const char* placeto_status_text(placeto_status status) PLACETO_NOEXCEPT;

/* What went wrong, in the caller's own memory. Functions that take one set it in every case, to
 * PLACETO_OK and "" when they succeed; it needs no initialisation. */
typedef struct placeto_error {
  placeto_status status;
  char message[1020]; /* where, what, and what was expected; "..." at its end if it was cut */
} placeto_error;

/* ---- Constants ------------------------------------------------------------------------------- */
#define PLACETO_NONE 0xffffffffu         /* no such node or device */
#define PLACETO_CONTROL_EDGE 0xffffffffu /* output of an edge that orders and moves no bytes */

enum { PLACETO_LATENCY = 0, PLACETO_THROUGHPUT = 1 };                /* objective */
enum { PLACETO_CONTENTION_EGRESS = 0, PLACETO_CONTENTION_NONE = 1 }; /* do transfers wait? */
enum { PLACETO_TRANSFER_BROADCAST = 0, PLACETO_TRANSFER_UNICAST = 1 };
enum { PLACETO_EXECUTION_PARALLEL = 0, PLACETO_EXECUTION_SERIAL = 1, PLACETO_EXECUTION_STAGED = 2 };
enum { PLACETO_DISPATCH_FIFO = 0, PLACETO_DISPATCH_PRIORITY = 1 };

/* How a policy's file or bytes are held. */
enum {
  PLACETO_FILE_READ = 0, /* read into memory: safe whatever happens to the file afterwards */
  PLACETO_FILE_MAP = 1   /* mapped: shared between processes. While the policy lives the file may be
                            replaced (write, then rename) but must not be changed in place */
};
enum {
  PLACETO_BYTES_COPY = 0, /* the caller's buffer may be freed after the call */
  PLACETO_BYTES_VIEW = 1  /* not copied: the buffer starts at a multiple of 8 and stays, unchanged,
                             until the policy is freed and no placing that uses it is running */
};

/* How large an input may be, so that a hostile file cannot exhaust memory. Where a function takes
 * limits, NULL means the defaults. */
typedef struct placeto_limits {
  size_t struct_size;
  uint32_t max_nodes;       /* default 2,000,000 */
  uint32_t max_edges;       /* 20,000,000 */
  uint32_t max_outputs;     /* 20,000,000 */
  uint32_t max_kinds;       /* 64 */
  uint32_t max_devices;     /* 1,024 */
  uint32_t max_links;       /* 1,048,576 */
  uint32_t max_name_bytes;  /* 4,096: a node, device, kind or graph name */
  uint64_t max_file_bytes;  /* 2,147,483,647: of a file or buffer, in whichever form it is given */
  uint64_t max_run_entries; /* 256,000,000: nodes x distinct classes of device */
} placeto_limits;

/* Fills in the defaults, struct_size included. `struct_size` is sizeof(placeto_limits) as the
 * caller knows it, and nothing is written beyond. PLACETO_INVALID_ARGUMENT for NULL or an unknown
 * size. The same holds of the other placeto_default_... functions. */
PLACETO_API placeto_status placeto_default_limits(placeto_limits* limits,
                                                  size_t struct_size) PLACETO_NOEXCEPT;

/* ---- Policy: a trained network ----------------------------------------------------------------
 * Loading verifies structure, version, hash, shapes, values and feature names before anything is
 * used: any bytes give a policy or an error (PLACETO_BAD_INPUT; PLACETO_IO if a file cannot be
 * read). */
typedef struct placeto_policy placeto_policy;

/* `mode`: PLACETO_FILE_READ or PLACETO_FILE_MAP. */
PLACETO_API placeto_status placeto_policy_load_file(const char* path, int32_t mode,
                                                    const placeto_limits* limits,
                                                    placeto_policy** policy,
                                                    placeto_error* error) PLACETO_NOEXCEPT;
/* `mode`: PLACETO_BYTES_COPY or PLACETO_BYTES_VIEW. */
PLACETO_API placeto_status placeto_policy_load_memory(const void* bytes, size_t size, int32_t mode,
                                                      const placeto_limits* limits,
                                                      placeto_policy** policy,
                                                      placeto_error* error) PLACETO_NOEXCEPT;
/* The caller's own verdict on the content of a policy file, for instance by a signature that was
 * delivered with it (`placeto sign` makes Ed25519 ones): not 0 accepts it. The bytes are valid
 * during the call. Must not throw. */
typedef int32_t (*placeto_verify_function)(void* context, const void* bytes, size_t size);

typedef struct placeto_policy_options {
  size_t struct_size;
  int32_t mode;                   /* as above; default 0: PLACETO_FILE_READ or PLACETO_BYTES_COPY */
  const placeto_limits* limits;   /* NULL (default): the default limits */
  placeto_verify_function verify; /* NULL (default): none. Called once, before anything of the
                                     content is interpreted; if it answers 0, loading fails with
                                     PLACETO_BAD_INPUT. It sees the bytes that will be used; of a
                                     file that is mapped they are only as safe as the file */
  void* verify_context;           /* handed to `verify` */
} placeto_policy_options;

PLACETO_API placeto_status placeto_default_policy_options(placeto_policy_options* options,
                                                          size_t struct_size) PLACETO_NOEXCEPT;
/* The same as the two functions above, with options; NULL means the defaults. */
PLACETO_API placeto_status placeto_policy_load_file_with(const char* path,
                                                         const placeto_policy_options* options,
                                                         placeto_policy** policy,
                                                         placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_policy_load_memory_with(const void* bytes, size_t size,
                                                           const placeto_policy_options* options,
                                                           placeto_policy** policy,
                                                           placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API void placeto_policy_free(placeto_policy* policy) PLACETO_NOEXCEPT;

/* "pairwise" or "placeto". */
PLACETO_API const char* placeto_policy_architecture(const placeto_policy* policy) PLACETO_NOEXCEPT;
/* Number of weights and biases. */
PLACETO_API uint64_t placeto_policy_parameter_count(const placeto_policy* policy) PLACETO_NOEXCEPT;
/* Size of the file, in bytes. */
PLACETO_API uint64_t placeto_policy_file_bytes(const placeto_policy* policy) PLACETO_NOEXCEPT;
/* The name of a column of placeto_step.features, e.g. "work_target"; "" beyond the last. Static.
 * The column "placed_on" of the architecture `placeto` stands for as many as the policy has
 * devices. */
PLACETO_API const char* placeto_policy_feature_name(const placeto_policy* policy,
                                                    uint32_t column) PLACETO_NOEXCEPT;
/* The SHA-256 that the file carries and was verified against; identifies the policy in logs. */
PLACETO_API placeto_status placeto_policy_sha256(const placeto_policy* policy, uint8_t digest[32],
                                                 placeto_error* error) PLACETO_NOEXCEPT;

/* ---- Graph: what is placed --------------------------------------------------------------------
 * A directed acyclic graph of nodes (operators) and edges (tensors). Nodes are numbered from 0 in
 * the order in which they are added or stand in the file. */
typedef struct placeto_graph placeto_graph;
typedef struct placeto_graph_builder placeto_graph_builder;

typedef struct placeto_node {
  size_t struct_size;
  const char* name;        /* for messages; NULL: none */
  const char* op;          /* operator, e.g. "Conv"; NULL: none */
  const double* cost_us;   /* run time on each of the graph's kinds, negative where the kind cannot
                              run the node; one entry without kinds: the same on every device */
  size_t cost_count;       /* as many as kinds, or 0: estimate from flops and bytes_accessed */
  const uint64_t* outputs; /* bytes of each tensor the node produces */
  size_t output_count;
  uint64_t resident_bytes;  /* parameters and state, held for the whole run */
  uint64_t workspace_bytes; /* held while the node runs */
  uint64_t flops;           /* a multiply-add counts 2 */
  uint64_t bytes_accessed;  /* read and written; 0: derived from its tensors */
  const char* colocate;     /* nodes with the same non-empty key share a device; NULL: none */
  const char* const* allowed_kinds; /* kinds of device that may run it */
  size_t allowed_kind_count;        /* 0: every kind */
  uint64_t launches; /* operators it starts, those of a loop's body each time; 0: one, itself */
  /* What an engine has kernels for depends on these, too (placeto_onnx_engine_rules). */
  const char* domain;             /* of `op`: "ai.onnx", "com.microsoft"; NULL: not known */
  uint32_t opset;                 /* version of that domain's operator set; 0: not known */
  const char* const* input_types; /* of the elements of each input, as ONNX names them: "float",
                                     "int64"; "": an absent input, no tensor, or not known */
  size_t input_type_count;        /* at most 4,096; 0: not known */
  uint32_t fused; /* not 0: engines run it as a part of another node, or when they load the model;
                     where its run time is estimated, it is 0, and then it holds no workspace */
  uint32_t reserved; /* 0; others are ignored */
} placeto_node;

/* A node without costs, outputs or constraints. */
PLACETO_API placeto_status placeto_default_node(placeto_node* node,
                                                size_t struct_size) PLACETO_NOEXCEPT;

/* `name`: of the graph; NULL: none. */
PLACETO_API placeto_status placeto_graph_builder_create(const char* name,
                                                        placeto_graph_builder** builder,
                                                        placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API void placeto_graph_builder_free(placeto_graph_builder* builder) PLACETO_NOEXCEPT;
/* Kinds of device that the entries of cost_us refer to, `count` of them; replaces earlier ones. On
 * a device of another kind nothing is known: what nodes take there is estimated, as without
 * cost_us, and the entries of kinds that no device has are not used, which placeto_placement_note
 * says. Names are compared to the letter. */
PLACETO_API placeto_status placeto_graph_builder_set_kinds(placeto_graph_builder* builder,
                                                           const char* const* kinds, size_t count,
                                                           placeto_error* error) PLACETO_NOEXCEPT;
/* `index` receives the node's number; may be NULL. */
PLACETO_API placeto_status placeto_graph_builder_add_node(placeto_graph_builder* builder,
                                                          const placeto_node* node, uint32_t* index,
                                                          placeto_error* error) PLACETO_NOEXCEPT;
/* The node `target` reads output number `output` of the node `source`, or with
 * PLACETO_CONTROL_EDGE only waits for it. Nodes may be added after the edges that name them. */
PLACETO_API placeto_status placeto_graph_builder_add_edge(placeto_graph_builder* builder,
                                                          uint32_t source, uint32_t output,
                                                          uint32_t target,
                                                          placeto_error* error) PLACETO_NOEXCEPT;
/* Checks what was added and makes a graph of it; PLACETO_BAD_INPUT names the node or edge that is
 * wrong (an index out of range, a duplicate edge, a cycle, ...). The builder keeps its content. */
PLACETO_API placeto_status placeto_graph_builder_build(const placeto_graph_builder* builder,
                                                       const placeto_limits* limits,
                                                       placeto_graph** graph,
                                                       placeto_error* error) PLACETO_NOEXCEPT;

/* A binary graph file. PLACETO_IO or PLACETO_BAD_INPUT; messages start with the path. JSON is read
 * by placeto_onnx.h. */
PLACETO_API placeto_status placeto_graph_load_file(const char* path, const placeto_limits* limits,
                                                   placeto_graph** graph,
                                                   placeto_error* error) PLACETO_NOEXCEPT;
/* The content of such a file; nothing of the buffer is kept. */
PLACETO_API placeto_status placeto_graph_load_memory(const void* bytes, size_t size,
                                                     const placeto_limits* limits,
                                                     placeto_graph** graph,
                                                     placeto_error* error) PLACETO_NOEXCEPT;
/* Writes the graph as the content of a binary graph file. `size` receives the number of bytes.
 * `buffer` NULL: only that. PLACETO_BUFFER_TOO_SMALL if `capacity` bytes do not suffice; the buffer
 * is then untouched. */
PLACETO_API placeto_status placeto_graph_encode(const placeto_graph* graph, void* buffer,
                                                size_t capacity, size_t* size,
                                                placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API void placeto_graph_free(placeto_graph* graph) PLACETO_NOEXCEPT;

PLACETO_API const char* placeto_graph_name(const placeto_graph* graph) PLACETO_NOEXCEPT;
PLACETO_API uint32_t placeto_graph_node_count(const placeto_graph* graph) PLACETO_NOEXCEPT;
PLACETO_API uint32_t placeto_graph_edge_count(const placeto_graph* graph) PLACETO_NOEXCEPT;
PLACETO_API const char* placeto_graph_node_name(const placeto_graph* graph,
                                                uint32_t node) PLACETO_NOEXCEPT;
/* The first node of that name, or PLACETO_NONE. Looks at every node. */
PLACETO_API uint32_t placeto_graph_find_node(const placeto_graph* graph,
                                             const char* name) PLACETO_NOEXCEPT;
/* The kinds that the entries of cost_us refer to; none: one entry, the same on every device. */
PLACETO_API uint32_t placeto_graph_kind_count(const placeto_graph* graph) PLACETO_NOEXCEPT;
PLACETO_API const char* placeto_graph_kind(const placeto_graph* graph,
                                           uint32_t kind) PLACETO_NOEXCEPT;
/* A node as it was given: every field of placeto_node. That entries of cost_us were measured, which
 * files may say, is neither taken by a builder nor given here; placeto_graph_encode keeps it. The
 * caller sets to->struct_size; what its pointers lead to lives as long as the graph. */
PLACETO_API placeto_status placeto_graph_node(const placeto_graph* graph, uint32_t node,
                                              placeto_node* to,
                                              placeto_error* error) PLACETO_NOEXCEPT;
/* Every edge, in the order in which they were given. Each array may be NULL; `capacity` holds for
 * all, at least the number of edges. */
PLACETO_API placeto_status placeto_graph_edges(const placeto_graph* graph, uint32_t* sources,
                                               uint32_t* outputs, uint32_t* targets,
                                               size_t capacity,
                                               placeto_error* error) PLACETO_NOEXCEPT;

/* ---- Topology: where it is placed -------------------------------------------------------------
 * Devices, numbered from 0 in the order in which they are added or stand in the file, the links
 * between them, and the rules of the cost model that hold there. */
typedef struct placeto_topology placeto_topology;
typedef struct placeto_topology_builder placeto_topology_builder;

typedef struct placeto_topology_rules {
  size_t struct_size;
  double op_gap_us;              /* idle time of a device after a node; default 0 */
  int32_t contention;            /* PLACETO_CONTENTION_EGRESS (default): transfers queue */
  int32_t transfer;              /* PLACETO_TRANSFER_BROADCAST (default): one per output, for all
                                    its devices; UNICAST: one per output and device */
  int32_t execution;             /* PLACETO_EXECUTION_PARALLEL (default): devices overlap;
                                    SERIAL: one node or transfer at a time; STAGED: each device
                                    runs its nodes stage after stage, as sessions of an engine */
  int32_t dispatch;              /* PLACETO_DISPATCH_FIFO (default): the oldest ready node first;
                                    PRIORITY: the one with the longest way to go */
  double bandwidth_bytes_per_us; /* of links that are not added one by one; > 0 when devices
                                    without a link of their own can exchange a tensor; default 0 */
  double latency_us;             /* of those links; default 0; charged under
                                    PLACETO_TRANSFER_UNICAST only */
  double gap_us;                 /* of those links, after each transfer; default 0 */
} placeto_topology_rules;

typedef struct placeto_device {
  size_t struct_size;
  const char* name;        /* unique */
  const char* kind;        /* "gpu", "cpu", "npu", ...: what cost_us and allowed_kinds refer to */
  uint64_t memory_bytes;   /* 0: unlimited */
  double peak_flops;       /* per second, for estimated costs; 0: unknown */
  double memory_bandwidth; /* bytes per second, for estimated costs; 0: unknown */
  double slowdown;         /* multiplies every run time on this device; default 1 */
  /* Prices of staged execution. A cut is a tensor that passes from one stage to another; the stage
   * that makes it pays for it once, and each that reads it. */
  double stage_us;         /* of starting a stage; default 0 */
  double cut_us;           /* of each cut that enters or leaves a stage; default 0 */
  double cut_bytes_per_us; /* and its bytes over this; default 0: nothing by size */
} placeto_device;

typedef struct placeto_link {
  size_t struct_size;
  const char* from; /* name of a device */
  const char* to;   /* name of another; the way back is a link of its own */
  double bandwidth_bytes_per_us;
  double latency_us;   /* added to arrival, under PLACETO_TRANSFER_UNICAST only; does not occupy the
                          channel */
  double gap_us;       /* idle time of the channel after a transfer */
  const char* channel; /* links with the same channel share one queue, under
                          PLACETO_TRANSFER_UNICAST only; NULL: that of `from` */
} placeto_link;

PLACETO_API placeto_status placeto_default_topology_rules(placeto_topology_rules* rules,
                                                          size_t struct_size) PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_default_device(placeto_device* device,
                                                  size_t struct_size) PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_default_link(placeto_link* link,
                                                size_t struct_size) PLACETO_NOEXCEPT;

/* `name`: of the topology; NULL: none. */
PLACETO_API placeto_status placeto_topology_builder_create(const char* name,
                                                           placeto_topology_builder** builder,
                                                           placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API void placeto_topology_builder_free(placeto_topology_builder* builder) PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_topology_builder_set_rules(
    placeto_topology_builder* builder, const placeto_topology_rules* rules,
    placeto_error* error) PLACETO_NOEXCEPT;
/* `index` receives the device's number; may be NULL. */
PLACETO_API placeto_status
placeto_topology_builder_add_device(placeto_topology_builder* builder, const placeto_device* device,
                                    uint32_t* index, placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_topology_builder_add_link(placeto_topology_builder* builder,
                                                             const placeto_link* link,
                                                             placeto_error* error) PLACETO_NOEXCEPT;
/* As placeto_graph_builder_build. */
PLACETO_API placeto_status placeto_topology_builder_build(const placeto_topology_builder* builder,
                                                          const placeto_limits* limits,
                                                          placeto_topology** topology,
                                                          placeto_error* error) PLACETO_NOEXCEPT;

/* As placeto_graph_load_file, placeto_graph_load_memory and placeto_graph_encode. */
PLACETO_API placeto_status placeto_topology_load_file(const char* path,
                                                      const placeto_limits* limits,
                                                      placeto_topology** topology,
                                                      placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_topology_load_memory(const void* bytes, size_t size,
                                                        const placeto_limits* limits,
                                                        placeto_topology** topology,
                                                        placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_topology_encode(const placeto_topology* topology, void* buffer,
                                                   size_t capacity, size_t* size,
                                                   placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API void placeto_topology_free(placeto_topology* topology) PLACETO_NOEXCEPT;

PLACETO_API const char* placeto_topology_name(const placeto_topology* topology) PLACETO_NOEXCEPT;
PLACETO_API uint32_t placeto_topology_device_count(const placeto_topology* topology)
    PLACETO_NOEXCEPT;
PLACETO_API const char* placeto_topology_device_name(const placeto_topology* topology,
                                                     uint32_t device) PLACETO_NOEXCEPT;
PLACETO_API const char* placeto_topology_device_kind(const placeto_topology* topology,
                                                     uint32_t device) PLACETO_NOEXCEPT;
/* The device of that name, or PLACETO_NONE. */
PLACETO_API uint32_t placeto_topology_find_device(const placeto_topology* topology,
                                                  const char* name) PLACETO_NOEXCEPT;
/* What was given: the rules, a device (memory, rates, prices), the link from one device to another
 * (of devices without one of their own, the default link). Where numbers come from (a measurement,
 * a data sheet, a guess), which files may say, is neither taken by a builder nor given here;
 * placeto_topology_encode keeps it. The caller sets to->struct_size; what pointers lead to lives as
 * long as the topology. */
PLACETO_API placeto_status placeto_topology_get_rules(const placeto_topology* topology,
                                                      placeto_topology_rules* to,
                                                      placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_topology_device(const placeto_topology* topology,
                                                   uint32_t device, placeto_device* to,
                                                   placeto_error* error) PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_topology_link(const placeto_topology* topology, uint32_t from,
                                                 uint32_t to_device, placeto_link* to,
                                                 placeto_error* error) PLACETO_NOEXCEPT;

/* Run times as the cost model has them, estimated where the graph gives none: of a node on a device
 * at us[node * devices + device], negative where that cannot run it. `capacity`: entries of `us`,
 * at least nodes x devices. */
PLACETO_API placeto_status placeto_run_times(const placeto_graph* graph,
                                             const placeto_topology* topology,
                                             const placeto_limits* limits, double* us,
                                             size_t capacity,
                                             placeto_error* error) PLACETO_NOEXCEPT;

/* ---- Placing --------------------------------------------------------------------------------- */

/* Ends a placing from another thread, or from a signal handler. */
typedef struct placeto_cancel placeto_cancel;
PLACETO_API placeto_status placeto_cancel_create(placeto_cancel** cancel,
                                                 placeto_error* error) PLACETO_NOEXCEPT;
/* From now on, placings that were given this object return the best found so far. */
PLACETO_API void placeto_cancel_request(placeto_cancel* cancel) PLACETO_NOEXCEPT;
/* Makes it usable again. */
PLACETO_API void placeto_cancel_reset(placeto_cancel* cancel) PLACETO_NOEXCEPT;
/* Not before every placing that was given it has returned. */
PLACETO_API void placeto_cancel_free(placeto_cancel* cancel) PLACETO_NOEXCEPT;

typedef struct placeto_node_device {
  uint32_t node;
  uint32_t device;
} placeto_node_device;

typedef struct placeto_node_list {
  const uint32_t* nodes;
  size_t count;
} placeto_node_list;

/* What computes a policy's networks. oneDNN itself may crash where memory runs out. */
enum {
  PLACETO_KERNELS_PORTABLE = 0, /* the same bits on every machine, hence the same placements */
  PLACETO_KERNELS_AUTO = 1,     /* whichever was measured to be faster for each shape */
  PLACETO_KERNELS_ONEDNN = 2    /* oneDNN for every shape */
};
/* 1 if oneDNN can run: the library was built with it, and its threads can be held to the caller's.
 * If not, the portable kernels run whatever is asked for. */
PLACETO_API int32_t placeto_has_onednn(void) PLACETO_NOEXCEPT;

/* One decision of a policy. Pointers are valid during the call. */
typedef struct placeto_step {
  size_t struct_size;
  uint32_t sample;       /* 0: of the greedy placing; else of that drawn placement, from 1 */
  uint32_t choice;       /* the device chosen; PLACETO_NONE: the nodes stay where they are */
  const uint32_t* nodes; /* what is placed: nodes that move together */
  size_t node_count;
  const uint32_t* devices; /* those scored, ascending */
  const float* scores;     /* of each: the decrease of ln(makespan) that `pairwise` expects, where
                              staying has the score 0; the logit of `placeto` */
  const uint8_t* mask;     /* of each: 1 if it may be chosen; `pairwise` scores no others */
  size_t device_count;     /* entries of devices, scores and mask */
  const float* features;   /* a row per scored device (`pairwise`) or per node of the graph
                              (`placeto`), before the policy's normalisation */
  size_t feature_rows;
  size_t feature_columns; /* placeto_policy_feature_name says what they are */
  float log_probability;  /* of the choice among what may be chosen; 0 in the greedy placing */
} placeto_step;

/* Called for every step of a policy's passes, in order, by the thread that places. Must not
 * throw. */
typedef void (*placeto_step_function)(void* context, const placeto_step* step);

typedef struct placeto_options {
  size_t struct_size;
  const char* method;           /* NULL or "auto" (default): the best of everything; "policy": what
                                   the policy's leaps and passes make of the best found before;
                                   or one method alone: "single", "random", "contiguous",
                                   "heft", "etf", "iterate", "anneal" */
  uint64_t seed;                /* of searches; default 1 */
  uint64_t budget_evaluations;  /* search until so many placements were evaluated; default 0: no
                                   search, and of "anneal" 10,000. Prefer it to milliseconds: the
                                   answer is then the same on every machine */
  double budget_milliseconds;   /* search so long; with both set, whichever ends first; default 0 */
  const placeto_cancel* cancel; /* NULL (default): cannot be cancelled */
  uint32_t passes;              /* of heuristics that repeat passes: 1 to 100,000; default 4 */
  int32_t objective;            /* PLACETO_LATENCY (default): shortest makespan; PLACETO_THROUGHPUT:
                                   smallest bottleneck, for runs that overlap in a pipeline */
  double memory_headroom;       /* share of each device's memory to leave free, in [0, 1) */
  const placeto_node_device* pins; /* the node runs on the device */
  size_t pin_count;
  const placeto_node_device* forbids; /* the node does not run on the device */
  size_t forbid_count;
  const placeto_node_list* colocate; /* the nodes of one list share a device */
  size_t colocate_count;
  const placeto_limits* limits; /* NULL (default): the default limits */
  /* NULL (default), or one entry per device. Written when placeto_place returns PLACETO_INFEASIBLE
   * or PLACETO_NOT_FOUND: by how many bytes the placement that came closest exceeds each device's
   * memory; all 0 if rules, not memory, leave no device to a node. Not for several threads */
  uint64_t* shortfall_bytes;
  size_t shortfall_capacity;    /* entries of shortfall_bytes; at least the number of devices */
  double deadline_milliseconds; /* the whole call ends so long after it began, with the best found
                                   by then, as if cancelled; default 0: never. A budget bounds the
                                   search alone, a deadline everything */
  uint32_t samples; /* placements that a policy draws by chance, seeded, beside its greedy one; the
                       best of all counts; default 0, at most 100,000 */
  int32_t kernels;  /* default PLACETO_KERNELS_PORTABLE. The others round differently from one
                       instruction set to the next, but for policies of exact sums: scores agree to
                       about six digits, but where two devices are nearly as good, machines may
                       choose differently */
  placeto_step_function on_step; /* NULL (default): nobody asks. With `samples`, what a trainer or
                                    an analysis needs of each decision */
  void* step_context;            /* handed to `on_step` */
  int32_t reserved;              /* 0 (default); others are ignored */
  double tolerance; /* of the placements tried that cost at most this share more than the best, the
                       one with the fewest stages; more than one device only if that gains more than
                       this share. Default 0, at most 1. Of graphs of some ten nodes all placements
                       are tried */
} placeto_options;

PLACETO_API placeto_status placeto_default_options(placeto_options* options,
                                                   size_t struct_size) PLACETO_NOEXCEPT;

typedef struct placeto_placement placeto_placement;

/* Places the graph: the best feasible placement, by the cost model, of each single device, the
 * heuristics, the policy's leaps and passes and, with a budget, a search from the best of them. So
 * it is never worse than any heuristic and never exceeds a device's memory.
 *
 * `policy` may be NULL. One that does not fit the topology is left out, and
 * placeto_placement_note says why. But for staged execution, a policy never makes the placement
 * worse where there is no budget, no tolerance and no deadline. `options` may be NULL: the
 * defaults.
 *
 * A cancellation or the deadline ends the call within milliseconds. It then returns the best of
 * what was evaluated by that time, which placeto_placement_stopped tells, or PLACETO_STOPPED if
 * nothing that fits was: single devices are evaluated first, and for the first of them, of a graph
 * of up to 1,000 nodes and 3,000 edges on up to eight devices, with up to 1,000 rules, there is
 * always time. For a graph of more than 4,000 nodes and edges, or more than eight devices, the
 * placement may then come without its timeline; placeto_score simulates that.
 *
 * PLACETO_INFEASIBLE if it is proved that no placement fits, PLACETO_NOT_FOUND if none was found
 * that does (the message says what each device lacks in the closest one, and so does
 * options->shortfall_bytes); PLACETO_INFEASIBLE, too, if rules leave no device to a node (the
 * message names the nodes, and where a pin or a colocation alone excludes something, both);
 * PLACETO_INVALID_ARGUMENT if options make no sense; PLACETO_BAD_INPUT if the graph cannot run on
 * the topology at all, e.g. because no device has a kind that can run some node. */
PLACETO_API placeto_status placeto_place(const placeto_graph* graph,
                                         const placeto_topology* topology,
                                         const placeto_policy* policy,
                                         const placeto_options* options,
                                         placeto_placement** placement,
                                         placeto_error* error) PLACETO_NOEXCEPT;

/* The cost of a placement that the caller brings: `assignment` has one device number per node.
 * Of `options`, only objective, memory_headroom, pins, forbids, colocate and limits count; the
 * others must make sense, too, but for method and shortfall_bytes. PLACETO_BAD_INPUT and
 * PLACETO_INFEASIBLE as of placeto_place, where nothing can run some node. PLACETO_INVALID_ARGUMENT
 * if `count` is not the number of nodes, a device does not exist, or a node is where kinds,
 * colocation or rules do not allow it. A placement that exceeds the memory is scored all the same:
 * placeto_placement_feasible tells. Under staged execution it is divided into stages by rule, so
 * that a placement whose stages were searched for may get a longer makespan here than placeto_place
 * had for it: placeto_placement_decode keeps those. */
PLACETO_API placeto_status placeto_score(const placeto_graph* graph,
                                         const placeto_topology* topology,
                                         const uint32_t* assignment, size_t count,
                                         const placeto_options* options,
                                         placeto_placement** placement,
                                         placeto_error* error) PLACETO_NOEXCEPT;

/* ---- Placement: the result ------------------------------------------------------------------- */
PLACETO_API void placeto_placement_free(placeto_placement* placement) PLACETO_NOEXCEPT;

PLACETO_API uint32_t placeto_placement_node_count(const placeto_placement* placement)
    PLACETO_NOEXCEPT;
PLACETO_API uint32_t placeto_placement_device_count(const placeto_placement* placement)
    PLACETO_NOEXCEPT;
/* The device of one node, or PLACETO_NONE. */
PLACETO_API uint32_t placeto_placement_device(const placeto_placement* placement,
                                              uint32_t node) PLACETO_NOEXCEPT;
/* The device of every node. `capacity`: entries of `devices`, at least the number of nodes. */
PLACETO_API placeto_status placeto_placement_assignment(const placeto_placement* placement,
                                                        uint32_t* devices, size_t capacity,
                                                        placeto_error* error) PLACETO_NOEXCEPT;

/* Time at which the last node finishes. */
PLACETO_API double placeto_placement_makespan_us(const placeto_placement* placement)
    PLACETO_NOEXCEPT;
/* Largest busy time of any device, of its intake or of a channel, devices that feed each other in a
 * circle counting as one unless the graph makes a run come back: the time per run when runs overlap
 * in a pipeline. */
PLACETO_API double placeto_placement_bottleneck_us(const placeto_placement* placement)
    PLACETO_NOEXCEPT;
/* No placement that fits memory and obeys the rules it was made with (kinds, colocation, pins and
 * forbids) has a shorter makespan; 0: not known. */
PLACETO_API double placeto_placement_lower_bound_us(const placeto_placement* placement)
    PLACETO_NOEXCEPT;
/* 1 if no such placement is better by more than 1e-9 of the objective: all were looked at or ruled
 * out, or the makespan is a lower bound. 0 after placeto_score. */
PLACETO_API int32_t placeto_placement_proved(const placeto_placement* placement) PLACETO_NOEXCEPT;
/* What else serves a stream of runs, placed with PLACETO_THROUGHPUT: time per run if every device
 * has a copy of the model; 0 if it does not fit on each, or otherwise unknown. */
PLACETO_API double placeto_placement_replicas_us(const placeto_placement* placement)
    PLACETO_NOEXCEPT;
/* And time per run if none begins before the last is done and the model is placed for latency,
 * where that is less than the bottleneck and the problem not very large; else 0. By PLACETO_LATENCY
 * one gets that placement. */
PLACETO_API double placeto_placement_sequential_us(const placeto_placement* placement)
    PLACETO_NOEXCEPT;
/* Wall time that placing took; 0 after placeto_score. */
PLACETO_API double placeto_placement_place_time_us(const placeto_placement* placement)
    PLACETO_NOEXCEPT;
/* What found it: "heft", "policy", "search", "single gpu:1" ("mostly gpu:1" where rules put some of
 * it elsewhere), ...; "given" after placeto_score. */
PLACETO_API const char* placeto_placement_method(const placeto_placement* placement)
    PLACETO_NOEXCEPT;
/* Whether a cancellation or the deadline ended the placing. */
enum {
  PLACETO_COMPLETE = 0,     /* no: everything was tried */
  PLACETO_ENDED_EARLY = 1,  /* yes, or the computing of the lower bound, which then is 0 */
  PLACETO_NOT_SIMULATED = 2 /* yes, with no time left to simulate the result: the makespan (or, if
                               that was the objective, the bottleneck) is known; the other is 0, as
                               is the lower bound; the functions that copy times, memory and what is
                               derived from them return PLACETO_STOPPED */
};
PLACETO_API int32_t placeto_placement_stopped(const placeto_placement* placement) PLACETO_NOEXCEPT;
/* What a user should know: why a policy was not used; that the graph has run times on kinds that no
 * device has ("run times on 'CPU' are not used: devices are of 'cpu'"). Else "". */
PLACETO_API const char* placeto_placement_note(const placeto_placement* placement) PLACETO_NOEXCEPT;
/* 1 if it fits every device's memory; only after placeto_score can it be 0. */
PLACETO_API int32_t placeto_placement_feasible(const placeto_placement* placement) PLACETO_NOEXCEPT;

/* When each node starts and finishes by the cost model. Either array may be NULL; `capacity` holds
 * for both, at least the number of nodes. */
PLACETO_API placeto_status placeto_placement_times(const placeto_placement* placement,
                                                   double* start_us, double* finish_us,
                                                   size_t capacity,
                                                   placeto_error* error) PLACETO_NOEXCEPT;
/* Peak memory per device. `capacity`: entries of `bytes`, at least the number of devices. */
PLACETO_API placeto_status placeto_placement_peak_memory(const placeto_placement* placement,
                                                         uint64_t* bytes, size_t capacity,
                                                         placeto_error* error) PLACETO_NOEXCEPT;
/* By how much the peak exceeds what the device has, headroom taken off; else as above. */
PLACETO_API placeto_status placeto_placement_shortfall(const placeto_placement* placement,
                                                       uint64_t* bytes, size_t capacity,
                                                       placeto_error* error) PLACETO_NOEXCEPT;

/* What was tried, in the order tried. */
typedef struct placeto_candidate {
  size_t struct_size; /* set by the caller */
  const char* method; /* lives as long as the placement */
  double makespan_us; /* 0 if it was placed for throughput, and stopped before this was simulated */
  double objective_us; /* what candidates are compared by: makespan or bottleneck */
  int32_t feasible;    /* 1: fits every device's memory */
  int32_t won;         /* 1: this is the placement */
} placeto_candidate;

PLACETO_API size_t placeto_placement_candidate_count(const placeto_placement* placement)
    PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_placement_candidate(const placeto_placement* placement,
                                                       size_t index, placeto_candidate* candidate,
                                                       placeto_error* error) PLACETO_NOEXCEPT;

/* Why a node is where it is: what the cost would be elsewhere. Nodes that must share a device move
 * together; all other nodes stay. */
typedef struct placeto_reason {
  size_t struct_size;       /* set by the caller */
  uint32_t device;          /* where the node is */
  uint32_t group_nodes;     /* how many nodes move together, this one included */
  uint32_t allowed_devices; /* how many devices kinds and rules leave to them */
  uint32_t second_device;   /* the best of the others: fitting memory first, then by cost, then by
                               number; PLACETO_NONE if there is no other */
  double cost_us;           /* makespan, or bottleneck when placed for throughput, as it is */
  double second_cost_us;    /* the same with those nodes on second_device; 0 if there is none */
  int32_t second_feasible;  /* 1: that would fit every device's memory */
} placeto_reason;

/* Simulates the group on every other device it may use. The first call on a placement simulates it
 * whole; all calls change the placement's own scratch memory: one thread at a time. */
PLACETO_API placeto_status placeto_placement_explain(placeto_placement* placement, uint32_t node,
                                                     placeto_reason* reason,
                                                     placeto_error* error) PLACETO_NOEXCEPT;

/* Staged execution: the stage of every node, numbered so that every dependency leads to the same or
 * a higher number; none has any in other executions. `capacity`: entries of `stages`, at least the
 * number of nodes. */
PLACETO_API uint32_t placeto_placement_stage_count(const placeto_placement* placement)
    PLACETO_NOEXCEPT;
PLACETO_API placeto_status placeto_placement_stages(const placeto_placement* placement,
                                                    uint32_t* stages, size_t capacity,
                                                    placeto_error* error) PLACETO_NOEXCEPT;
/* Every stage once, in an order in which they may run: each device takes its stages in this order.
 * `capacity`: entries of `order`, at least the number of stages. */
PLACETO_API placeto_status placeto_placement_stage_order(const placeto_placement* placement,
                                                         uint32_t* order, size_t capacity,
                                                         placeto_error* error) PLACETO_NOEXCEPT;

/* As the content of a binary placement file; else like placeto_graph_encode. It holds names,
 * assignment, stages and their order, makespan, peak memory and method, so that equal placements
 * are equal bytes; PLACETO_STOPPED where these were not simulated. Candidates, reasons and times
 * are not written: placeto_placement_candidate, _explain and _times have them. */
PLACETO_API placeto_status placeto_placement_encode(const placeto_placement* placement,
                                                    void* buffer, size_t capacity, size_t* size,
                                                    placeto_error* error) PLACETO_NOEXCEPT;
/* Reads the content of a binary placement file for this graph and topology: one device number per
 * node, for placeto_score or to be used as it is, without its stages.
 * `capacity`: entries of `devices`.
 * PLACETO_BAD_INPUT if it is malformed, has another number of nodes, or names a device that the
 * topology lacks. */
PLACETO_API placeto_status placeto_assignment_decode(const void* bytes, size_t size,
                                                     const placeto_graph* graph,
                                                     const placeto_topology* topology,
                                                     const placeto_limits* limits,
                                                     uint32_t* devices, size_t capacity,
                                                     placeto_error* error) PLACETO_NOEXCEPT;
/* Reads it whole, stages and their order too, and scores it as placeto_score does; where run times
 * and prices are those that it was placed with, it costs what it did, and encoding it again gives
 * equal bytes. `options` and statuses as of placeto_score; PLACETO_BAD_INPUT also as of
 * placeto_assignment_decode, and if its stages do not fit the graph. Its method is the one that the
 * file names. */
PLACETO_API placeto_status placeto_placement_decode(const void* bytes, size_t size,
                                                    const placeto_graph* graph,
                                                    const placeto_topology* topology,
                                                    const placeto_options* options,
                                                    placeto_placement** placement,
                                                    placeto_error* error) PLACETO_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* PLACETO_PLACETO_H */
