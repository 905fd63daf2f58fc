#include "tools/costs/profile_gaps.h"

#include <limits>
#include <string_view>

#include "tools/costs/fusion.h"
#include "tools/costs/operator_class.h"

namespace placeto {
namespace {

bool is_product(std::string_view op) {
  const OperatorClass operator_class = operator_class_of(op);
  return operator_class == OperatorClass::kConvolution ||
         operator_class == OperatorClass::kMatrix || operator_class == OperatorClass::kQuantized ||
         operator_class == OperatorClass::kRecurrent;
}

bool is_attention(std::string_view op) {
  return op.find("Attention") != std::string_view::npos;
}

constexpr size_t kAny = std::numeric_limits<size_t>::max();

// How many products of the graph nodes of the engine may stand for that lead to none of it.
size_t spare_products(const Profile& profile, const EngineNodes& engine) {
  size_t spare = 0;
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    if (engine.node_of[i] != kNoIndex || !engine.joined[i].empty()) continue;
    const std::string& op = profile.nodes[i].op;
    // Parts of the model that were compiled have names of their own.
    if (is_attention(op) || operator_class_of(op) == OperatorClass::kOther) return kAny;
    spare += is_product(op) ? 1 : 0;
  }
  return spare;
}

// From parameters, as far as operators or the importer tell.
std::vector<bool> computed_at_load(const Graph& graph) {
  std::vector<bool> folded = computed_from_parameters(graph);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const NodeSpec& node = graph.node(v);
    if (node.flops == 0 && node.bytes_accessed == 1) folded[v] = true;
  }
  return folded;
}

// Nodes in whose place the engine has one that may stand for products elsewhere.
std::vector<bool> standing_for_others(const Graph& graph, const Profile& profile,
                                      const EngineNodes& engine,
                                      std::span<const uint32_t> time_at) {
  std::vector<bool> stands(graph.node_count(), false);
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    for (const uint32_t v : engine.joined[i]) stands[v] = true;
    const uint32_t v = time_at[i];
    if (v == kNoIndex) continue;
    const std::string& op = profile.nodes[i].op;
    if (is_attention(op) || (is_product(op) && !is_product(graph.node(v).op))) stands[v] = true;
  }
  return stands;
}

// The same, and what is fused behind them.
std::vector<bool> with_fused(const Graph& graph, std::vector<bool> known) {
  const std::vector<bool> fused = fused_nodes(graph);
  for (const uint32_t v : graph.topological_order()) {
    for (const InEdge& in : graph.in_edges(v))
      known[v] = known[v] || (fused[v] && known[in.source]);
  }
  return known;
}

}  // namespace

std::vector<bool> missing_nodes(const Graph& graph, const Profile& profile,
                                const EngineNodes& engine, std::span<const uint32_t> time_at,
                                const std::vector<bool>& known) {
  constexpr double kLeastShare = 0.02;  // of the graph's operations
  const std::vector<bool> none(graph.node_count(), false);
  const size_t spare = spare_products(profile, engine);
  if (spare == kAny) return none;
  const std::vector<bool> folded = computed_at_load(graph);
  const std::vector<bool> stands =
      with_fused(graph, standing_for_others(graph, profile, engine, time_at));
  std::vector<bool> seen = with_fused(graph, known), missing = none;
  std::vector<uint32_t> part;  // connected, without a time
  size_t products = 0;
  double flops = 0, all_flops = 0;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    all_flops += static_cast<double>(graph.node(v).flops);
    if (seen[v] || folded[v]) continue;
    part.assign(1, v);
    seen[v] = true;
    bool is_explained = false;
    size_t here = 0;
    double here_flops = 0;
    const auto visit = [&](uint32_t w) {
      is_explained = is_explained || stands[w];
      if (seen[w] || folded[w]) return;
      seen[w] = true;
      part.push_back(w);
    };
    for (size_t i = 0; i < part.size(); ++i) {
      const NodeSpec& node = graph.node(part[i]);
      here += is_product(node.op) ? 1 : 0;
      here_flops += static_cast<double>(node.flops);
      for (const InEdge& in : graph.in_edges(part[i])) visit(in.source);
      for (const OutEdge& out : graph.out_edges(part[i])) visit(out.target);
    }
    if (is_explained || here == 0) continue;
    products += here;
    flops += here_flops;
    for (const uint32_t w : part) missing[w] = true;
  }
  return products <= spare || flops < kLeastShare * all_flops ? none : missing;
}

}  // namespace placeto
