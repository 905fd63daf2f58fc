// Graphs: built node by node, or loaded.
#include "runtime/capi/handles.h"
#include "runtime/capi/support.h"
#include "runtime/format/file.h"
#include "runtime/format/graph_file.h"

using namespace placeto;        // NOLINT: this file is one edge of the library
using namespace placeto::capi;  // NOLINT

namespace {

template <class T>
Status read_list(const char* name, const T* from, size_t count, std::vector<T>& to) {
  if (Status s = check_list(name, from, count); !s.ok()) return s;
  if (count > 0) to.assign(from, from + count);
  return {};
}

Status read_node(const placeto_node* node, NodeSpec& to) {
  placeto_node from = {};
  if (Status s = read_struct("placeto_node", node, from); !s.ok()) return s;
  to.name = text_or_empty(from.name);
  to.op = text_or_empty(from.op);
  if (Status s = read_list("cost_us", from.cost_us, from.cost_count, to.cost_us); !s.ok()) {
    return s;
  }
  if (Status s = read_list("outputs", from.outputs, from.output_count, to.outputs); !s.ok()) {
    return s;
  }
  to.resident_bytes = from.resident_bytes;
  to.workspace_bytes = from.workspace_bytes;
  to.flops = from.flops;
  to.bytes_accessed = from.bytes_accessed;
  to.colocate = text_or_empty(from.colocate);
  to.launches = from.launches;
  to.domain = text_or_empty(from.domain);
  to.opset = from.opset;
  to.fused = from.fused != 0;
  if (Status s = read_texts("allowed_kinds", from.allowed_kinds, from.allowed_kind_count,
                            to.allowed_kinds);
      !s.ok()) {
    return s;
  }
  return read_texts("input_types", from.input_types, from.input_type_count, to.input_types);
}

Status hand_out(GraphSpec spec, const Limits& limits, placeto_graph** graph) {
  Result<Graph> built = Graph::build(std::move(spec), limits);
  if (!built.ok()) return built.status();
  auto made = std::make_unique<placeto_graph>();
  made->value = std::make_shared<const Graph>(std::move(*built));
  for (const NodeSpec& node : made->value->spec().nodes) {
    made->texts_begin.push_back(made->texts.size());
    for (const auto* list : {&node.allowed_kinds, &node.input_types}) {
      for (const std::string& text : *list) made->texts.push_back(text.c_str());
    }
  }
  *graph = made.release();
  return {};
}

// As read_node reads it.
Status write_node(const placeto_graph& graph, uint32_t node, placeto_node* to) {
  const NodeSpec& from = graph.value->node(node);
  const char* const* texts = graph.texts.data() + graph.texts_begin[node];
  return write_struct("placeto_node",
                      {0,
                       from.name.c_str(),
                       from.op.c_str(),
                       from.cost_us.data(),
                       from.cost_us.size(),
                       from.outputs.data(),
                       from.outputs.size(),
                       from.resident_bytes,
                       from.workspace_bytes,
                       from.flops,
                       from.bytes_accessed,
                       from.colocate.c_str(),
                       texts,
                       from.allowed_kinds.size(),
                       from.launches,
                       from.domain.c_str(),
                       from.opset,
                       texts + from.allowed_kinds.size(),
                       from.input_types.size(),
                       from.fused,
                       0},
                      to);
}

Status decode_and_hand_out(std::span<const uint8_t> bytes, const Limits& limits,
                           placeto_graph** graph) {
  Result<GraphSpec> spec = decode_graph(bytes, limits);
  if (!spec.ok()) return spec.status();
  return hand_out(std::move(*spec), limits, graph);
}

}  // namespace

placeto_status placeto_default_node(placeto_node* node, size_t struct_size) noexcept {
  return set_defaults(node, struct_size, placeto_node{});
}

placeto_status placeto_graph_builder_create(const char* name, placeto_graph_builder** builder,
                                            placeto_error* error) noexcept {
  if (builder != nullptr) *builder = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{builder, "builder"}}); !s.ok()) return s;
    auto made = std::make_unique<placeto_graph_builder>();
    made->spec.name = text_or_empty(name);
    *builder = made.release();
    return {};
  });
}

void placeto_graph_builder_free(placeto_graph_builder* builder) noexcept {
  delete builder;
}

placeto_status placeto_graph_builder_set_kinds(placeto_graph_builder* builder,
                                               const char* const* kinds, size_t count,
                                               placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{builder, "builder"}}); !s.ok()) return s;
    std::vector<std::string> texts;
    if (Status s = read_texts("kinds", kinds, count, texts); !s.ok()) return s;
    builder->spec.kinds = std::move(texts);
    return {};
  });
}

placeto_status placeto_graph_builder_add_node(placeto_graph_builder* builder,
                                              const placeto_node* node, uint32_t* index,
                                              placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{builder, "builder"}, {node, "node"}}); !s.ok()) return s;
    NodeSpec spec;
    if (Status s = read_node(node, spec); !s.ok()) return s;
    // Numbers are 32 bits; how many nodes are allowed is for the build to say.
    if (builder->spec.nodes.size() >= PLACETO_NONE) return invalid({"too many nodes"});
    builder->spec.nodes.push_back(std::move(spec));
    if (index != nullptr) *index = static_cast<uint32_t>(builder->spec.nodes.size() - 1);
    return {};
  });
}

placeto_status placeto_graph_builder_add_edge(placeto_graph_builder* builder, uint32_t source,
                                              uint32_t output, uint32_t target,
                                              placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{builder, "builder"}}); !s.ok()) return s;
    builder->spec.edges.push_back({source, output, target});
    return {};
  });
}

placeto_status placeto_graph_builder_build(const placeto_graph_builder* builder,
                                           const placeto_limits* limits, placeto_graph** graph,
                                           placeto_error* error) noexcept {
  if (graph != nullptr) *graph = nullptr;
  return guarded(error, [&]() -> Status {
    Limits bounds;
    if (Status s = check_not_null({{builder, "builder"}, {graph, "graph"}}); !s.ok()) return s;
    if (Status s = read_limits(limits, bounds); !s.ok()) return s;
    return hand_out(builder->spec, bounds, graph);
  });
}

placeto_status placeto_graph_load_file(const char* path, const placeto_limits* limits,
                                       placeto_graph** graph, placeto_error* error) noexcept {
  if (graph != nullptr) *graph = nullptr;
  return guarded(error, [&]() -> Status {
    Limits bounds;
    if (Status s = check_not_null({{path, "path"}, {graph, "graph"}}); !s.ok()) return s;
    if (Status s = read_limits(limits, bounds); !s.ok()) return s;
    const Result<std::vector<uint8_t>> bytes = read_file(path, bounds.max_file_bytes);
    if (!bytes.ok()) return bytes.status();
    return decode_and_hand_out(*bytes, bounds, graph).at(path);
  });
}

placeto_status placeto_graph_load_memory(const void* bytes, size_t size,
                                         const placeto_limits* limits, placeto_graph** graph,
                                         placeto_error* error) noexcept {
  if (graph != nullptr) *graph = nullptr;
  return guarded(error, [&]() -> Status {
    Limits bounds;
    if (Status s = check_not_null({{bytes, "bytes"}, {graph, "graph"}}); !s.ok()) return s;
    if (Status s = read_limits(limits, bounds); !s.ok()) return s;
    return decode_and_hand_out(as_bytes(bytes, size), bounds, graph);
  });
}

placeto_status placeto_graph_encode(const placeto_graph* graph, void* buffer, size_t capacity,
                                    size_t* size, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{graph, "graph"}, {size, "size"}}); !s.ok()) return s;
    const Result<std::vector<uint8_t>> bytes = encode_graph(graph->value->spec());
    if (!bytes.ok()) return bytes.status();
    return copy_out(*bytes, buffer, capacity, size);
  });
}

void placeto_graph_free(placeto_graph* graph) noexcept {
  delete graph;
}

const char* placeto_graph_name(const placeto_graph* graph) noexcept {
  return graph == nullptr ? "" : graph->value->name().c_str();
}

uint32_t placeto_graph_node_count(const placeto_graph* graph) noexcept {
  return graph == nullptr ? 0 : graph->value->node_count();
}

uint32_t placeto_graph_edge_count(const placeto_graph* graph) noexcept {
  return graph == nullptr ? 0 : graph->value->edge_count();
}

const char* placeto_graph_node_name(const placeto_graph* graph, uint32_t node) noexcept {
  if (graph == nullptr || node >= graph->value->node_count()) return "";
  return graph->value->node(node).name.c_str();
}

uint32_t placeto_graph_find_node(const placeto_graph* graph, const char* name) noexcept {
  if (graph == nullptr || name == nullptr) return PLACETO_NONE;
  const std::string_view wanted = name;
  for (uint32_t v = 0; v < graph->value->node_count(); ++v) {
    if (graph->value->node(v).name == wanted) return v;
  }
  return PLACETO_NONE;
}

uint32_t placeto_graph_kind_count(const placeto_graph* graph) noexcept {
  return graph == nullptr ? 0 : static_cast<uint32_t>(graph->value->kinds().size());
}

const char* placeto_graph_kind(const placeto_graph* graph, uint32_t kind) noexcept {
  if (graph == nullptr || kind >= graph->value->kinds().size()) return "";
  return graph->value->kinds()[kind].c_str();
}

placeto_status placeto_graph_node(const placeto_graph* graph, uint32_t node, placeto_node* to,
                                  placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{graph, "graph"}, {to, "to"}}); !s.ok()) return s;
    if (Status s = check_index("node", node, graph->value->node_count()); !s.ok()) return s;
    return write_node(*graph, node, to);
  });
}

placeto_status placeto_graph_edges(const placeto_graph* graph, uint32_t* sources, uint32_t* outputs,
                                   uint32_t* targets, size_t capacity,
                                   placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{graph, "graph"}}); !s.ok()) return s;
    const std::vector<EdgeSpec>& edges = graph->value->spec().edges;
    if (Status s = check_capacity("edges", capacity, edges.size()); !s.ok()) return s;
    for (size_t i = 0; i < edges.size(); ++i) {
      if (sources != nullptr) sources[i] = edges[i].source;
      if (outputs != nullptr) outputs[i] = edges[i].output;
      if (targets != nullptr) targets[i] = edges[i].target;
    }
    return {};
  });
}
