// Numbers of axes where lengths are not known.
#include <algorithm>
#include <optional>
#include <string_view>

#include "tools/onnx/rules.h"
#include "tools/onnx/shape_rules.h"

namespace placeto {
namespace shape_rules {
namespace {

// Operators whose output has `fixed` axes, and as many more, or fewer, as one input has and another
// has elements. Those of com.microsoft differ.
struct RankRule {
  std::string_view op;
  int64_t fixed = 0;
  int like = -1;     // the input that has as many axes; -1: none
  int counted = -1;  // the input that has as many elements; -1: none
  int64_t sign = 1;  // -1: axes go
};
constexpr RankRule kRankRules[] = {{"Reshape", 0, -1, 1},
                                   {"ConstantOfShape", 0, -1, 0},
                                   {"AffineGrid", 0, -1, 1},
                                   {"Col2Im", 2, -1, 1},
                                   {"Squeeze", 0, 0, 1, -1},
                                   {"Unsqueeze", 0, 0, 1},
                                   {"DFT", 0, 0},
                                   {"STFT", 4},
                                   {"HannWindow", 1},
                                   {"HammingWindow", 1},
                                   {"BlackmanWindow", 1},
                                   {"MelWeightMatrix", 2}};

// nullopt if it is not known, or the rule counts on nothing.
std::optional<int64_t> rank_by(const RankRule& rule, Inputs inputs) {
  int64_t rank = rule.fixed;
  if (rule.like >= 0) {
    const Value* x = known(inputs, static_cast<size_t>(rule.like));
    if (x == nullptr) return std::nullopt;
    rank += static_cast<int64_t>(x->dims()->size());
  }
  if (rule.counted >= 0) {
    const Value* list = known(inputs, static_cast<size_t>(rule.counted));
    if (list == nullptr || list->dims()->size() != 1 || list->dims()->front() < 0) {
      return std::nullopt;
    }
    rank += rule.sign * std::min(list->dims()->front(), kMost);
  }
  return rank;
}

}  // namespace
}  // namespace shape_rules

void give_rank(const onnx::NodeProto& node, std::span<const Value* const> inputs, Value& output) {
  if (output.element_type() == 0 || !output.is_tensor() || output.dims()) return;
  for (const auto& rule : shape_rules::kRankRules) {
    if (rule.op != node.op_type()) continue;
    const auto rank = shape_rules::rank_by(rule, inputs);
    if (!rank || *rank < 0 || *rank > static_cast<int64_t>(kMaxRank)) return;
    output.set_tensor(output.element_type(), Dims(static_cast<size_t>(*rank), kUnknownDim));
  }
}

}  // namespace placeto
