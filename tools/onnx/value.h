// What is known of a tensor before a model runs: its type, its shape, sometimes its content.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/onnx/model.h"

namespace placeto {

inline constexpr int64_t kUnknownDim = -1;
using Dims = std::vector<int64_t>;  // kUnknownDim where an axis is not known

// Whether a Constant can have that TensorProto::DataType.
bool is_constant_type(int32_t type);

// Content of a small tensor. Whole numbers and booleans are in `ints`, others in `reals`.
struct Constant {
  int32_t type = 0;  // onnx::TensorProto::DataType
  Dims dims;
  std::vector<int64_t> ints;
  std::vector<double> reals;

  bool whole() const;
  size_t size() const { return whole() ? ints.size() : reals.size(); }
  double number(size_t i) const { return whole() ? static_cast<double>(ints[i]) : reals[i]; }
};

// Larger tensors are not evaluated: they are weights or activations, not shapes.
inline constexpr size_t kMaxConstantElements = 4096;

// More axes than any engine supports.
inline constexpr size_t kMaxRank = 64;

struct Value {
  onnx::TypeProto type;  // value_case() not set: unknown
  std::shared_ptr<const Constant> constant;
  // Its shape is what the model says of a tensor, or follows from that: it may be out of date.
  bool stated = false;
  int64_t entries = kUnknownDim;  // of a list

  int32_t element_type() const;
  bool is_tensor() const { return type.has_tensor_type(); }
  // nullopt when not even the number of axes is known.
  std::optional<Dims> dims() const;
  void set_tensor(int32_t element_type, const Dims& dims);
  void set_constant(Constant content);  // and the type it has
};

// Values by name in a graph, and in the graphs around it.
class Scope {
 public:
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}
  const Value* find(const std::string& name) const;
  Value& set(const std::string& name, Value value) { return values_[name] = std::move(value); }

 private:
  const Scope* outer_;
  std::map<std::string, Value> values_;
};

// "2x3x?", where "?" is not known.
std::string lengths_text(const Dims& dims);
// Elements of the shape; nullopt if an axis is not known or the count exceeds 2^62.
std::optional<uint64_t> element_count(const Dims& dims);
std::optional<uint64_t> tensor_bytes(int32_t type, const Dims& dims);
// The same of a value; nullopt also for sequences, maps and tensors without a shape.
std::optional<uint64_t> value_bytes(const Value& value);

// The content of a tensor that is loaded in full and has at most kMaxConstantElements elements of a
// numeric type.
std::optional<Constant> read_constant(const onnx::TensorProto& tensor);
onnx::TensorProto to_tensor(const Constant& constant);

// Type, shape and, where it is small and loaded, content of an initializer.
Value value_of(const onnx::TensorProto& tensor);
Value value_of(const onnx::SparseTensorProto& tensor);

// The same of a Constant node.
Value constant_value(const onnx::NodeProto& node);

// Attributes; `fallback` when absent.
const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const char* name);
int64_t int_attribute(const onnx::NodeProto& node, const char* name, int64_t fallback);
std::string text_attribute(const onnx::NodeProto& node, const char* name, const char* fallback);
std::vector<int64_t> ints_attribute(const onnx::NodeProto& node, const char* name);

// An axis counted from the end if negative; nullopt if there is no such axis.
std::optional<size_t> resolve_axis(int64_t axis, size_t rank);
// The shape of an elementwise operator's result by ONNX's multidirectional broadcasting; nullopt if
// the shapes do not go together.
std::optional<Dims> broadcast(const Dims& a, const Dims& b);

}  // namespace placeto
