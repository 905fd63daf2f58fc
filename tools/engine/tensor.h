// Tensors as bytes with a type and a shape: what enters and leaves a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace placeto {

// The numbers of onnx::TensorProto::DataType, which ONNX Runtime uses too.
enum class Element : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
};

// 0 for what is no number of at least a byte that is known here: strings, complex numbers, float8.
size_t element_bytes(Element element);
// "float32", as NumPy calls it; "type 99" for one that nobody knows.
std::string element_name(Element element);

// An input or output of a model as the engine declares it.
struct TensorInfo {
  std::string name;
  Element element = Element::kUndefined;  // kUndefined: no tensor
  std::vector<int64_t> shape;             // -1: not known before the run
  std::vector<std::string> symbols;       // per axis, "" for those without
};

// Of a tensor whose axes are all known; as many as there can be where that is more: no memory is so
// large.
uint64_t shape_bytes(Element element, std::span<const int64_t> shape);

// Memory that begins on a cache line, zeroed.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes);
  std::span<std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

// The same numbers on every run and machine: floats in [0, 1), the whole number 1 in other types,
// so that they are valid as indices, lengths and masks.
void fill_inputs(Element element, uint64_t seed, std::span<std::byte> out);
// One number everywhere.
Status fill_value(Element element, double value, std::span<std::byte> out);

// The numbers of an .npy file, if element type, shape and byte order are those wanted, or of a file
// that holds nothing else, if it has as many bytes. All axes of the shape must be known.
Status read_tensor_file(const std::string& path, const TensorInfo& wanted,
                        std::span<std::byte> out);

// The largest of |a - b| / (1 + |b|); infinity where one is not a number and the other is. For
// types that hold no numbers 0 or infinity: equal bytes or not.
double deviation(Element element, std::span<const std::byte> a, std::span<const std::byte> b);

// How far two right results may deviate when what they follow from is rounded to such elements:
// engines add up in orders of their own, and round more often where a model is cut.
double usual_deviation(Element element);

}  // namespace placeto
