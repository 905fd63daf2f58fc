#include "tools/onnx/attention.h"

#include <algorithm>
#include <string_view>

#include "tools/onnx/shape_rules.h"

namespace placeto {
namespace {

using onnx::NodeProto;
using shape_rules::constant;
using shape_rules::given;
using shape_rules::known;
using Inputs = std::span<const Value* const>;

// How an operator is given queries, keys and values.
enum class Form : uint8_t {
  kOnnx,       // [batch, heads, positions, width], or heads side by side
  kProjected,  // made of one input, [batch, positions, width], by weights
  kApart,      // three inputs with the heads side by side, or several in one
  kGrouped,    // the same with fewer heads of keys and values
  kTokens,     // three inputs without padding: [positions of all batches, width]
  kProjectedTokens
};

// Positions of inputs; 0: the operator has none.
struct Operator {
  std::string_view name;
  Form form;
  size_t past;     // keys of calls before, or of them and values
  size_t counted;  // how many of them there are, where the past is a buffer with room for more
  size_t total;    // how many keys there are, those of this call included
};
constexpr Operator kOwn = {"Attention", Form::kOnnx, 4, 0, 0};
constexpr Operator kMicrosoft[] = {{"Attention", Form::kProjected, 4, 6, 0},
                                   {"DecoderMaskedSelfAttention", Form::kProjected, 4, 6, 0},
                                   {"QAttention", Form::kProjected, 8, 0, 0},
                                   {"PackedAttention", Form::kProjectedTokens, 0, 0, 0},
                                   {"MultiHeadAttention", Form::kApart, 6, 8, 0},
                                   {"DecoderMaskedMultiHeadAttention", Form::kApart, 5, 7, 0},
                                   {"PackedMultiHeadAttention", Form::kTokens, 0, 0, 0},
                                   {"GroupQueryAttention", Form::kGrouped, 3, 0, 6},
                                   {"SparseAttention", Form::kGrouped, 3, 0, 7}};

const Operator* operator_of(const NodeProto& node) {
  if (is_default_domain(node.domain())) return node.op_type() == kOwn.name ? &kOwn : nullptr;
  if (node.domain() != "com.microsoft") return nullptr;
  const auto* const found =
      std::find_if(std::begin(kMicrosoft), std::end(kMicrosoft),
                   [&](const Operator& each) { return each.name == node.op_type(); });
  return found != std::end(kMicrosoft) ? found : nullptr;
}

int64_t both(int64_t a, int64_t b) {
  return a < 0 || b < 0 || a > shape_rules::kMost || b > shape_rules::kMost ? kUnknownDim : a + b;
}
int64_t share(int64_t whole, int64_t count) {
  return whole < 0 || count <= 0 ? kUnknownDim : whole / count;
}
int64_t times(int64_t width, int64_t count) {
  return width < 0 || count <= 0 || width > shape_rules::kMost / count ? kUnknownDim
                                                                       : width * count;
}

// Input i if its shape is known; without axes if it is not.
Dims shape_at(Inputs inputs, size_t i) {
  const Value* x = known(inputs, i);
  return x != nullptr ? *x->dims() : Dims{};
}

// The number that an input holds; kUnknownDim if it is not known.
int64_t number_at(Inputs inputs, size_t i) {
  const Constant* number = i != 0 ? constant(inputs, i) : nullptr;
  const bool is_one = number != nullptr && number->whole() && number->size() == 1;
  return is_one ? std::clamp(number->ints[0], kUnknownDim, shape_rules::kMost) : kUnknownDim;
}

bool read_own(const NodeProto& node, Inputs inputs, AttentionSizes& sizes) {
  const Dims q = shape_at(inputs, 0), k = shape_at(inputs, 1), v = shape_at(inputs, 2);
  if (q.size() != k.size() || q.size() != v.size()) return false;
  const bool apart = q.size() == 4;
  sizes.heads = apart ? q[1] : int_attribute(node, "q_num_heads", 0);
  sizes.key_heads = apart ? k[1] : int_attribute(node, "kv_num_heads", 0);
  if (!apart && (q.size() != 3 || sizes.heads <= 0 || sizes.key_heads <= 0)) return false;
  sizes.batch = q[0], sizes.queries = q[apart ? 2 : 1], sizes.fresh = k[apart ? 2 : 1];
  sizes.width = apart ? q[3] : share(q[2], sizes.heads);
  sizes.value_width = apart ? v[3] : share(v[2], sizes.key_heads);
  sizes.result = {q[0], q[1], times(sizes.value_width, sizes.heads)};
  if (apart) sizes.result = {q[0], q[1], q[2], v[3]};
  return true;
}

// The input is [batch, positions, width], or without batches where there is no padding.
bool read_projected(const NodeProto& node, Inputs inputs, bool padded, AttentionSizes& sizes) {
  const Dims x = shape_at(inputs, 0), weights = shape_at(inputs, 1);
  if (x.size() != (padded ? 3 : 2) || sizes.heads <= 0) return false;
  const auto parts = ints_attribute(node, "qkv_hidden_sizes");
  const bool divided = parts.size() == 3;
  const int64_t each = weights.empty() ? x.back() : share(weights.back(), 3);
  sizes.projects = true;
  sizes.batch = padded ? x[0] : 1;
  sizes.queries = x[x.size() - 2];
  sizes.fresh = sizes.queries;
  sizes.width = share(divided ? parts[0] : each, sizes.heads);
  sizes.value_width = share(divided ? parts[2] : each, sizes.heads);
  sizes.result = x;
  sizes.result.back() = divided ? std::max(parts[2], kUnknownDim) : each;
  return true;
}

// MultiHeadAttention(query, key, value, ...). Query, key and value in one are [batch, positions,
// heads, 3, width]; key and value, of a length of their own, [batch, positions, heads, 2, width].
// Those of an encoder may have their heads apart. DecoderMaskedMultiHeadAttention has all three
// side by side in one.
bool read_apart(Inputs inputs, AttentionSizes& sizes) {
  const Dims q = shape_at(inputs, 0), k = shape_at(inputs, 1), v = shape_at(inputs, 2);
  if ((q.size() != 3 && q.size() != 5) || sizes.heads <= 0) return false;
  const bool in_one = q.size() == 3 && !given(inputs, 1) && !given(inputs, 2);
  sizes.batch = q[0], sizes.queries = q[1], sizes.fresh = q[1];
  sizes.width = q.size() == 5 ? q[4] : share(q[2], in_one ? times(sizes.heads, 3) : sizes.heads);
  sizes.value_width = sizes.width;
  if (k.size() == 4) sizes.fresh = k[2];
  if (k.size() == 3 || k.size() == 5) sizes.fresh = k[1];
  if (v.size() == 3) sizes.value_width = share(v[2], sizes.heads);
  if (v.size() == 4) sizes.value_width = v[3];
  sizes.result = {q[0], q[1], times(sizes.value_width, sizes.heads)};
  return true;
}

// GroupQueryAttention(query, key, value, ...): without a key, the query holds all three.
bool read_grouped(const NodeProto& node, Inputs inputs, AttentionSizes& sizes) {
  const Dims q = shape_at(inputs, 0), k = shape_at(inputs, 1);
  sizes.key_heads = int_attribute(node, "kv_num_heads", 0);
  const bool counted =
      sizes.heads > 0 && sizes.key_heads > 0 && sizes.key_heads <= shape_rules::kMost;
  const bool in_one = !given(inputs, 1);
  if (q.size() != 3 || !counted || (!in_one && k.size() != 3)) return false;
  sizes.batch = q[0], sizes.queries = q[1], sizes.fresh = in_one ? q[1] : k[1];
  sizes.width = share(q[2], in_one ? sizes.heads + 2 * sizes.key_heads : sizes.heads);
  sizes.value_width = sizes.width;
  sizes.window = std::max(int_attribute(node, "local_window_size", kUnknownDim), kUnknownDim);
  sizes.result = {q[0], q[1], times(sizes.width, sizes.heads)};
  return true;
}

// PackedMultiHeadAttention(query, key, value, ...), or all in one: [tokens, heads, 3, width].
bool read_tokens(Inputs inputs, AttentionSizes& sizes) {
  const Dims q = shape_at(inputs, 0), v = shape_at(inputs, 2);
  if ((q.size() != 2 && q.size() != 4) || sizes.heads <= 0) return false;
  sizes.batch = 1, sizes.queries = q[0];
  sizes.width = q.size() == 4 ? q[3] : share(q[1], sizes.heads);
  sizes.value_width = v.size() == 2 ? share(v[1], sizes.heads) : sizes.width;
  sizes.result = {q[0], times(sizes.value_width, sizes.heads)};
  return true;
}

bool read(Form form, const NodeProto& node, Inputs inputs, AttentionSizes& sizes) {
  switch (form) {
    case Form::kOnnx:
      return read_own(node, inputs, sizes);
    case Form::kApart:
      return read_apart(inputs, sizes);
    case Form::kGrouped:
      return read_grouped(node, inputs, sizes);
    case Form::kTokens:
      return read_tokens(inputs, sizes);
    default:
      return read_projected(node, inputs, form == Form::kProjected, sizes);
  }
}

// Where the past is a buffer that has room for what comes, what is kept is that buffer.
bool has_buffer(const Operator& op, const NodeProto& node, Inputs inputs) {
  if (op.name == "SparseAttention" || int_attribute(node, "sliding_window_cache", 0) == 1) {
    return true;
  }
  if (op.name == "MultiHeadAttention") return given(inputs, op.counted);
  return op.counted != 0 && int_attribute(node, "past_present_share_buffer", 0) != 0;
}

void count_keys(const Operator& op, const NodeProto& node, Inputs inputs, AttentionSizes& sizes) {
  const Dims past = op.past != 0 ? shape_at(inputs, op.past) : Dims{};
  const size_t axis = op.form == Form::kProjected ? 3 : 2;
  const int64_t wanted = number_at(inputs, op.total);
  if (past.size() != axis + 2) {
    sizes.total = wanted > 0 ? wanted : sizes.fresh;
    sizes.present = sizes.total;
    return;
  }
  const int64_t room = past[axis];
  const bool counts_all = op.total != 0 && given(inputs, op.total);
  if (has_buffer(op, node, inputs)) {
    sizes.total = counts_all ? wanted : both(number_at(inputs, op.counted), sizes.fresh);
    sizes.present = room;
  } else if (counts_all) {  // the past may be a buffer, which only who runs the model knows
    sizes.total = wanted;
    sizes.present = room < 0 ? kUnknownDim : std::max(room, wanted > 0 ? wanted : sizes.fresh);
  } else {
    sizes.total = both(room, sizes.fresh);
    sizes.present = sizes.total;
  }
}

}  // namespace

std::optional<AttentionSizes> attention_sizes(const NodeProto& node, Inputs inputs) {
  const Operator* op = operator_of(node);
  if (op == nullptr) return std::nullopt;
  AttentionSizes sizes;
  sizes.past = op->past;
  sizes.heads = sizes.key_heads = int_attribute(node, "num_heads", 0);
  if (sizes.heads > shape_rules::kMost || !read(op->form, node, inputs, sizes)) return std::nullopt;
  if (op->form == Form::kTokens || op->form == Form::kProjectedTokens) {
    const Dims places = shape_at(inputs, op->form == Form::kTokens ? 4 : 3);  // [batch, positions]
    sizes.fresh = places.size() == 2 ? places[1] : sizes.queries;
  }
  count_keys(*op, node, inputs, sizes);
  return sizes;
}

}  // namespace placeto
