// Types of elements by name, as ONNX writes them between the brackets of "tensor(int64)", and by
// number, as in onnx::TensorProto::DataType. Those from float8e4m3fn on are newer than
// libonnx 1.12.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace placeto {

// By number; 0 is no type.
inline constexpr const char* kElementNames[] = {"",
                                                "float",
                                                "uint8",
                                                "int8",
                                                "uint16",
                                                "int16",
                                                "int32",
                                                "int64",
                                                "string",
                                                "bool",
                                                "float16",
                                                "double",
                                                "uint32",
                                                "uint64",
                                                "complex64",
                                                "complex128",
                                                "bfloat16",
                                                "float8e4m3fn",
                                                "float8e4m3fnuz",
                                                "float8e5m2",
                                                "float8e5m2fnuz",
                                                "uint4",
                                                "int4",
                                                "float4e2m1",
                                                "float8e8m0",
                                                "uint2",
                                                "int2"};

// "" for a number that is not there.
inline std::string_view element_name(int32_t type) {
  return type >= 0 && static_cast<size_t>(type) < std::size(kElementNames) ? kElementNames[type]
                                                                           : "";
}

// As NumPy and ONNX Runtime call it: "float32" and "float64", the rest as above.
inline std::string_view numpy_name(int32_t type) {
  const std::string_view name = element_name(type);
  return name == "float" ? "float32" : name == "double" ? "float64" : name;
}

// 0 for a name that is not there.
inline int32_t element_named(std::string_view name) {
  for (size_t type = 1; type < std::size(kElementNames); ++type) {
    if (name == kElementNames[type]) return static_cast<int32_t>(type);
  }
  return 0;
}

// The same of what numpy_name says, too.
inline int32_t numpy_named(std::string_view name) {
  return element_named(name == "float32" ? "float" : name == "float64" ? "double" : name);
}

}  // namespace placeto
