#include "tools/onnx/value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tools/io/element_names.h"

namespace placeto {
namespace {

using onnx::TensorProto;

bool whole_type(int32_t type) {
  switch (type) {
    case TensorProto::BOOL:
    case TensorProto::INT8:
    case TensorProto::UINT8:
    case TensorProto::INT16:
    case TensorProto::UINT16:
    case TensorProto::INT32:
    case TensorProto::UINT32:
    case TensorProto::INT64:
      return true;
    default:
      return false;
  }
}

bool real_type(int32_t type) {
  return type == TensorProto::FLOAT || type == TensorProto::DOUBLE || type == TensorProto::FLOAT16;
}

double half_to_double(uint16_t half) {
  const int sign = half >> 15, exponent = half >> 10 & 31, fraction = half & 1023;
  double value = exponent == 0    ? std::ldexp(fraction, -24)
                 : exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                  : std::ldexp(1024 + fraction, exponent - 25);
  return sign != 0 ? -value : value;
}

template <class T>
void unpack(const std::string& raw, size_t count, std::vector<int64_t>& out) {
  for (size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, raw.data() + i * sizeof element, sizeof element);
    out.push_back(static_cast<int64_t>(element));
  }
}

template <class T>
void unpack(const std::string& raw, size_t count, std::vector<double>& out) {
  for (size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, raw.data() + i * sizeof element, sizeof element);
    if constexpr (std::is_same_v<T, uint16_t>) {
      out.push_back(half_to_double(element));
    } else {
      out.push_back(static_cast<double>(element));
    }
  }
}

void read_raw(const TensorProto& tensor, size_t count, Constant& constant) {
  const std::string& raw = tensor.raw_data();
  switch (tensor.data_type()) {
    case TensorProto::BOOL:
    case TensorProto::UINT8:
      return unpack<uint8_t>(raw, count, constant.ints);
    case TensorProto::INT8:
      return unpack<int8_t>(raw, count, constant.ints);
    case TensorProto::INT16:
      return unpack<int16_t>(raw, count, constant.ints);
    case TensorProto::UINT16:
      return unpack<uint16_t>(raw, count, constant.ints);
    case TensorProto::INT32:
      return unpack<int32_t>(raw, count, constant.ints);
    case TensorProto::UINT32:
      return unpack<uint32_t>(raw, count, constant.ints);
    case TensorProto::INT64:
      return unpack<int64_t>(raw, count, constant.ints);
    case TensorProto::FLOAT:
      return unpack<float>(raw, count, constant.reals);
    case TensorProto::DOUBLE:
      return unpack<double>(raw, count, constant.reals);
    case TensorProto::FLOAT16:
      return unpack<uint16_t>(raw, count, constant.reals);
    default:
      return;
  }
}

void read_typed(const TensorProto& tensor, Constant& constant) {
  switch (tensor.data_type()) {
    case TensorProto::INT64:
      constant.ints.assign(tensor.int64_data().begin(), tensor.int64_data().end());
      return;
    case TensorProto::UINT32:
      for (uint64_t x : tensor.uint64_data()) constant.ints.push_back(static_cast<int64_t>(x));
      return;
    case TensorProto::FLOAT:
      constant.reals.assign(tensor.float_data().begin(), tensor.float_data().end());
      return;
    case TensorProto::DOUBLE:
      constant.reals.assign(tensor.double_data().begin(), tensor.double_data().end());
      return;
    case TensorProto::FLOAT16:
      for (int32_t x : tensor.int32_data()) {
        constant.reals.push_back(half_to_double(static_cast<uint16_t>(x)));
      }
      return;
    default:
      constant.ints.assign(tensor.int32_data().begin(), tensor.int32_data().end());
  }
}

Dims dims_of(const google::protobuf::RepeatedField<int64_t>& dims) {
  return {dims.begin(), dims.end()};
}

}  // namespace

bool is_constant_type(int32_t type) {
  return whole_type(type) || real_type(type);
}

bool Constant::whole() const {
  return whole_type(type);
}

int32_t Value::element_type() const {
  if (type.has_tensor_type()) return type.tensor_type().elem_type();
  if (type.has_sparse_tensor_type()) return type.sparse_tensor_type().elem_type();
  return TensorProto::UNDEFINED;
}

std::optional<Dims> Value::dims() const {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
  Dims dims;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    dims.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : kUnknownDim);
  }
  return dims;
}

void Value::set_tensor(int32_t element_type, const Dims& dims) {
  type.Clear();
  auto* tensor = type.mutable_tensor_type();
  tensor->set_elem_type(element_type);
  auto* shape = tensor->mutable_shape();
  for (int64_t dim : dims) {
    auto* added = shape->add_dim();
    if (dim >= 0) added->set_dim_value(dim);
  }
}

void Value::set_constant(Constant content) {
  set_tensor(content.type, content.dims);
  constant = std::make_shared<const Constant>(std::move(content));
}

const Value* Scope::find(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer_) {
    const auto it = scope->values_.find(name);
    if (it != scope->values_.end()) return &it->second;
  }
  return nullptr;
}

std::string lengths_text(const Dims& dims) {
  std::string text;
  for (const int64_t dim : dims) {
    text += (text.empty() ? "" : "x") + (dim >= 0 ? std::to_string(dim) : "?");
  }
  return text.empty() ? "a single number" : text;
}

std::optional<uint64_t> element_count(const Dims& dims) {
  constexpr uint64_t kMost = uint64_t{1} << 62;
  uint64_t count = 1;
  for (int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    const auto length = static_cast<uint64_t>(dim);
    if (length != 0 && count > kMost / length) return std::nullopt;
    count *= length;
  }
  return count;
}

std::optional<uint64_t> tensor_bytes(int32_t type, const Dims& dims) {
  const uint64_t bits = element_bits(type);
  const auto count = element_count(dims);
  if (bits == 0 || !count) return std::nullopt;
  if (*count > (uint64_t{1} << 62) / std::max<uint64_t>(bits / 8, 1)) return std::nullopt;
  const uint64_t elements = 8 / std::min<uint64_t>(bits, 8);  // in a byte
  return bits < 8 ? (*count + elements - 1) / elements : *count * (bits / 8);
}

std::optional<uint64_t> value_bytes(const Value& value) {
  const auto dims = value.dims();
  if (!dims) return std::nullopt;
  return tensor_bytes(value.element_type(), *dims);
}

std::optional<Constant> read_constant(const TensorProto& tensor) {
  Constant constant;
  constant.type = tensor.data_type();
  constant.dims = dims_of(tensor.dims());
  const auto count = element_count(constant.dims);
  const bool external = tensor.data_location() == TensorProto::EXTERNAL;
  if (external || !count || *count > kMaxConstantElements) return std::nullopt;
  if (constant.dims.size() > kMaxRank) return std::nullopt;
  if (!is_constant_type(constant.type)) return std::nullopt;
  if (tensor.has_raw_data()) {
    if (tensor.raw_data().size() != *count * element_bits(constant.type) / 8) return std::nullopt;
    if constexpr (std::endian::native != std::endian::little) return std::nullopt;
    read_raw(tensor, *count, constant);
  } else {
    read_typed(tensor, constant);
  }
  if (constant.size() != *count) return std::nullopt;  // left out, or damaged
  return constant;
}

TensorProto to_tensor(const Constant& constant) {
  TensorProto tensor;
  for (int64_t dim : constant.dims) tensor.add_dims(dim);
  tensor.set_data_type(constant.type);
  for (size_t i = 0; i < constant.size(); ++i) {
    switch (constant.type) {
      case TensorProto::INT64:
        tensor.add_int64_data(constant.ints[i]);
        break;
      case TensorProto::UINT32:
        tensor.add_uint64_data(static_cast<uint64_t>(constant.ints[i]));
        break;
      case TensorProto::DOUBLE:
        tensor.add_double_data(constant.reals[i]);
        break;
      case TensorProto::FLOAT:
      case TensorProto::FLOAT16:  // read as float: only its shape and rough value matter
        tensor.set_data_type(TensorProto::FLOAT);
        tensor.add_float_data(static_cast<float>(constant.reals[i]));
        break;
      default:
        tensor.add_int32_data(static_cast<int32_t>(constant.ints[i]));
    }
  }
  return tensor;
}

Value value_of(const TensorProto& tensor) {
  Value value;
  if (tensor.dims_size() > static_cast<int>(kMaxRank)) return value;
  value.set_tensor(tensor.data_type(), dims_of(tensor.dims()));
  if (auto constant = read_constant(tensor)) {
    value.constant = std::make_shared<const Constant>(*std::move(constant));
  }
  return value;
}

Value value_of(const onnx::SparseTensorProto& tensor) {
  Value value;
  value.set_tensor(tensor.values().data_type(), dims_of(tensor.dims()));
  return value;
}

Value constant_value(const onnx::NodeProto& node) {
  Value value;
  if (const auto* tensor = find_attribute(node, "value")) {
    value = value_of(tensor->t());
  } else if (const auto* sparse = find_attribute(node, "sparse_value")) {
    value = value_of(sparse->sparse_tensor());
  } else if (node.attribute_size() == 1) {
    const auto& attribute = node.attribute(0);
    Constant content;
    const bool real = attribute.name().starts_with("value_float");
    const bool list = attribute.name().ends_with("s");
    content.type = real ? TensorProto::FLOAT : TensorProto::INT64;
    if (real) content.reals.assign(attribute.floats().begin(), attribute.floats().end());
    if (!real) content.ints.assign(attribute.ints().begin(), attribute.ints().end());
    if (!list && real) content.reals = {static_cast<double>(attribute.f())};
    if (!list && !real) content.ints = {attribute.i()};
    if (list) content.dims = {static_cast<int64_t>(content.size())};
    if (attribute.name().starts_with("value_string")) {
      value.set_tensor(TensorProto::STRING, list ? Dims{attribute.strings_size()} : Dims{});
    } else if (content.size() <= kMaxConstantElements) {
      value.set_constant(std::move(content));
    } else {
      value.set_tensor(content.type, content.dims);
    }
  }
  return value;
}

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const char* name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

int64_t int_attribute(const onnx::NodeProto& node, const char* name, int64_t fallback) {
  const auto* attribute = find_attribute(node, name);
  return attribute != nullptr && attribute->has_i() ? attribute->i() : fallback;
}

std::string text_attribute(const onnx::NodeProto& node, const char* name, const char* fallback) {
  const auto* attribute = find_attribute(node, name);
  return attribute != nullptr && attribute->has_s() ? attribute->s() : std::string(fallback);
}

std::vector<int64_t> ints_attribute(const onnx::NodeProto& node, const char* name) {
  const auto* attribute = find_attribute(node, name);
  if (attribute == nullptr) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::optional<size_t> resolve_axis(int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

std::optional<Dims> broadcast(const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {  // counted from the last axis
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    int64_t& out = result[result.size() - 1 - i];
    if (x == y || y == 1) {
      out = x;
    } else if (x == 1) {
      out = y;
    } else if (x == kUnknownDim || y == kUnknownDim) {
      out = std::max(x, y);  // the unknown one is equal or 1
    } else {
      return std::nullopt;
    }
  }
  return result;
}

}  // namespace placeto
