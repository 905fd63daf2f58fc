// Types of elements by number, as in onnx::TensorProto::DataType: their sizes, and their names as
// ONNX writes them between the brackets of "tensor(int64)". Those from float8e4m3fn on are newer
// than libonnx 1.12.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace placeto {

struct ElementType {
  const char* name;
  uint64_t bits;  // as engines hold it in memory; of strings the 32 bytes of a std::string
};

// By number; 0 is no type.
inline constexpr ElementType kElementTypes[] = {{"", 0},
                                                {"float", 32},
                                                {"uint8", 8},
                                                {"int8", 8},
                                                {"uint16", 16},
                                                {"int16", 16},
                                                {"int32", 32},
                                                {"int64", 64},
                                                {"string", 256},
                                                {"bool", 8},
                                                {"float16", 16},
                                                {"double", 64},
                                                {"uint32", 32},
                                                {"uint64", 64},
                                                {"complex64", 64},
                                                {"complex128", 128},
                                                {"bfloat16", 16},
                                                {"float8e4m3fn", 8},
                                                {"float8e4m3fnuz", 8},
                                                {"float8e5m2", 8},
                                                {"float8e5m2fnuz", 8},
                                                {"uint4", 4},
                                                {"int4", 4},
                                                {"float4e2m1", 4},
                                                {"float8e8m0", 8},
                                                {"uint2", 2},
                                                {"int2", 2}};

// Null for a number that is not there.
inline const ElementType* element_type(int32_t type) {
  const bool is_there = type >= 0 && static_cast<size_t>(type) < std::size(kElementTypes);
  return is_there ? &kElementTypes[type] : nullptr;
}

// "" for a number that is not there.
inline std::string_view element_name(int32_t type) {
  const ElementType* known = element_type(type);
  return known == nullptr ? "" : known->name;
}

// 0 for a number that is not there.
inline uint64_t element_bits(int32_t type) {
  const ElementType* known = element_type(type);
  return known == nullptr ? 0 : known->bits;
}

// As NumPy and ONNX Runtime call it: "float32" and "float64", the rest as above.
inline std::string_view numpy_name(int32_t type) {
  const std::string_view name = element_name(type);
  return name == "float" ? "float32" : name == "double" ? "float64" : name;
}

// 0 for a name that is not there.
inline int32_t element_named(std::string_view name) {
  for (size_t type = 1; type < std::size(kElementTypes); ++type) {
    if (name == kElementTypes[type].name) return static_cast<int32_t>(type);
  }
  return 0;
}

// The same of what numpy_name says, too.
inline int32_t numpy_named(std::string_view name) {
  return element_named(name == "float32" ? "float" : name == "float64" ? "double" : name);
}

}  // namespace placeto
