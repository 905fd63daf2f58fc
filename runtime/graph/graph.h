// The computation graph: GraphSpec is what a file or a caller describes, Graph is that description
// checked and laid out for reading.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"

namespace placeto {

// `output` of an edge that orders two nodes and moves no bytes.
inline constexpr uint32_t kControlEdge = 0xffffffffu;

// A node that names more types is refused.
inline constexpr uint32_t kMostInputTypes = 4'096;

// A graph as it is written down: schema/README.md says what each field means.
struct NodeSpec {
  std::string name;
  std::string op;
  std::vector<double> cost_us;    // per kind; negative: cannot run there; empty: estimate
  std::vector<uint64_t> outputs;  // bytes of each output
  uint64_t resident_bytes = 0;    // parameters and state, held for the whole run
  uint64_t workspace_bytes = 0;   // held while the node runs
  uint64_t flops = 0;             // a multiply-add counts 2
  uint64_t bytes_accessed = 0;    // read and written by the operator; 0: derived from its tensors
  std::string colocate;           // nodes with the same non-empty key share a device
  std::vector<std::string> allowed_kinds;  // empty: every kind
  uint64_t measured = 0;                   // bit k: cost_us[k] was measured; 0: not known
  uint64_t launches = 0;                   // operators it starts, those of a loop each time; 0: one
  uint32_t opset = 0;  // version of the operator set that `op` is of; 0: not known
  std::vector<std::string> input_types;  // of elements: "float", "int64"; "": none, or not known
  std::string domain;  // that `op` is of: "ai.onnx", "com.microsoft"; "": not known
  bool fused = false;  // run as a part of another or at load: estimated to take no time
};

struct EdgeSpec {
  uint32_t source = 0;  // node
  uint32_t output = 0;  // index into the source's outputs, or kControlEdge
  uint32_t target = 0;  // node
  friend bool operator==(const EdgeSpec&, const EdgeSpec&) = default;
};

struct GraphSpec {
  std::string name;
  std::vector<std::string>
      kinds;  // what the entries of cost_us refer to; empty: one entry, any kind
  std::vector<NodeSpec> nodes;
  std::vector<EdgeSpec> edges;
};

// What messages call a node: "nodes[3] 'conv1'".
std::string node_place(const GraphSpec& spec, size_t v);

// A dependency as seen from one of its ends. `output` is a graph-wide output id or kControlEdge.
struct OutEdge {
  uint32_t target;
  uint32_t output;
};
struct InEdge {
  uint32_t source;
  uint32_t output;
};

// Immutable directed acyclic graph in compressed sparse rows, one array per attribute. Node and
// output ids are dense uint32_t; outputs of node v have the ids output_begin(v)..output_end(v).
class Graph {
 public:
  // Checks everything a cost model relies on: indices in range, no duplicate edge, no cycle (the
  // message prints one), finite costs, byte sums that fit 63 bits, sizes within `limits`. The
  // message names the place, e.g. "nodes[3] 'conv1': cost_us[1] is nan, expected ...".
  static Result<Graph> build(GraphSpec spec, const Limits& limits = {});

  const std::string& name() const { return spec_.name; }
  std::span<const std::string> kinds() const { return spec_.kinds; }
  // The description this graph was built from, edges in the order they were given.
  const GraphSpec& spec() const { return spec_; }
  const NodeSpec& node(uint32_t v) const { return spec_.nodes[v]; }

  uint32_t node_count() const { return static_cast<uint32_t>(spec_.nodes.size()); }
  uint32_t edge_count() const { return static_cast<uint32_t>(spec_.edges.size()); }
  uint32_t output_count() const { return static_cast<uint32_t>(output_bytes_.size()); }
  // Nodes and edges, and outputs without edges of nodes that have many of them.
  uint64_t size() const { return uint64_t{node_count()} + edge_count() + spare_outputs_; }
  // Work of going through a node with its outputs and out-edges (runtime/base/stop.h).
  uint64_t out_work(uint32_t v) const {
    return 1 + std::max<uint64_t>(out_edges(v).size(), output_end(v) - output_begin(v));
  }

  uint32_t output_begin(uint32_t v) const { return output_offset_[v]; }
  uint32_t output_end(uint32_t v) const { return output_offset_[v + 1]; }
  uint64_t output_bytes(uint32_t output) const { return output_bytes_[output]; }
  std::span<const uint64_t> output_bytes() const { return output_bytes_; }
  uint32_t producer(uint32_t output) const { return output_producer_[output]; }

  // Out-edges of v in the order they were given (the cost model queues transfers in that order).
  [[gnu::always_inline]] std::span<const OutEdge> out_edges(uint32_t v) const {
    return {out_edges_.data() + out_offset_[v], out_edges_.data() + out_offset_[v + 1]};
  }
  [[gnu::always_inline]] std::span<const InEdge> in_edges(uint32_t v) const {
    return {in_edges_.data() + in_offset_[v], in_edges_.data() + in_offset_[v + 1]};
  }
  // Nodes that read the output, ascending.
  std::span<const uint32_t> consumers(uint32_t output) const {
    return {consumers_.data() + consumer_offset_[output],
            consumers_.data() + consumer_offset_[output + 1]};
  }

  // Every node after its predecessors; among the ready ones the lowest index first.
  std::span<const uint32_t> topological_order() const { return topological_order_; }

 private:
  Graph() = default;
  void index_outputs();
  void index_edges();
  Status sort_topologically();

  GraphSpec spec_;
  std::vector<uint32_t> output_offset_, output_producer_;
  std::vector<uint64_t> output_bytes_;
  std::vector<uint32_t> out_offset_, in_offset_, consumer_offset_;
  std::vector<OutEdge> out_edges_;
  std::vector<InEdge> in_edges_;
  std::vector<uint32_t> consumers_;
  std::vector<uint32_t> topological_order_;
  uint64_t spare_outputs_ = 0;
};

}  // namespace placeto
