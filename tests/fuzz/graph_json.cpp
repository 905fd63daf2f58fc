// Graph files in JSON: recognised, read, written again, and checked.
#include "runtime/format/graph_file.h"
#include "tests/fuzz/json.h"
#include "tests/fuzz/targets.h"

namespace placeto::fuzz {

int fuzz_graph_json(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes = own_copy(data, size);
  const std::string_view text = as_text(bytes);
  (void)looks_like_json(text);
  (void)detect_json(text);
  auto spec = read_json(text, FileKind::kGraph, decode_graph);
  if (!spec.ok()) return 0;
  check_json_round_trip(*spec, FileKind::kGraph, encode_graph, decode_graph);
  const auto graph = Graph::build(*std::move(spec));
  if (!graph.ok()) return check_refused(graph.status()), 0;
  return 1;
}

}  // namespace placeto::fuzz
