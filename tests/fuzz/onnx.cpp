// ONNX models: stripped of their weights, parsed, their shapes inferred, made a graph.
#include "runtime/graph/text.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/targets.h"
#include "tools/onnx/import.h"
#include "tools/onnx/without_weights.h"

namespace placeto::fuzz {

int fuzz_onnx(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes = own_copy(data, size);
  (void)looks_like_onnx(bytes);
  // Small, so that hostile sizes meet the limits in memory that a fuzzer has.
  const StripLimits limits{.keep_tensor_bytes = 4096, .max_structure_bytes = 1 << 20};
  const auto light = without_weights(bytes, limits);
  if (!light.ok()) {
    check_refused(light.status());
  } else {
    check(light->size() <= bytes.size() + 64, "a model without weights is not larger");
    const auto again = without_weights(as_bytes(*light), limits);
    check(again.ok() && *again == *light, "what has no weights stays as it is");
  }
  ImportOptions options;
  options.settings.dims = {{"*", 3}};
  const auto imported = import_onnx(bytes, "fuzz", options);
  if (!imported.ok()) return check_refused(imported.status()), 0;
  const GraphSpec& spec = imported->spec;
  check(imported->outputs.size() == spec.nodes.size(), "every node's outputs have names");
  for (size_t v = 0; v < spec.nodes.size(); ++v) {
    check(imported->outputs[v].names.size() == spec.nodes[v].outputs.size(),
          "every output has a size");
    check(spec.nodes[v].bytes_accessed > 0, "every node moves a byte");
  }
  check(Graph::build(spec).ok(), "what is imported is a graph");
  return 1;
}

}  // namespace placeto::fuzz
