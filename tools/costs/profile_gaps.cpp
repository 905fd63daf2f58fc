#include "tools/costs/profile_gaps.h"

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
    const bool is_attention = op.find("Attention") != std::string::npos;
    if (is_attention || (is_product(op) && !is_product(graph.node(v).op))) stands[v] = true;
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
  const std::vector<bool> folded = computed_from_parameters(graph);
  const std::vector<bool> stands = standing_for_others(graph, profile, engine, time_at);
  std::vector<bool> seen = with_fused(graph, known), missing(graph.node_count(), false);
  std::vector<uint32_t> part;  // connected, without a time
  size_t products = 0;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    if (seen[v] || folded[v]) continue;
    part.assign(1, v);
    seen[v] = true;
    bool is_explained = false;
    size_t here = 0;
    const auto visit = [&](uint32_t w) {
      is_explained = is_explained || stands[w];
      if (seen[w] || folded[w]) return;
      seen[w] = true;
      part.push_back(w);
    };
    for (size_t i = 0; i < part.size(); ++i) {
      here += is_product(graph.node(part[i]).op) ? 1 : 0;
      for (const InEdge& in : graph.in_edges(part[i])) visit(in.source);
      for (const OutEdge& out : graph.out_edges(part[i])) visit(out.target);
    }
    if (is_explained || here == 0) continue;
    products += here;
    for (const uint32_t w : part) missing[w] = true;
  }
  size_t spare = 0;
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    const bool leads_nowhere = engine.node_of[i] == kNoIndex && engine.joined[i].empty();
    spare += leads_nowhere && is_product(profile.nodes[i].op) ? 1 : 0;
  }
  if (products <= spare) missing.assign(graph.node_count(), false);
  return missing;
}

}  // namespace placeto
