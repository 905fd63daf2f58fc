#include "tools/costs/whole_patterns.h"

#include <algorithm>
#include <string_view>

#include "tools/costs/fusion.h"
#include "tools/costs/only_reader.h"
#include "tools/io/word_list.h"

namespace placeto {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

constexpr size_t kLargest = 32;     // nodes of one match
constexpr size_t kMostReaders = 8;  // of a producer that belongs to a match

struct Step {
  std::string_view operators;
  bool optional = false, alone = false;
};

Step parse_step(std::string_view text) {
  Step step{text};
  for (; !step.operators.empty(); step.operators.remove_suffix(1)) {
    const char last = step.operators.back();
    if (last != '?' && last != '+') break;
    (last == '?' ? step.optional : step.alone) = true;
  }
  return step;
}

bool quantizes(std::string_view op) {
  return op == "QuantizeLinear" || op == "DequantizeLinear";
}

bool fits(const Graph& graph, uint32_t v, const Step& step) {
  const std::string& op = graph.node(v).op;
  if (step.alone && graph.in_edges(v).size() > 1) return false;
  return step.operators == "*" ? !quantizes(op) : holds_word(step.operators, op, '|');
}

// The nodes of the chain from v on; empty if it is another one.
std::vector<uint32_t> chain_from(const Graph& graph, uint32_t v, const WholePattern& pattern) {
  std::vector<uint32_t> nodes;
  for (const std::string& text : pattern.chain) {
    const Step step = parse_step(text);
    if (v < graph.node_count() && fits(graph, v, step)) {
      nodes.push_back(v);
      v = only_reader(graph, v);
    } else if (!step.optional) {
      return {};
    }
  }
  return nodes;
}

bool contains(const std::vector<uint32_t>& nodes, uint32_t v) {
  return std::find(nodes.begin(), nodes.end(), v) != nodes.end();
}

bool read_only_by(const Graph& graph, uint32_t v, const std::vector<uint32_t>& nodes) {
  const auto out = graph.out_edges(v);
  return out.size() <= kMostReaders &&
         std::all_of(out.begin(), out.end(),
                     [&](const OutEdge& edge) { return contains(nodes, edge.target); });
}

// Adds the producers that belong to the nodes.
void add_producers(const Graph& graph, std::string_view with, std::vector<uint32_t>& nodes) {
  if (with.empty()) return;
  for (size_t at = 0; at < nodes.size(); ++at) {
    const auto in = graph.in_edges(nodes[at]);
    if (in.size() > kLargest) continue;
    for (const InEdge& edge : in) {
      if (nodes.size() >= kLargest) return;
      if (contains(nodes, edge.source) || !holds_word(with, graph.node(edge.source).op, '|'))
        continue;
      if (read_only_by(graph, edge.source, nodes)) nodes.push_back(edge.source);
    }
  }
}

// Engines compute them when they load the model.
void join_computed_parameters(const Graph& graph, Pairs& pairs) {
  const std::vector<bool> constant = computed_from_parameters(graph);
  for (uint32_t v : graph.topological_order()) {
    const uint32_t reader = only_reader(graph, v);
    if (constant[v] && reader < graph.node_count()) pairs.emplace_back(v, reader);
  }
}

}  // namespace

std::span<const WholePattern> default_whole_patterns() {
  static const std::vector<WholePattern> patterns = {
      {"convolution with normalization and activation",
       {"Conv|ConvTranspose|FusedConv", "BatchNormalization?", "Mul+?", "Add+?",
        "Relu|Clip|LeakyRelu|Sigmoid|Tanh|HardSigmoid|HardSwish?"},
       "",
       false},
      {"product with bias and activation",
       {"MatMul|FusedMatMul", "Add+", "Relu|Clip|LeakyRelu|Sigmoid|Tanh?"},
       "",
       false},
      {"general product with activation",
       {"Gemm|FusedGemm", "Relu|Clip|LeakyRelu|Sigmoid|Tanh?"},
       "",
       false},
      {"product of dynamically quantized matrices",
       {"MatMulInteger|ConvInteger", "Cast", "Mul", "Add+?"},
       "Mul",
       false},
      {"quantized operator",
       {"*", "Relu|Clip|LeakyRelu?", "QuantizeLinear"},
       "DequantizeLinear",
       true},
      {"operator on dequantized tensors",
       {"Conv|ConvTranspose|MatMul|Gemm|MatMulNBits|Gather"},
       "DequantizeLinear",
       true},
      {"layer normalization",
       {"Pow|Mul", "ReduceMean", "Add", "Sqrt", "Div", "Mul?", "Add+?"},
       "Sub|ReduceMean|Cast",
       true},
      {"root mean square normalization",
       {"Pow|Mul", "ReduceMean", "Add", "Sqrt", "Reciprocal|Div", "Mul?", "Mul+?"},
       "Cast",
       false},
      {"GELU", {"Erf", "Add", "Mul", "Mul?"}, "Div|Mul", false},
      {"GELU by tanh", {"Tanh", "Add", "Mul", "Mul?"}, "Mul|Add|Pow", true},
      {"swish", {"Sigmoid|HardSigmoid", "Mul"}, "Mul", false},
      {"attention", {"MatMul", "Div|Mul?", "Add|Where?", "Softmax", "MatMul"}, "", false},
  };
  return patterns;
}

Pairs pairs_kept_whole(const Graph& graph, std::span<const WholePattern> patterns) {
  Pairs pairs;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const WholePattern& pattern : patterns) {
      std::vector<uint32_t> nodes = chain_from(graph, v, pattern);
      if (nodes.empty()) continue;
      const size_t chain = nodes.size();
      add_producers(graph, pattern.with, nodes);
      if (pattern.needs_with && nodes.size() == chain) continue;
      for (size_t i = 1; i < nodes.size(); ++i) pairs.emplace_back(nodes[0], nodes[i]);
    }
  }
  if (!patterns.empty()) join_computed_parameters(graph, pairs);
  return pairs;
}

}  // namespace placeto
