// The C interface with C++17 manners: objects that free themselves, and results that hold either a
// value or an error. Header-only, over placeto.h, which documents what everything means.
//
//     auto graph = placeto::Graph::load_file("net.graph");
//     if (!graph) return complain(graph.error().message);
//     auto placement = placeto::place(*graph, *topology, &*policy, options);
//     std::vector<uint32_t> devices = placement->assignment();
//
// Nothing here throws but Expected::value_or_throw(), for programs that want a placeto::Exception;
// where exceptions are disabled it does not compile, and all else does. (Running out of memory in a
// std::vector or std::string is the standard library's to report, as ever.)
//
// Every function of placeto.h has its counterpart here; a test sees to that. Those of two other
// headers are for C alone. They take what get() lends, and what they make can be handed to the
// class that is to free it, as in placeto::Graph(graph).
// - placeto_onnx.h: models and JSON (placeto_onnx_load_graph and _load_topology, from memory, too;
//   _placement_json), the default policy (_default_policy), engines and what they demand
//   (_engine_..., _rules_...), files of stages (_write_stages), _version and _has_onnx
// - placeto_runner.h: all that runs such stages (placeto_runner_...)
#ifndef PLACETO_PLACETO_HPP
#define PLACETO_PLACETO_HPP

#include <placeto/placeto.h>

#include <array>
#include <cassert>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace placeto {
// The library's own types live in namespace placeto as well. This one gives those here names of
// their own for the linker, for programs that link the static library.
inline namespace api {

// The version of the library that the program runs with; PLACETO_VERSION is that of the headers.
inline uint32_t version() {
  return placeto_version();
}
inline std::string version_text() {
  return placeto_version_text();
}
// True if oneDNN can run; if not, the portable kernels do, whatever options ask for.
inline bool has_onednn() {
  return placeto_has_onednn() != 0;
}
// "ok", "infeasible", ...; "unknown" for what is no status.
inline std::string status_text(placeto_status status) {
  return placeto_status_text(status);
}

struct Error {
  placeto_status status = PLACETO_OK;
  std::string message;
  bool ok() const { return status == PLACETO_OK; }
};

// Either a T or the Error that says why there is none.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Expected(Error error) : error_(std::move(error)) { assert(!error_.ok()); }  // NOLINT

  explicit operator bool() const { return value_.has_value(); }
  const Error& error() const { return error_; }
  T& operator*() & { return assert(value_), *value_; }
  const T& operator*() const& { return assert(value_), *value_; }
  T&& operator*() && { return assert(value_), std::move(*value_); }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

  // The value, or an Exception with the error.
  T value_or_throw() && {
    if (!value_) throw_error_of(*this);
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
  Error error_;
};

// What value_or_throw() needs stands here and is found when that is called, so that Expected is the
// same class in every source of a program, with exceptions or without.
#ifdef __cpp_exceptions
class Exception : public std::runtime_error {
 public:
  explicit Exception(const Error& error)
      : std::runtime_error(error.message), status_(error.status) {}
  placeto_status status() const { return status_; }

 private:
  placeto_status status_;
};

template <class T>
[[noreturn]] void throw_error_of(const Expected<T>& expected) {
  throw Exception(expected.error());
}
#endif

namespace detail {

template <class Handle, void (*kFree)(Handle*) PLACETO_NOEXCEPT>
struct Deleter {
  void operator()(Handle* handle) const { kFree(handle); }
};
template <class Handle, void (*kFree)(Handle*) PLACETO_NOEXCEPT>
using Owned = std::unique_ptr<Handle, Deleter<Handle, kFree>>;

inline Error error_of(const placeto_error& error) {
  return error.status == PLACETO_OK ? Error{} : Error{error.status, error.message};
}

// Calls make(Handle**, placeto_error*) and wraps what it hands out.
template <class Object, class Handle, class Make>
Expected<Object> make(Make call) {
  placeto_error error;
  Handle* handle = nullptr;
  if (call(&handle, &error) != PLACETO_OK) return error_of(error);
  return Object(handle);
}

// Calls fill(Struct*, placeto_error*), which writes no more than this header knows of.
template <class Struct, class Fill>
Expected<Struct> filled(Fill fill) {
  placeto_error error;
  Struct value{};
  value.struct_size = sizeof value;
  if (fill(&value, &error) != PLACETO_OK) return error_of(error);
  return value;
}

// Calls copy(T*, capacity, placeto_error*), which writes `count` entries.
template <class T, class Copy>
Expected<std::vector<T>> copied(size_t count, Copy copy) {
  placeto_error error;
  std::vector<T> values(count);
  if (copy(values.data(), count, &error) != PLACETO_OK) return error_of(error);
  return values;
}

// Calls encode(buffer, capacity, size, error) once for the size and once for the bytes.
template <class Encode>
Expected<std::vector<unsigned char>> encode(Encode call) {
  placeto_error error;
  size_t size = 0;
  if (call(nullptr, 0, &size, &error) != PLACETO_OK) return error_of(error);
  std::vector<unsigned char> bytes(size);
  if (call(bytes.data(), bytes.size(), &size, &error) != PLACETO_OK) return error_of(error);
  return bytes;
}

}  // namespace detail

// Structs of the C interface with their defaults filled in.
#define PLACETO_DEFAULTED(Name, type, defaults)       \
  struct Name : type {                                \
    Name() : type() { defaults(this, sizeof(type)); } \
  }
PLACETO_DEFAULTED(Limits, placeto_limits, placeto_default_limits);
PLACETO_DEFAULTED(PolicyOptions, placeto_policy_options, placeto_default_policy_options);
PLACETO_DEFAULTED(Node, placeto_node, placeto_default_node);
PLACETO_DEFAULTED(TopologyRules, placeto_topology_rules, placeto_default_topology_rules);
PLACETO_DEFAULTED(Device, placeto_device, placeto_default_device);
PLACETO_DEFAULTED(Link, placeto_link, placeto_default_link);
PLACETO_DEFAULTED(Options, placeto_options, placeto_default_options);
#undef PLACETO_DEFAULTED

// Immutable, shareable between threads. So are Graph and Topology.
class Policy {
 public:
  static Expected<Policy> load_file(const std::string& path, int32_t mode = PLACETO_FILE_READ,
                                    const placeto_limits* limits = nullptr) {
    return detail::make<Policy, placeto_policy>([&](placeto_policy** out, placeto_error* error) {
      return placeto_policy_load_file(path.c_str(), mode, limits, out, error);
    });
  }
  static Expected<Policy> load_memory(const void* bytes, size_t size,
                                      int32_t mode = PLACETO_BYTES_COPY,
                                      const placeto_limits* limits = nullptr) {
    return detail::make<Policy, placeto_policy>([&](placeto_policy** out, placeto_error* error) {
      return placeto_policy_load_memory(bytes, size, mode, limits, out, error);
    });
  }
  static Expected<Policy> load_file(const std::string& path,
                                    const placeto_policy_options& options) {
    return detail::make<Policy, placeto_policy>([&](placeto_policy** out, placeto_error* error) {
      return placeto_policy_load_file_with(path.c_str(), &options, out, error);
    });
  }
  static Expected<Policy> load_memory(const void* bytes, size_t size,
                                      const placeto_policy_options& options) {
    return detail::make<Policy, placeto_policy>([&](placeto_policy** out, placeto_error* error) {
      return placeto_policy_load_memory_with(bytes, size, &options, out, error);
    });
  }
  explicit Policy(placeto_policy* handle) : handle_(handle) {}

  std::string architecture() const { return placeto_policy_architecture(get()); }
  uint64_t parameter_count() const { return placeto_policy_parameter_count(get()); }
  uint64_t file_bytes() const { return placeto_policy_file_bytes(get()); }
  std::array<uint8_t, 32> sha256() const {
    std::array<uint8_t, 32> digest{};
    placeto_policy_sha256(get(), digest.data(), nullptr);
    return digest;
  }
  std::string feature_name(uint32_t column) const {
    return placeto_policy_feature_name(get(), column);
  }
  const placeto_policy* get() const { return handle_.get(); }

 private:
  detail::Owned<placeto_policy, placeto_policy_free> handle_;
};

// `target` reads the output number `output` of `source`, or waits for it: PLACETO_CONTROL_EDGE.
struct Edge {
  uint32_t source, output, target;
};

class Graph {
 public:
  static Expected<Graph> load_file(const std::string& path,
                                   const placeto_limits* limits = nullptr) {
    return detail::make<Graph, placeto_graph>([&](placeto_graph** out, placeto_error* error) {
      return placeto_graph_load_file(path.c_str(), limits, out, error);
    });
  }
  static Expected<Graph> load_memory(const void* bytes, size_t size,
                                     const placeto_limits* limits = nullptr) {
    return detail::make<Graph, placeto_graph>([&](placeto_graph** out, placeto_error* error) {
      return placeto_graph_load_memory(bytes, size, limits, out, error);
    });
  }
  explicit Graph(placeto_graph* handle) : handle_(handle) {}

  Expected<std::vector<unsigned char>> encode() const {
    return detail::encode([&](void* buffer, size_t capacity, size_t* size, placeto_error* error) {
      return placeto_graph_encode(get(), buffer, capacity, size, error);
    });
  }
  std::string name() const { return placeto_graph_name(get()); }
  uint32_t node_count() const { return placeto_graph_node_count(get()); }
  uint32_t edge_count() const { return placeto_graph_edge_count(get()); }
  std::string node_name(uint32_t node) const { return placeto_graph_node_name(get(), node); }
  uint32_t find_node(const std::string& name) const {
    return placeto_graph_find_node(get(), name.c_str());
  }
  // What its pointers lead to lives as long as the graph.
  Expected<placeto_node> node(uint32_t node) const {
    return detail::filled<placeto_node>([&](placeto_node* to, placeto_error* error) {
      return placeto_graph_node(get(), node, to, error);
    });
  }
  // In the order in which they were given, as GraphBuilder::add_edge takes them.
  std::vector<Edge> edges() const {
    std::vector<uint32_t> sources(edge_count()), outputs(edge_count()), targets(edge_count());
    placeto_graph_edges(get(), sources.data(), outputs.data(), targets.data(), sources.size(),
                        nullptr);
    std::vector<Edge> list(sources.size());
    for (size_t i = 0; i < list.size(); ++i) list[i] = {sources[i], outputs[i], targets[i]};
    return list;
  }
  // The kinds of device that a node's cost_us refers to.
  uint32_t kind_count() const { return placeto_graph_kind_count(get()); }
  std::string kind(uint32_t kind) const { return placeto_graph_kind(get(), kind); }
  const placeto_graph* get() const { return handle_.get(); }

 private:
  detail::Owned<placeto_graph, placeto_graph_free> handle_;
};

// Remembers the first error of its steps; build() returns it.
class GraphBuilder {
 public:
  explicit GraphBuilder(const std::string& name = "") {
    placeto_graph_builder* handle = nullptr;
    placeto_graph_builder_create(name.c_str(), &handle, &error_);
    handle_.reset(handle);
  }
  void set_kinds(const std::vector<const char*>& kinds) {
    step([&](placeto_error* error) {
      return placeto_graph_builder_set_kinds(handle_.get(), kinds.data(), kinds.size(), error);
    });
  }
  // The node's number.
  uint32_t add_node(const placeto_node& node) {
    uint32_t index = PLACETO_NONE;
    step([&](placeto_error* error) {
      return placeto_graph_builder_add_node(handle_.get(), &node, &index, error);
    });
    return index;
  }
  void add_edge(uint32_t source, uint32_t output, uint32_t target) {
    step([&](placeto_error* error) {
      return placeto_graph_builder_add_edge(handle_.get(), source, output, target, error);
    });
  }
  Expected<Graph> build(const placeto_limits* limits = nullptr) const {
    if (error_.status != PLACETO_OK) return detail::error_of(error_);
    return detail::make<Graph, placeto_graph>([&](placeto_graph** out, placeto_error* error) {
      return placeto_graph_builder_build(handle_.get(), limits, out, error);
    });
  }

 private:
  template <class Step>
  void step(Step call) {
    if (error_.status == PLACETO_OK) call(&error_);
  }
  detail::Owned<placeto_graph_builder, placeto_graph_builder_free> handle_;
  placeto_error error_;
};

class Topology {
 public:
  static Expected<Topology> load_file(const std::string& path,
                                      const placeto_limits* limits = nullptr) {
    return detail::make<Topology, placeto_topology>(
        [&](placeto_topology** out, placeto_error* error) {
          return placeto_topology_load_file(path.c_str(), limits, out, error);
        });
  }
  static Expected<Topology> load_memory(const void* bytes, size_t size,
                                        const placeto_limits* limits = nullptr) {
    return detail::make<Topology, placeto_topology>(
        [&](placeto_topology** out, placeto_error* error) {
          return placeto_topology_load_memory(bytes, size, limits, out, error);
        });
  }
  explicit Topology(placeto_topology* handle) : handle_(handle) {}

  Expected<std::vector<unsigned char>> encode() const {
    return detail::encode([&](void* buffer, size_t capacity, size_t* size, placeto_error* error) {
      return placeto_topology_encode(get(), buffer, capacity, size, error);
    });
  }
  std::string name() const { return placeto_topology_name(get()); }
  uint32_t device_count() const { return placeto_topology_device_count(get()); }
  std::string device_name(uint32_t device) const {
    return placeto_topology_device_name(get(), device);
  }
  std::string device_kind(uint32_t device) const {
    return placeto_topology_device_kind(get(), device);
  }
  uint32_t find_device(const std::string& name) const {
    return placeto_topology_find_device(get(), name.c_str());
  }
  // What was given, as TopologyBuilder takes it: the rules, a device, the link from one device to
  // another or else the default one. What pointers lead to lives as long as the topology.
  Expected<placeto_topology_rules> rules() const {
    return detail::filled<placeto_topology_rules>(
        [&](placeto_topology_rules* to, placeto_error* error) {
          return placeto_topology_get_rules(get(), to, error);
        });
  }
  Expected<placeto_device> device(uint32_t device) const {
    return detail::filled<placeto_device>([&](placeto_device* to, placeto_error* error) {
      return placeto_topology_device(get(), device, to, error);
    });
  }
  Expected<placeto_link> link(uint32_t from, uint32_t to_device) const {
    return detail::filled<placeto_link>([&](placeto_link* to, placeto_error* error) {
      return placeto_topology_link(get(), from, to_device, to, error);
    });
  }
  const placeto_topology* get() const { return handle_.get(); }

 private:
  detail::Owned<placeto_topology, placeto_topology_free> handle_;
};

// Remembers the first error of its steps; build() returns it.
class TopologyBuilder {
 public:
  explicit TopologyBuilder(const std::string& name = "") {
    placeto_topology_builder* handle = nullptr;
    placeto_topology_builder_create(name.c_str(), &handle, &error_);
    handle_.reset(handle);
  }
  void set_rules(const placeto_topology_rules& rules) {
    step([&](placeto_error* error) {
      return placeto_topology_builder_set_rules(handle_.get(), &rules, error);
    });
  }
  // The device's number.
  uint32_t add_device(const placeto_device& device) {
    uint32_t index = PLACETO_NONE;
    step([&](placeto_error* error) {
      return placeto_topology_builder_add_device(handle_.get(), &device, &index, error);
    });
    return index;
  }
  void add_link(const placeto_link& link) {
    step([&](placeto_error* error) {
      return placeto_topology_builder_add_link(handle_.get(), &link, error);
    });
  }
  Expected<Topology> build(const placeto_limits* limits = nullptr) const {
    if (error_.status != PLACETO_OK) return detail::error_of(error_);
    return detail::make<Topology, placeto_topology>(
        [&](placeto_topology** out, placeto_error* error) {
          return placeto_topology_builder_build(handle_.get(), limits, out, error);
        });
  }

 private:
  template <class Step>
  void step(Step call) {
    if (error_.status == PLACETO_OK) call(&error_);
  }
  detail::Owned<placeto_topology_builder, placeto_topology_builder_free> handle_;
  placeto_error error_;
};

// Ends placings from another thread, or from a signal handler: those that were given it by
// `options.cancel = cancel->get()`. It has to outlive them.
class Cancel {
 public:
  static Expected<Cancel> create() {
    return detail::make<Cancel, placeto_cancel>(placeto_cancel_create);
  }
  explicit Cancel(placeto_cancel* handle) : handle_(handle) {}

  void request() { placeto_cancel_request(handle_.get()); }
  // Makes it usable again.
  void reset() { placeto_cancel_reset(handle_.get()); }
  const placeto_cancel* get() const { return handle_.get(); }

 private:
  detail::Owned<placeto_cancel, placeto_cancel_free> handle_;
};

class Placement {
 public:
  explicit Placement(placeto_placement* handle) : handle_(handle) {}

  uint32_t node_count() const { return placeto_placement_node_count(get()); }
  uint32_t device_count() const { return placeto_placement_device_count(get()); }
  uint32_t device(uint32_t node) const { return placeto_placement_device(get(), node); }
  std::vector<uint32_t> assignment() const {
    std::vector<uint32_t> devices(node_count());
    placeto_placement_assignment(get(), devices.data(), devices.size(), nullptr);
    return devices;
  }
  double makespan_us() const { return placeto_placement_makespan_us(get()); }
  double bottleneck_us() const { return placeto_placement_bottleneck_us(get()); }
  double lower_bound_us() const { return placeto_placement_lower_bound_us(get()); }
  bool proved() const { return placeto_placement_proved(get()) != 0; }
  double replicas_us() const { return placeto_placement_replicas_us(get()); }
  double sequential_us() const { return placeto_placement_sequential_us(get()); }
  double place_time_us() const { return placeto_placement_place_time_us(get()); }
  std::string method() const { return placeto_placement_method(get()); }
  std::string note() const { return placeto_placement_note(get()); }
  bool feasible() const { return placeto_placement_feasible(get()) != 0; }
  // PLACETO_COMPLETE, PLACETO_ENDED_EARLY or PLACETO_NOT_SIMULATED.
  int32_t stopped() const { return placeto_placement_stopped(get()); }
  // Empty where the placing was stopped before they were simulated, as are finish_us, peak_memory
  // and shortfall.
  std::vector<double> start_us() const {
    return copied<double>(node_count(), [](auto placement, double* us, size_t count, auto error) {
      return placeto_placement_times(placement, us, nullptr, count, error);
    });
  }
  std::vector<double> finish_us() const {
    return copied<double>(node_count(), [](auto placement, double* us, size_t count, auto error) {
      return placeto_placement_times(placement, nullptr, us, count, error);
    });
  }
  std::vector<uint64_t> peak_memory() const {
    return copied<uint64_t>(device_count(), placeto_placement_peak_memory);
  }
  std::vector<uint64_t> shortfall() const {
    return copied<uint64_t>(device_count(), placeto_placement_shortfall);
  }
  // Staged execution: the stage of every node, and every stage once, in an order in which they may
  // run. Other executions have no stages, nor has what was stopped before it was simulated.
  uint32_t stage_count() const { return placeto_placement_stage_count(get()); }
  std::vector<uint32_t> stages() const {
    return copied<uint32_t>(stage_count() == 0 ? 0 : node_count(), placeto_placement_stages);
  }
  std::vector<uint32_t> stage_order() const {
    return copied<uint32_t>(stage_count(), placeto_placement_stage_order);
  }
  // Their `method` lives as long as the placement.
  std::vector<placeto_candidate> candidates() const {
    std::vector<placeto_candidate> list(placeto_placement_candidate_count(get()));
    for (size_t i = 0; i < list.size(); ++i) {
      list[i].struct_size = sizeof list[i];
      placeto_placement_candidate(get(), i, &list[i], nullptr);
    }
    return list;
  }
  // One thread at a time.
  Expected<placeto_reason> explain(uint32_t node) {
    return detail::filled<placeto_reason>([&](placeto_reason* reason, placeto_error* error) {
      return placeto_placement_explain(handle_.get(), node, reason, error);
    });
  }
  Expected<std::vector<unsigned char>> encode() const {
    return detail::encode([&](void* buffer, size_t capacity, size_t* size, placeto_error* error) {
      return placeto_placement_encode(get(), buffer, capacity, size, error);
    });
  }
  const placeto_placement* get() const { return handle_.get(); }

 private:
  template <class T, class Copy>
  std::vector<T> copied(size_t count, Copy copy) const {
    std::vector<T> values(count);
    return copy(get(), values.data(), count, nullptr) == PLACETO_OK ? values : std::vector<T>();
  }
  detail::Owned<placeto_placement, placeto_placement_free> handle_;
};

// The run times that the cost model computes with: that of a node on a device is at
// [node * devices + device], negative where the device cannot run the node.
inline Expected<std::vector<double>> run_times(const Graph& graph, const Topology& topology,
                                               const placeto_limits* limits = nullptr) {
  const size_t count = size_t{graph.node_count()} * topology.device_count();
  return detail::copied<double>(count, [&](double* us, size_t capacity, placeto_error* error) {
    return placeto_run_times(graph.get(), topology.get(), limits, us, capacity, error);
  });
}

// `policy` may be NULL: heuristics alone. options.on_step takes a lambda without captures; what it
// needs comes through options.step_context.
inline Expected<Placement> place(const Graph& graph, const Topology& topology,
                                 const Policy* policy = nullptr,
                                 const placeto_options& options = Options()) {
  return detail::make<Placement, placeto_placement>(
      [&](placeto_placement** out, placeto_error* error) {
        return placeto_place(graph.get(), topology.get(), policy ? policy->get() : nullptr,
                             &options, out, error);
      });
}

inline Expected<Placement> score(const Graph& graph, const Topology& topology,
                                 const std::vector<uint32_t>& assignment,
                                 const placeto_options& options = Options()) {
  return detail::make<Placement, placeto_placement>(
      [&](placeto_placement** out, placeto_error* error) {
        return placeto_score(graph.get(), topology.get(), assignment.data(), assignment.size(),
                             &options, out, error);
      });
}

// The assignment in a file of a placement of this graph on this topology, which
// Placement::encode() makes: for score(), or to be used as it is.
inline Expected<std::vector<uint32_t>> decode_assignment(const void* bytes, size_t size,
                                                         const Graph& graph,
                                                         const Topology& topology,
                                                         const placeto_limits* limits = nullptr) {
  return detail::copied<uint32_t>(
      graph.node_count(), [&](uint32_t* devices, size_t capacity, placeto_error* error) {
        return placeto_assignment_decode(bytes, size, graph.get(), topology.get(), limits, devices,
                                         capacity, error);
      });
}

// That placement with its stages, scored: what place() had for it, where nothing else has changed.
inline Expected<Placement> decode_placement(const void* bytes, size_t size, const Graph& graph,
                                            const Topology& topology,
                                            const placeto_options& options = Options()) {
  return detail::make<Placement, placeto_placement>([&](placeto_placement** out,
                                                        placeto_error* error) {
    return placeto_placement_decode(bytes, size, graph.get(), topology.get(), &options, out, error);
  });
}

}  // namespace api
}  // namespace placeto

#endif  // PLACETO_PLACETO_HPP
