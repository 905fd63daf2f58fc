#include "tools/costs/fusion.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <string_view>

#include "runtime/base/no_index.h"
#include "tools/costs/only_reader.h"
#include "tools/costs/operator_class.h"
#include "tools/io/word_list.h"

namespace placeto {
namespace {

// Read one tensor that may be large: if that is a parameter, or computed from one, they read no
// input of the model, which a graph does not show. The other input of the second kind says a shape,
// and may be computed from parameters where the data is not.
constexpr std::string_view kOneTensor = " DequantizeLinear Cast Transpose Identity ";
constexpr std::string_view kShaped = " Reshape Squeeze Unsqueeze ";

// Graph optimizations of the kinds Conv + BatchNormalization, Conv + Mul, Conv + Add, Conv +
// activation, MatMul + Add, Gemm + activation, ... of onnxruntime/core/optimizer.
constexpr std::string_view kActivations = " Relu Clip Sigmoid Tanh LeakyRelu HardSigmoid ";
constexpr std::string_view kWithParameter = " Add Mul BatchNormalization ";

// A bias or scale per channel; engines do not fuse scalars.
constexpr uint64_t kLeastParameterBytes = 9;

bool carries_fusion(std::string_view op) {
  return op == "Conv" || op == "FusedConv" || op == "Gemm" || op == "MatMul";
}

// The only producer of the node, if it alone reads that producer's only used output; else the node.
uint32_t sole_producer(const Graph& graph, uint32_t v) {
  if (graph.in_edges(v).size() != 1) return v;
  const uint32_t source = graph.in_edges(v)[0].source;
  return graph.out_edges(source).size() == 1 ? source : v;
}

uint64_t largest_output(const Graph& graph, uint32_t node) {
  uint64_t made = 0;
  for (uint32_t o = graph.output_begin(node); o < graph.output_end(node); ++o) {
    made = std::max(made, graph.output_bytes(o));
  }
  return made;
}

// Whether what the node makes can come from its own parameters, packed eight to a number at most:
// of a node that reads an input of the model they are its scales alone.
bool can_hold_its_output(const Graph& graph, uint32_t node) {
  constexpr uint64_t kMostPacked = 8;
  const uint64_t held = graph.node(node).resident_bytes;
  return held > 0 && held >= largest_output(graph, node) / kMostPacked;
}

// Whether a parameter, or what is computed from one, is as large as what the node only shapes.
bool shapes_parameter(const Graph& graph, uint32_t node) {
  const uint64_t made = largest_output(graph, node);
  if (graph.node(node).resident_bytes > made) return true;  // the shape beside it
  const auto in = graph.in_edges(node);
  return std::any_of(in.begin(), in.end(), [&](const InEdge& edge) {
    return edge.output != kControlEdge && graph.output_bytes(edge.output) >= made;
  });
}

bool from_parameters(const Graph& graph, uint32_t v, const std::vector<bool>& constant) {
  const bool shaped = holds_word(kShaped, graph.node(v).op);
  if (!shaped && !holds_word(kOneTensor, graph.node(v).op)) return false;
  for (const InEdge& edge : graph.in_edges(v)) {
    if (!constant[edge.source]) return false;
  }
  if (shaped) return shapes_parameter(graph, v);
  return !graph.in_edges(v).empty() || can_hold_its_output(graph, v);
}

bool is(const Graph& graph, uint32_t v, std::string_view op) {
  return v < graph.node_count() && graph.node(v).op == op;
}

bool reads(const Graph& graph, uint32_t v, uint32_t source) {
  for (const InEdge& edge : graph.in_edges(v)) {
    if (edge.source == source) return true;
  }
  return false;
}

// x * Sigmoid(x): one operator, and it keeps the product's name.
void fuse_swish(const Graph& graph, uint32_t v, std::vector<uint32_t>& host) {
  const uint32_t reader = only_reader(graph, v);
  if (!is(graph, v, "Sigmoid") || !is(graph, reader, "Mul") || graph.in_edges(v).empty()) return;
  if (reads(graph, reader, graph.in_edges(v)[0].source)) host[v] = reader;
}

// Nodes from `v` along only readers with these operators; false if the chain is another one.
bool chain(const Graph& graph, uint32_t v, std::initializer_list<std::string_view> ops,
           std::vector<uint32_t>& nodes) {
  nodes.clear();
  for (std::string_view op : ops) {
    if (!is(graph, v, op)) return false;
    nodes.push_back(v);
    v = only_reader(graph, v);
  }
  return true;
}

// What squares read, less its mean.
void fuse_centering(const Graph& graph, uint32_t squares, uint32_t last,
                    std::vector<uint32_t>& host) {
  for (const InEdge& edge : graph.in_edges(squares)) {
    if (!is(graph, edge.source, "Sub")) continue;
    host[edge.source] = last;
    for (const InEdge& mean : graph.in_edges(edge.source)) {
      if (is(graph, mean.source, "ReduceMean")) host[mean.source] = last;
    }
  }
}

// Layer normalization, GELU and products of quantized matrices as exporters spell them out. Of the
// first two all but the last node disappear; without a bias, what centers the values remains.
void fuse_spelled_out(const Graph& graph, uint32_t v, std::vector<uint32_t>& host) {
  std::vector<uint32_t> nodes;
  if (chain(graph, v, {"Pow", "ReduceMean", "Add", "Sqrt", "Div", "Mul"}, nodes)) {
    if (const uint32_t bias = only_reader(graph, nodes.back()); is(graph, bias, "Add")) {
      nodes.push_back(bias);
      fuse_centering(graph, v, bias, host);
    }
  } else if (chain(graph, v, {"Erf", "Add", "Mul", "Mul"}, nodes)) {
    const uint32_t scaled = graph.in_edges(v).empty() ? v : graph.in_edges(v)[0].source;
    if (is(graph, scaled, "Div") || is(graph, scaled, "Mul")) host[scaled] = nodes.back();
  } else if (chain(graph, v, {"MatMulInteger", "Cast", "Mul"}, nodes)) {
    host[nodes[1]] = host[nodes[2]] = v;                   // the product is the work
    for (const InEdge& edge : graph.in_edges(nodes[2])) {  // of the two scales
      if (is(graph, edge.source, "Mul") && only_reader(graph, edge.source) == nodes[2]) {
        host[edge.source] = v;
      }
    }
    return;
  } else {
    return;
  }
  for (size_t i = 0; i + 1 < nodes.size(); ++i) host[nodes[i]] = nodes.back();
}

// A convolution whose only reader adds it to another tensor does the addition on the way: that
// convolution, or else `v`.
uint32_t residual_host(const Graph& graph, uint32_t v, const std::vector<bool>& convolution) {
  if (!is(graph, v, "Add")) return v;
  for (const InEdge& edge : graph.in_edges(v)) {
    if (convolution[edge.source] && graph.out_edges(edge.source).size() == 1) return edge.source;
  }
  return v;
}

}  // namespace

std::vector<bool> computed_from_parameters(const Graph& graph) {
  std::vector<bool> constant(graph.node_count(), false);
  for (uint32_t v : graph.topological_order()) constant[v] = from_parameters(graph, v, constant);
  return constant;
}

std::vector<uint32_t> fusion_hosts(const Graph& graph) {
  const uint32_t n = graph.node_count();
  const std::vector<bool> constant = computed_from_parameters(graph);
  std::vector<uint32_t> host(n);
  std::iota(host.begin(), host.end(), 0u);
  std::vector<bool> carrier(n, false), convolution(n, false);
  for (uint32_t v : graph.topological_order()) {
    const std::string& op = graph.node(v).op;
    if (constant[v] || op == "Identity" || op == "Dropout") host[v] = kNoIndex;
    carrier[v] = carries_fusion(op);
    convolution[v] = op == "Conv" || op == "FusedConv";
    fuse_swish(graph, v, host);
    fuse_spelled_out(graph, v, host);
    const uint32_t source = sole_producer(graph, v);
    const bool joins =
        source != v && carrier[source] &&
        (holds_word(kActivations, op) ||
         (holds_word(kWithParameter, op) && graph.node(v).resident_bytes >= kLeastParameterBytes));
    const uint32_t residual = residual_host(graph, v, convolution);
    if (joins || residual != v) {
      host[v] = joins ? source : residual;
      carrier[v] = true;
      convolution[v] = joins && convolution[source];
    }
  }
  return host;
}

std::vector<bool> fused_nodes(const Graph& graph) {
  const std::vector<uint32_t> host = fusion_hosts(graph);
  std::vector<bool> fused(host.size());
  for (uint32_t v = 0; v < host.size(); ++v) fused[v] = host[v] != v;
  return fused;
}

}  // namespace placeto
