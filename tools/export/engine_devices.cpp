#include "tools/export/engine_devices.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "runtime/graph/text.h"
#include "tools/devices/device_settings.h"

namespace placeto {
namespace {

constexpr const char* kKnownNames =
    "cpu, gpu, gpu:<ordinal or vendor>, npu, fpga, cuda, dml, accelerator or the name of an "
    "execution provider such as OpenVINOExecutionProvider";

// Execution providers that ONNX Runtime 1.30 has.
constexpr std::array<std::string_view, 21> kProviders = {
    "ACLExecutionProvider",      "AzureExecutionProvider",    "CANNExecutionProvider",
    "CPUExecutionProvider",      "CUDAExecutionProvider",     "CoreMLExecutionProvider",
    "DmlExecutionProvider",      "DnnlExecutionProvider",     "JsExecutionProvider",
    "MIGraphXExecutionProvider", "NnapiExecutionProvider",    "NvTensorRTRTXExecutionProvider",
    "OpenVINOExecutionProvider", "QNNExecutionProvider",      "RknpuExecutionProvider",
    "SNPEExecutionProvider",     "TensorrtExecutionProvider", "VSINPUExecutionProvider",
    "VitisAIExecutionProvider",  "WebGpuExecutionProvider",   "XnnpackExecutionProvider"};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

bool is_known(const std::string& name) {
  const std::string small = lower(name);
  for (const char* known : {"cpu", "gpu", "npu", "fpga", "cuda", "dml", "accelerator"}) {
    if (small == known) return true;
  }
  if (small.starts_with("gpu:") && small.size() > 4) {
    return small.find_first_of("();,= ") == std::string::npos;
  }
  return std::find(kProviders.begin(), kProviders.end(), name) != kProviders.end();
}

// Whether rules for both names can mean the same execution provider. "gpu" is whichever GPU
// provider comes first, and ordinals are looked up among the instances of a session, of which there
// is one per provider.
bool may_share_provider(const std::string& a, const std::string& b) {
  const auto general = [](const std::string& name) {
    const std::string small = lower(name);
    if (small == "cuda" || small == "cudaexecutionprovider") return std::string("cuda");
    if (small == "dml" || small == "dmlexecutionprovider") return std::string("dml");
    if (small == "cpuexecutionprovider") return std::string("cpu");
    if (small == "qnnexecutionprovider" || small == "vitisaiexecutionprovider") {
      return std::string("npu");
    }
    return small.substr(0, small.find(':'));
  };
  const std::string x = general(a), y = general(b);
  if (x == y) return true;
  const auto is_gpu = [](const std::string& name) {
    return name == "gpu" || name == "cuda" || name == "dml";
  };
  if (x == "gpu" || y == "gpu") return is_gpu(x) && is_gpu(y);
  return (x == "accelerator" && y != "cpu") || (y == "accelerator" && x != "cpu");
}

}  // namespace

Result<std::vector<std::string>> engine_devices(const Placed& placed,
                                                std::span<const std::string> given) {
  const std::vector<bool> used = used_devices(placed);
  std::vector<std::string> names(placed.devices.size());
  for (size_t d = 0; d < names.size(); ++d) {
    if (!used[d]) continue;
    const std::string& device = placed.devices[d];
    if (!given.empty()) names[d] = given[d];
    if (names[d].empty()) names[d] = lower(kind_in_name(device));
    if (!is_known(names[d])) {
      return Status::invalid("the engine knows no device " + in_quotes(names[d]) + " for " +
                             in_quotes(device) + ", expected " + kKnownNames +
                             ": see --engine-device");
    }
    for (size_t e = 0; e < d; ++e) {
      if (!used[e] || !may_share_provider(names[d], names[e])) continue;
      return Status::invalid(in_quotes(placed.devices[e]) + " (" + names[e] + ") and " +
                             in_quotes(device) + " (" + names[d] +
                             ") would share an execution provider, and a session has one instance "
                             "of each: make one model per device with --split");
    }
  }
  return names;
}

}  // namespace placeto
