#include "tools/export/dot.h"

#include <array>

#include "tools/report/table.h"

namespace placeto {
namespace {

// Light enough for black text; neighbours differ for the colour blind (after Tol's "light" scheme).
constexpr std::array<const char*, 9> kColors = {"#77aadd", "#ee8866", "#eedd88",
                                                "#ffaabb", "#99ddff", "#44bb99",
                                                "#bbcc33", "#aaaa00", "#dddddd"};

std::string quote(const std::string& text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string color(size_t device) {
  return kColors[device % kColors.size()];
}

// A box per device that has nodes.
std::string legend(const Placed& placed) {
  std::string text = "  subgraph cluster_devices {\n    label=\"devices\";\n";
  const std::vector<bool> used = used_devices(placed);
  for (size_t d = 0; d < placed.devices.size(); ++d) {
    if (!used[d]) continue;
    text += "    d" + std::to_string(d) + " [label=" + quote(placed.devices[d]) + ", fillcolor=\"" +
            color(d) + "\"];\n";
  }
  return text + "  }\n";
}

}  // namespace

std::string to_dot(const Placed& placed, const Graph& graph) {
  std::string text = "digraph " + quote(placed.graph) +
                     " {\n  node [shape=box, style=filled, fontname=\"Helvetica\"];\n";
  text += legend(placed);
  for (size_t v = 0; v < placed.nodes.size(); ++v) {
    const PlacedNode& node = placed.nodes[v];
    std::string label = quote(node.name);
    if (!node.op.empty()) {
      label.pop_back();
      label += "\\n" + quote(node.op).substr(1);
    }
    text += "  n" + std::to_string(v) + " [label=" + label + ", fillcolor=\"" + color(node.device) +
            "\"];\n";
  }
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const OutEdge& edge : graph.out_edges(v)) {
      text += "  n" + std::to_string(v) + " -> n" + std::to_string(edge.target);
      if (edge.output == kControlEdge) {
        text += " [style=dashed]";
      } else if (placed.nodes[v].device != placed.nodes[edge.target].device) {
        text += " [penwidth=3, label=" + quote(format_bytes(graph.output_bytes(edge.output))) + "]";
      }
      text += ";\n";
    }
  }
  return text + "}\n";
}

}  // namespace placeto
