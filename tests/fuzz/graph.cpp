// Binary graph files: decoded, written again, and built.
#include "runtime/format/graph_file.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/targets.h"

namespace placeto::fuzz {

int fuzz_graph(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes = own_copy(data, size);
  auto spec = decode_graph(bytes);
  if (!spec.ok()) return check_refused(spec.status()), 0;
  check_round_trip(*spec, encode_graph, decode_graph);
  const auto graph = Graph::build(*std::move(spec));
  if (!graph.ok()) return check_refused(graph.status()), 0;
  check(graph->topological_order().size() == graph->node_count(), "every node has its turn");
  return 1;
}

}  // namespace placeto::fuzz
