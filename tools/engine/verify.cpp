#include "tools/engine/verify.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "tools/costs/engine_nodes.h"

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

// The plan's nodes as a graph, for that is what engine's nodes are matched with; nodes of one name
// are one, and have the devices of all of them.
struct PlanGraph {
  GraphSpec spec;
  std::vector<std::vector<std::string>> devices;  // per node
};

PlanGraph graph_of(std::span<const PlannedNode> plan) {
  PlanGraph result;
  std::unordered_map<std::string_view, size_t> index;
  for (const PlannedNode& node : plan) {
    const auto [it, fresh] = index.emplace(node.name, result.devices.size());
    if (fresh) {
      result.spec.nodes.emplace_back();
      result.spec.nodes.back().name = node.name;
      result.spec.nodes.back().op = node.op;
      result.devices.emplace_back();
    }
    result.devices[it->second].push_back(node.device);
  }
  return result;
}

}  // namespace

bool provider_serves(const std::string& provider, const std::string& engine_name) {
  if (provider == engine_name) return true;
  const std::string name = device_prefix(engine_name);
  return std::any_of(std::begin(kServices), std::end(kServices), [&](const Service& service) {
    return name == service.engine_name && provider == service.provider;
  });
}

Result<Verification> verify_run(std::span<const PlannedNode> plan, std::span<const Profile> records,
                                std::span<const DeviceAlias> aliases) {
  PlanGraph planned = graph_of(plan);
  const auto graph = Graph::build(std::move(planned.spec));
  if (!graph.ok()) return graph.status();
  std::vector<bool> seen(graph->node_count(), false);
  Verification result;
  for (const Profile& record : records) {
    const EngineNodes nodes = match_engine_nodes(*graph, {}, record);
    for (size_t i = 0; i < record.nodes.size(); ++i) {
      const ProfiledNode& node = record.nodes[i];
      if (nodes.by_name[i] == kNoGraphNode) {
        ++result.by_engine;
        continue;
      }
      seen[nodes.by_name[i]] = true;
      const std::vector<std::string>& devices = planned.devices[nodes.by_name[i]];
      const auto serves = [&](const std::string& device) {
        const std::string alias = find_alias(device, aliases);
        return provider_serves(node.provider, alias.empty() ? device_prefix(device) : alias);
      };
      if (std::any_of(devices.begin(), devices.end(), serves)) {
        ++result.as_planned;
      } else {
        result.differences.push_back({node.name, node.op, devices.front(), node.provider});
      }
    }
  }
  result.not_seen = static_cast<uint32_t>(std::count(seen.begin(), seen.end(), false));
  return result;
}

}  // namespace placeto
