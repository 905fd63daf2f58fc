#include "tools/engine/verify.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

namespace placeto {
namespace {

struct Service {
  const char* engine_name;
  const char* provider;
};
// Names that ONNX Runtime 1.30 takes for devices, and the providers that stand behind them.
constexpr Service kServices[] = {
    {"cpu", "CPUExecutionProvider"},           {"cpu", "XnnpackExecutionProvider"},
    {"cpu", "DnnlExecutionProvider"},          {"cuda", "CUDAExecutionProvider"},
    {"cuda", "TensorrtExecutionProvider"},     {"cuda", "NvTensorRTRTXExecutionProvider"},
    {"dml", "DmlExecutionProvider"},           {"gpu", "CUDAExecutionProvider"},
    {"gpu", "TensorrtExecutionProvider"},      {"gpu", "NvTensorRTRTXExecutionProvider"},
    {"gpu", "DmlExecutionProvider"},           {"gpu", "ROCMExecutionProvider"},
    {"gpu", "MIGraphXExecutionProvider"},      {"gpu", "WebGpuExecutionProvider"},
    {"gpu", "CoreMLExecutionProvider"},        {"gpu", "OpenVINOExecutionProvider"},
    {"npu", "QNNExecutionProvider"},           {"npu", "VitisAIExecutionProvider"},
    {"npu", "OpenVINOExecutionProvider"},      {"npu", "CoreMLExecutionProvider"},
    {"tensorrt", "TensorrtExecutionProvider"}, {"openvino", "OpenVINOExecutionProvider"},
    {"qnn", "QNNExecutionProvider"},           {"coreml", "CoreMLExecutionProvider"},
    {"webgpu", "WebGpuExecutionProvider"},     {"xnnpack", "XnnpackExecutionProvider"},
};

// What the engine puts before or behind the name of a node that it changed.
constexpr const char* kPrefixes[] = {"fused "};
constexpr const char* kSuffixes[] = {"_nchwc", "_nhwc", "_quant", "_token_", "/MatMulAddFusion"};

using Plan = std::unordered_map<std::string, std::vector<std::string>>;  // devices by node

const std::vector<std::string>* find_node(const Plan& plan, std::string name) {
  for (;;) {
    if (const auto it = plan.find(name); it != plan.end()) return &it->second;
    const size_t before = name.size();
    for (const std::string prefix : kPrefixes) {
      if (name.starts_with(prefix)) name.erase(0, prefix.size());
    }
    for (const std::string suffix : kSuffixes) {
      if (const size_t at = name.rfind(suffix); at != std::string::npos && at > 0) name.resize(at);
    }
    if (name.size() == before) return nullptr;
  }
}

}  // namespace

bool provider_serves(const std::string& provider, const std::string& engine_name) {
  if (provider == engine_name) return true;
  const std::string name = device_prefix(engine_name);
  return std::any_of(std::begin(kServices), std::end(kServices), [&](const Service& service) {
    return name == service.engine_name && provider == service.provider;
  });
}

Verification verify_run(std::span<const PlannedNode> plan, std::span<const Profile> records,
                        std::span<const DeviceAlias> aliases) {
  Plan devices;
  for (const PlannedNode& node : plan) devices[node.name].push_back(node.device);
  std::unordered_set<const std::vector<std::string>*> seen;
  Verification result;
  for (const Profile& record : records) {
    for (const ProfiledNode& node : record.nodes) {
      const auto* planned = find_node(devices, node.name);
      if (planned == nullptr) {
        ++result.by_engine;
        continue;
      }
      seen.insert(planned);
      const auto serves = [&](const std::string& device) {
        const std::string alias = find_alias(device, aliases);
        return provider_serves(node.provider, alias.empty() ? device_prefix(device) : alias);
      };
      if (std::any_of(planned->begin(), planned->end(), serves)) {
        ++result.as_planned;
      } else {
        result.differences.push_back({node.name, node.op, planned->front(), node.provider});
      }
    }
  }
  result.not_seen = static_cast<uint32_t>(devices.size() - seen.size());
  return result;
}

}  // namespace placeto
