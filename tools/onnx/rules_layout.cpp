// Shapes of operators that lay the same elements out otherwise.
#include <algorithm>

#include "tools/onnx/rules.h"
#include "tools/onnx/shape_rules.h"

namespace placeto {
namespace shape_rules {
namespace {

using onnx::NodeProto;

// Reshape(data) by an attribute, as before operator set 5: 0 keeps a length, -1 is what is left.
bool reshape_as_said(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || given(inputs, 1) || find_attribute(node, "shape") == nullptr) return false;
  const Dims in = *x->dims();
  Dims dims = ints_attribute(node, "shape");
  if (dims.size() > kMaxRank || std::count(dims.begin(), dims.end(), -1) > 1) return false;
  for (size_t a = 0; a < dims.size(); ++a) {
    if (dims[a] < -1 || (dims[a] == 0 && a >= in.size())) return false;
    if (dims[a] == 0) dims[a] = in[a];
  }
  const auto rest = std::find(dims.begin(), dims.end(), -1);
  const auto all = element_count(in);
  if (rest != dims.end() && all) {
    *rest = 1;
    const auto others = element_count(dims);
    *rest = others && *others != 0 ? static_cast<int64_t>(*all / *others) : kUnknownDim;
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// ConcatFromSequence(list): along an axis that its tensors have, or a new one.
bool joined_list(const NodeProto& node, Inputs inputs, Outputs outputs) {
  if (!given(inputs, 0) || !inputs[0]->type.has_sequence_type()) return false;
  const Value element = {inputs[0]->type.sequence_type().elem_type(), nullptr};
  auto dims = element.dims();
  const bool is_new = int_attribute(node, "new_axis", 0) != 0;
  if (!dims || find_attribute(node, "axis") == nullptr) return false;
  const auto at =
      resolve_axis(int_attribute(node, "axis", 0), is_new ? dims->size() + 1 : dims->size());
  if (!at) return false;
  if (is_new) dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(*at), 1);
  int64_t& length = (*dims)[*at];
  const int64_t entries = inputs[0]->entries;
  const bool is_known = length >= 0 && entries >= 0 && (entries == 0 || length <= kMost / entries);
  length = is_known ? length * entries : kUnknownDim;
  set(outputs, 0, element.element_type(), *dims);
  return true;
}

}  // namespace

void add_layouts(Rules& rules) {
  rules["Reshape"] = reshape_as_said;
  rules["ConcatFromSequence"] = joined_list;
}

}  // namespace shape_rules

void count_entries(const onnx::NodeProto& node, std::span<const Value* const> inputs,
                   Value& output) {
  const std::string& op = node.op_type();
  const int64_t before = shape_rules::given(inputs, 0) ? inputs[0]->entries : kUnknownDim;
  if (op == "SequenceConstruct") output.entries = node.input_size();
  if (op == "SequenceEmpty") output.entries = 0;
  if (op == "SequenceInsert" && before >= 0) output.entries = before + 1;
  if (op == "SequenceErase" && before > 0) output.entries = before - 1;
}

}  // namespace placeto
