// Run times in their forms, told by the beginning: profiles of ONNX Runtime and TensorRT ('['),
// counters of OpenVINO, efficiency files ('{'), and tables of node, kind and time.
#include <cmath>

#include "tests/fuzz/check.h"
#include "tests/fuzz/targets.h"
#include "tools/costs/any_profile.h"
#include "tools/costs/efficiency_file.h"
#include "tools/costs/measured.h"

namespace placeto::fuzz {
namespace {

//   conv - relu - gemm
Graph small_graph() {
  GraphSpec spec;
  spec.name = "small";
  for (const char* op : {"Conv", "Relu", "Gemm"}) {
    NodeSpec node;
    node.name = std::string(op) + "_node";
    node.op = op;
    node.outputs = {64};
    spec.nodes.push_back(std::move(node));
  }
  spec.edges = {{0, 0, 1}, {1, 0, 2}};
  return *Graph::build(std::move(spec));
}

int read_profile_text(std::string_view text) {
  const auto profile = parse_any_profile(text);
  if (!profile.ok()) return check_refused(profile.status()), 0;
  check(!profile->nodes.empty() && profile->runs > 0, "a profile holds nodes and runs");
  double spent = 0;
  for (const ProfiledNode& node : profile->nodes) spent += node.median_us;
  check(std::isfinite(spent) && spent >= 0, "times are times");
  const Graph graph = small_graph();
  Coverage coverage;
  const auto costs = costs_from_profile(graph, {}, *profile, "cpu", coverage);
  if (!costs.ok()) return check_refused(costs.status()), 1;
  double total = 0;
  bool knows_all = true;
  for (const auto& us : costs->us) {
    total += us.value_or(0);
    knows_all = knows_all && us.has_value();
  }
  check(std::abs(total - spent) <= 1e-9 * (1 + total), "no time is lost");
  GraphSpec spec = graph.spec();
  check(set_costs(graph, {&*costs, 1}, {}, spec).ok() == knows_all, "every node needs a time");
  return 1;
}

int read_efficiency_text(std::string_view text) {
  const auto efficiencies = efficiencies_from_json(text);
  if (!efficiencies.ok()) return check_refused(efficiencies.status()), 0;
  const auto again = efficiencies_from_json(efficiencies_to_json(*efficiencies));
  check(again.ok(), "efficiencies survive being written and read");
  const Graph graph = small_graph();
  GraphSpec spec = graph.spec();
  check(set_costs(graph, {}, {&*efficiencies, 1}, spec).ok(), "every node has an estimate");
  return 1;
}

int read_table_text(std::string_view text) {
  const Graph graph = small_graph();
  const auto costs = costs_from_table(graph, text);
  if (!costs.ok()) return check_refused(costs.status()), 0;
  check(!costs->empty(), "a table holds a time");
  return 1;
}

}  // namespace

int fuzz_profile(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes = own_copy(data, size);
  const std::string_view text = as_text(bytes);
  if (text.starts_with('[') || text.starts_with("layerName;")) return read_profile_text(text);
  if (text.starts_with('{')) return read_efficiency_text(text);
  return read_table_text(text);
}

}  // namespace placeto::fuzz
