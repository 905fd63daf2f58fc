#include "tools/onnx/completeness.h"

#include <algorithm>

#include "runtime/graph/text.h"
#include "tools/io/element_names.h"

namespace placeto {
namespace {

// What is not known of a value's shape, in words.
std::string open_part(const Value& value) {
  const auto dims = value.dims();
  if (!dims) return "the shape";
  std::string axes;
  for (size_t a = 0; a < dims->size(); ++a) {
    if ((*dims)[a] < 0) axes += (axes.empty() ? " along axis " : ", ") + std::to_string(a);
  }
  return "the shape" + axes;
}

}  // namespace

bool has_size(const Value& value) {
  return value.is_tensor() && value_bytes(value).has_value();
}

bool overflows(const Value& value) {
  const auto dims = value.dims();
  return dims && !has_size(value) && element_bits(value.element_type()) > 0 &&
         std::find_if(dims->begin(), dims->end(), [](int64_t dim) { return dim < 0; }) ==
             dims->end();
}

void check_complete(const onnx::NodeProto& node, const std::vector<Value>& outputs,
                    NodeAnalysis& result) {
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty() || has_size(outputs[static_cast<size_t>(i)])) continue;
    result.complete = false;
    if (overflows(outputs[static_cast<size_t>(i)])) {
      result.problem =
          "its output " + in_quotes(node.output(i)) + " overflows: more than 2^62 bytes";
    } else if (result.problem.empty()) {
      result.problem = open_part(outputs[static_cast<size_t>(i)]) + " of its output " +
                       in_quotes(node.output(i)) +
                       " depends on data, or does not follow from its inputs";
    }
    return;
  }
  // What a body lacks shows in its node's work.
  if (result.work.operator_class == OperatorClass::kControl && !result.problem.empty()) {
    result.complete = false;
    return;
  }
  result.problem.clear();
}

}  // namespace placeto
