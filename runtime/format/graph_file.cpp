#include "runtime/format/graph_file.h"

#include <graph_generated.h>

#include <algorithm>

#include "runtime/base/message.h"
#include "runtime/format/buffer.h"

namespace placeto {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Table;
using flatbuffers::Verifier;

Status check_count(const char* list, size_t count, uint64_t limit) {
  return count <= limit ? Status() : too_many(list, count, limit);
}

// A list inside a table, if the verifier accepts its bounds; `ok` turns false otherwise.
template <class List>
const List* verified_list(Verifier& verifier, const Table* table, flatbuffers::voffset_t field,
                          bool& ok) {
  ok = ok && table->VerifyOffset(verifier, field);
  const List* list = ok ? table->GetPointer<const List*>(field) : nullptr;
  ok = ok && verifier.VerifyVector(list);
  return ok ? list : nullptr;
}

// The generated verifier walks the strings of every node's allowed_kinds and input_types, however
// many nodes share one list: quadratic in the size of a hostile file. This walk reads only the
// lengths, and refuses what could not be true of lists that are not shared, before the full
// verification.
Status check_shape(std::span<const uint8_t> bytes, const Limits& limits) {
  Verifier::Options options;
  options.max_depth = 4;
  options.max_tables = static_cast<uint32_t>(bytes.size());
  Verifier verifier(bytes.data(), bytes.size(), options);
  const size_t root_offset = verifier.VerifyOffset(0);
  if (root_offset == 0) return malformed(bytes, FileKind::kGraph);
  const auto* root = reinterpret_cast<const Table*>(bytes.data() + root_offset);
  bool ok = root->VerifyTableStart(verifier);
  using Nodes = flatbuffers::Vector<Offset<schema::Node>>;
  using Edges = flatbuffers::Vector<Offset<schema::Edge>>;
  const Nodes* nodes = verified_list<Nodes>(verifier, root, schema::Graph::VT_NODES, ok);
  const Edges* edges = verified_list<Edges>(verifier, root, schema::Graph::VT_EDGES, ok);
  if (!ok) return malformed(bytes, FileKind::kGraph);
  const uint32_t count = nodes == nullptr ? 0 : nodes->size();
  if (Status s = check_count("nodes", count, limits.max_nodes); !s.ok()) return s;
  const uint32_t edge_count = edges == nullptr ? 0 : edges->size();
  if (Status s = check_count("edges", edge_count, limits.max_edges); !s.ok()) return s;

  uint64_t names = 0;
  for (uint32_t v = 0; v < count; ++v) {
    const auto* node = reinterpret_cast<const Table*>(nodes->Get(v));
    ok = node->VerifyTableStart(verifier);
    for (const auto field : {schema::Node::VT_ALLOWED_KINDS, schema::Node::VT_INPUT_TYPES}) {
      const auto* list = verified_list<CopyBudget::Strings>(verifier, node, field, ok);
      if (!ok) return malformed(bytes, FileKind::kGraph);
      names += list == nullptr ? 0 : list->size();
    }
    verifier.EndTable();
    if (names > bytes.size()) return CopyBudget::too_much_sharing(entry("nodes", v));
  }
  return {};
}

Status copy_node(const schema::Node& from, CopyBudget& budget, NodeSpec& to) {
  if (Status s = check_known_fields(&from); !s.ok()) return s;
  budget.copy(from.name(), to.name);
  budget.copy(from.op(), to.op);
  budget.copy(from.cost_us(), to.cost_us);
  budget.copy(from.outputs(), to.outputs);
  to.resident_bytes = from.resident_bytes();
  to.workspace_bytes = from.workspace_bytes();
  to.flops = from.flops();
  to.bytes_accessed = from.bytes_accessed();
  budget.copy(from.colocate(), to.colocate);
  budget.copy(from.allowed_kinds(), to.allowed_kinds);
  to.launches = from.launches();
  to.measured = from.measured();
  to.opset = from.opset();
  budget.copy(from.input_types(), to.input_types);
  budget.copy(from.domain(), to.domain);
  to.fused = from.fused();
  return {};
}

Result<GraphSpec> copy_graph(const schema::Graph& from, size_t file_bytes, const Limits& limits) {
  if (Status s = check_version(from.format_version()); !s.ok()) return s;
  if (Status s = check_known_fields(&from); !s.ok()) return s;
  CopyBudget budget(file_bytes);
  GraphSpec to;
  budget.copy(from.name(), to.name);
  budget.copy(from.kinds(), to.kinds);
  const size_t node_count = from.nodes() == nullptr ? 0 : from.nodes()->size();
  to.nodes.resize(node_count);
  uint64_t outputs = 0;
  for (uint32_t v = 0; v < node_count; ++v) {
    const schema::Node& node = *from.nodes()->Get(v);
    outputs += node.outputs() == nullptr ? 0 : node.outputs()->size();
    if (Status s = check_count("outputs", outputs, limits.max_outputs); !s.ok()) return s;
    if (Status s = copy_node(node, budget, to.nodes[v]); !s.ok()) return s.at(entry("nodes", v));
    if (budget.exhausted()) return CopyBudget::too_much_sharing(entry("nodes", v));
  }
  const size_t edge_count = from.edges() == nullptr ? 0 : from.edges()->size();
  to.edges.resize(edge_count);
  for (uint32_t e = 0; e < edge_count; ++e) {
    const schema::Edge& edge = *from.edges()->Get(e);
    if (Status s = check_known_fields(&edge); !s.ok()) return s.at(entry("edges", e));
    to.edges[e] = {edge.source(), edge.output(), edge.target()};
  }
  return to;
}

uint64_t bytes_needed(const GraphSpec& spec) {
  uint64_t bytes = 256 + string_bytes(spec.name) + vector_bytes(spec.kinds);
  for (const NodeSpec& node : spec.nodes) {
    // Table, its share of the vtables, and its entry in the list of nodes.
    bytes += 112 + string_bytes(node.name) + string_bytes(node.op) + string_bytes(node.colocate) +
             vector_bytes(node.cost_us) + vector_bytes(node.outputs) +
             vector_bytes(node.allowed_kinds) + vector_bytes(node.input_types) +
             string_bytes(node.domain);
  }
  return bytes + 40 * spec.edges.size();
}

Offset<schema::Node> add_node(FlatBufferBuilder& builder, const NodeSpec& node) {
  const auto name = add_text(builder, node.name);
  const auto op = add_shared_text(builder, node.op);
  const auto cost_us = add_list(builder, node.cost_us);
  const auto outputs = add_list(builder, node.outputs);
  const auto colocate = add_shared_text(builder, node.colocate);
  const auto allowed_kinds = add_texts(builder, node.allowed_kinds);
  const auto input_types = add_texts(builder, node.input_types);
  const auto domain = add_shared_text(builder, node.domain);
  return schema::CreateNode(builder, name, op, cost_us, outputs, node.resident_bytes,
                            node.workspace_bytes, node.flops, node.bytes_accessed, colocate,
                            allowed_kinds, node.launches, node.measured, node.opset, input_types,
                            domain, node.fused);
}

}  // namespace

Result<GraphSpec> decode_graph(std::span<const uint8_t> bytes, const Limits& limits) {
  if (Status s = check_header(bytes, FileKind::kGraph, limits); !s.ok()) return s;
  const AlignedBytes aligned(bytes);
  if (Status s = check_shape(aligned.get(), limits); !s.ok()) return s;
  const uint64_t tables =
      std::min<uint64_t>(bytes.size(), uint64_t{limits.max_nodes} + limits.max_edges + 1);
  const Status verified =
      verify_buffer<schema::Graph>(aligned.get(), FileKind::kGraph, static_cast<uint32_t>(tables));
  if (!verified.ok()) return verified;
  return copy_graph(*schema::GetGraph(aligned.get().data()), bytes.size(), limits);
}

Result<std::vector<uint8_t>> encode_graph(const GraphSpec& spec) {
  if (Status s = check_buffer_size(bytes_needed(spec), FileKind::kGraph); !s.ok()) return s;
  FlatBufferBuilder builder;
  const auto name = add_text(builder, spec.name);
  const auto kinds = add_texts(builder, spec.kinds);
  std::vector<Offset<schema::Node>> nodes;
  nodes.reserve(spec.nodes.size());
  for (const NodeSpec& node : spec.nodes) nodes.push_back(add_node(builder, node));
  std::vector<Offset<schema::Edge>> edges;
  edges.reserve(spec.edges.size());
  for (const EdgeSpec& edge : spec.edges) {
    edges.push_back(schema::CreateEdge(builder, edge.source, edge.output, edge.target));
  }
  const auto node_list = add_list(builder, nodes);
  const auto edge_list = add_list(builder, edges);
  schema::FinishGraphBuffer(
      builder, schema::CreateGraph(builder, kFormatVersion, name, kinds, node_list, edge_list));
  return finished_bytes(builder);
}

}  // namespace placeto
