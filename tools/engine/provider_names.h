// Execution providers of ONNX Runtime by the names that options and engine descriptions have for
// them. Names that are not here mean themselves: descriptions may have any.
#pragma once

#include <string>
#include <string_view>

namespace placeto {

struct ProviderName {
  const char* name;
  const char* also;    // another spelling; "": there is none
  const char* listed;  // what the engine lists as available
  const char*
      generic;  // of its one function that appends most; nullptr: has its own, or needs none
};

inline constexpr ProviderName kProviders[] = {
    {"cpu", "", "CPUExecutionProvider", nullptr},
    {"cuda", "", "CUDAExecutionProvider", nullptr},
    {"tensorrt", "trt", "TensorrtExecutionProvider", nullptr},
    {"directml", "dml", "DmlExecutionProvider", "DML"},
    {"openvino", "ov", "OpenVINOExecutionProvider", "OpenVINO"},
    {"qnn", "", "QNNExecutionProvider", "QNN"},
    {"coreml", "", "CoreMLExecutionProvider", "CoreML"},
    {"webgpu", "", "WebGpuExecutionProvider", "WebGPU"},
    {"xnnpack", "", "XnnpackExecutionProvider", "XNNPACK"},
};

// "directml" of "dml", "DirectML" and "DmlExecutionProvider"; what is none of these names is
// returned as it is.
inline std::string provider_named(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const ProviderName& provider : kProviders) {
    if (small == provider.name) return provider.name;
    if (!small.empty() && small == provider.also) return provider.name;
    if (text == provider.listed) return provider.name;
  }
  return std::string(text);
}

}  // namespace placeto
