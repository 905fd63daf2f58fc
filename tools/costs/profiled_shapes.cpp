#include "tools/costs/profiled_shapes.h"

#include "runtime/graph/text.h"

namespace placeto {
namespace {

double elements(const std::vector<int64_t>& shape) {
  double count = 1;
  for (const int64_t axis : shape) count *= static_cast<double>(axis);
  return count;
}

std::string lengths(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t axis : shape) text += (text.empty() ? "" : "x") + std::to_string(axis);
  return text;
}

bool ran_as_it_is(const ProfiledNode& node, uint32_t v, const NodeSpec& spec) {
  return node.op == spec.op && (node.name == spec.name || node.index == v);
}

}  // namespace

std::string ShapeComparison::summary() const {
  return std::to_string(unlike) + " of " + std::to_string(compared) + " nodes, such as " + example;
}

ShapeComparison compare_shapes(const Graph& graph, std::span<const NodeOutputs> outputs,
                               const Profile& profile, const EngineNodes& engine) {
  ShapeComparison found;
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    const ProfiledNode& node = profile.nodes[i];
    const uint32_t v = engine.by_name[i];
    if (v >= outputs.size() || !ran_as_it_is(node, v, graph.node(v))) continue;
    const std::vector<int64_t>& wanted = outputs[v].shape;
    if (node.shape.empty() || wanted.empty()) continue;
    ++found.compared;
    if (elements(node.shape) == elements(wanted)) continue;
    if (found.unlike++ > 0) continue;
    found.example = in_quotes(graph.node(v).name) + " (" + lengths(node.shape) + " instead of " +
                    lengths(wanted) + ")";
  }
  return found;
}

}  // namespace placeto
