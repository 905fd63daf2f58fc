#include "tools/devices/providers.h"

#include "tools/io/word_list.h"

#include "runtime/graph/text.h"
#include "tools/devices/device_settings.h"

namespace placeto {
namespace {

// Those of ONNX Runtime 1.30, and ROCm's, which it has no more.
constexpr Provider kProviders[] = {
    {"CPUExecutionProvider", "cpu", "", "", nullptr},
    {"CUDAExecutionProvider", "cuda", "", "gpu", nullptr},
    {"TensorrtExecutionProvider", "tensorrt", "trt", "gpu cuda", nullptr},
    {"DmlExecutionProvider", "directml", "dml", "gpu", "DML"},
    {"OpenVINOExecutionProvider", "openvino", "ov", "gpu npu", "OpenVINO"},
    {"QNNExecutionProvider", "qnn", "", "npu", "QNN"},
    {"CoreMLExecutionProvider", "coreml", "", "gpu npu", "CoreML"},
    {"WebGpuExecutionProvider", "webgpu", "", "gpu", "WebGPU"},
    {"XnnpackExecutionProvider", "xnnpack", "", "cpu", "XNNPACK"},
    {"DnnlExecutionProvider", "", "", "cpu", nullptr},
    {"NvTensorRTRTXExecutionProvider", "", "", "gpu cuda", nullptr},
    {"MIGraphXExecutionProvider", "", "", "gpu", nullptr},
    {"ROCMExecutionProvider", "", "", "gpu", nullptr},
    {"VitisAIExecutionProvider", "", "", "npu", nullptr},
    {"ACLExecutionProvider", "", "", "", nullptr},
    {"AzureExecutionProvider", "", "", "", nullptr},
    {"CANNExecutionProvider", "", "", "", nullptr},
    {"JsExecutionProvider", "", "", "", nullptr},
    {"NnapiExecutionProvider", "", "", "", nullptr},
    {"RknpuExecutionProvider", "", "", "", nullptr},
    {"SNPEExecutionProvider", "", "", "", nullptr},
    {"VSINPUExecutionProvider", "", "", "", nullptr},
};

}  // namespace

std::span<const Provider> providers() {
  return kProviders;
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return small;
}

const Provider* find_provider(std::string_view text) {
  if (text.empty()) return nullptr;
  const std::string small = in_small_letters(text);
  for (const Provider& provider : kProviders) {
    if (text == provider.listed || small == provider.name || small == provider.also) {
      return &provider;
    }
  }
  return nullptr;
}

std::string provider_named(std::string_view text) {
  const Provider* provider = find_provider(text);
  const bool has_name = provider != nullptr && *provider->name != '\0';
  return has_name ? provider->name : std::string(text);
}

std::string provider_names() {
  std::string names;
  for (const Provider& provider : kProviders) {
    if (*provider.name == '\0') continue;
    names += (names.empty() ? "" : ", ") + std::string(provider.name);
    if (*provider.also != '\0') names += " (" + std::string(provider.also) + ")";
  }
  return names;
}

bool runs_on_processor(std::string_view provider, const std::string& device) {
  const Provider* found = find_provider(provider);
  if (found == nullptr) return false;
  const std::string_view name = found->name, devices = found->devices;
  if (name != "openvino") return name == "cpu" || devices == "cpu";
  const auto type = device_type(*found, device);
  return type.ok() && type->empty();
}

std::string ordinal_of(const std::string& device) {
  const size_t colon = device.find(':');
  const std::string number = colon == std::string::npos ? "" : device.substr(colon + 1);
  const bool digits = !number.empty() && number.find_first_not_of("0123456789") == number.npos;
  return digits ? number : "0";
}

Result<std::string> device_type(const Provider& provider, const std::string& device) {
  const std::string kind = in_small_letters(kind_in_name(device)), ordinal = ordinal_of(device);
  const bool is_gpu = kind == "gpu";
  if (!is_gpu && kind != "npu") return std::string();
  const bool is_first = ordinal.find_first_not_of('0') == ordinal.npos;
  const bool is_openvino = std::string_view(provider.name) == "openvino";
  if (!is_first && !(is_openvino && is_gpu)) {
    return Status::invalid("device " + in_quotes(device) + ": ONNX Runtime cannot be told to run " +
                           in_quotes(provider.name) + " on another " + kind + " than the first");
  }
  if (!is_openvino) return std::string();
  return (is_gpu ? "GPU" : "NPU") + (is_first ? "" : "." + ordinal);
}

bool provider_serves(const std::string& listed, const std::string& engine_name) {
  if (listed == engine_name) return true;
  const Provider* provider = find_provider(listed);
  if (provider == nullptr || engine_name.ends_with("ExecutionProvider")) return false;
  const std::string device = engine_name.substr(0, engine_name.find(':'));
  return find_provider(device) == provider ||
         holds_word(provider->devices, in_small_letters(device));
}

}  // namespace placeto
