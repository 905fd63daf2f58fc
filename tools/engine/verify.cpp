#include "tools/engine/verify.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "tools/costs/engine_nodes.h"
#include "tools/engine/provider_names.h"

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
// are one, and have the devices and stages of all of them.
struct PlanGraph {
  GraphSpec spec;
  std::vector<std::vector<std::string>> devices;  // per node
  std::vector<std::vector<uint32_t>> stages;      // per node, indices into stage_names
  std::vector<std::string> stage_names;
};

// Of the stages that the plan names, in its order.
class StageIndex {
 public:
  explicit StageIndex(std::vector<std::string>& names) : names_(names) {}
  uint32_t of(const std::string& name) {
    const auto [it, fresh] = index_.emplace(name, static_cast<uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return it->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, uint32_t> index_;
};

PlanGraph graph_of(std::span<const PlannedNode> plan) {
  PlanGraph result;
  std::unordered_map<std::string_view, size_t> index;
  StageIndex stages(result.stage_names);
  for (const PlannedNode& node : plan) {
    const auto [it, fresh] = index.emplace(node.name, result.devices.size());
    if (fresh) {
      result.spec.nodes.emplace_back();
      result.spec.nodes.back().name = node.name;
      result.spec.nodes.back().op = node.op;
      result.devices.emplace_back();
      result.stages.emplace_back();
    }
    result.devices[it->second].push_back(node.device);
    if (!node.stage.empty()) result.stages[it->second].push_back(stages.of(node.stage));
  }
  return result;
}

bool same_record(const Profile& a, const Profile& b) {
  const auto same = [](const ProfiledNode& x, const ProfiledNode& y) {
    return x.name == y.name && x.provider == y.provider && x.op == y.op && x.index == y.index &&
           x.median_us == y.median_us;
  };
  return a.runs == b.runs && a.median_run_us == b.median_run_us &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same);
}

// Whether one of those before it is the same.
bool is_repeated(std::span<const Profile> records, size_t at) {
  return std::any_of(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(at),
                     [&](const Profile& before) { return same_record(before, records[at]); });
}

// Whether no stage has all of the nodes that were seen.
bool spans_stages(const PlanGraph& planned, const std::vector<bool>& seen) {
  std::vector<uint32_t> common;
  bool first = true;
  for (size_t v = 0; v < seen.size(); ++v) {
    if (!seen[v] || planned.stages[v].empty()) continue;
    const std::vector<uint32_t>& own = planned.stages[v];
    if (first) common = own;
    first = false;
    std::erase_if(common, [&](uint32_t s) { return std::ranges::find(own, s) == own.end(); });
    if (common.empty()) return true;
  }
  return false;
}

// What was not seen: whole stages, unless they ran `together`, and nodes of the others.
void add_unseen(const PlanGraph& planned, const std::vector<bool>& seen, bool together,
                Verification& result) {
  std::vector<bool> ran(planned.stage_names.size(), together);
  for (size_t v = 0; v < seen.size(); ++v) {
    if (!seen[v]) continue;
    for (const uint32_t s : planned.stages[v]) ran[s] = true;
  }
  for (size_t s = 0; s < ran.size(); ++s) {
    if (!ran[s]) result.not_run.push_back(planned.stage_names[s]);
  }
  for (size_t v = 0; v < seen.size(); ++v) {
    const std::vector<uint32_t>& stages = planned.stages[v];
    const bool in_run =
        stages.empty() || std::ranges::any_of(stages, [&](auto s) { return ran[s]; });
    if (!seen[v] && in_run) ++result.not_seen;
  }
}

}  // namespace

bool provider_serves(const std::string& provider, const std::string& engine_name) {
  if (provider == engine_name) return true;
  const std::string name = provider_named(device_prefix(engine_name));
  return std::any_of(std::begin(kServices), std::end(kServices), [&](const Service& service) {
    return name == provider_named(service.engine_name) && provider == service.provider;
  });
}

Result<Verification> verify_run(std::span<const PlannedNode> plan, std::span<const Profile> records,
                                std::span<const DeviceAlias> aliases, bool is_split) {
  PlanGraph planned = graph_of(plan);
  const auto graph = Graph::build(std::move(planned.spec));
  if (!graph.ok()) return graph.status();
  std::vector<bool> seen(graph->node_count(), false);
  Verification result;
  bool together = false;  // stages, in one session
  for (size_t r = 0; r < records.size(); ++r) {
    if (is_repeated(records, r)) continue;
    const Profile& record = records[r];
    std::vector<bool> seen_here(graph->node_count(), false);
    const EngineNodes nodes = match_engine_nodes(*graph, {}, record);
    for (size_t i = 0; i < record.nodes.size(); ++i) {
      const ProfiledNode& node = record.nodes[i];
      if (nodes.by_name[i] == kNoGraphNode) {
        ++result.by_engine;
        continue;
      }
      seen[nodes.by_name[i]] = seen_here[nodes.by_name[i]] = true;
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
    together = together || (!is_split && spans_stages(planned, seen_here));
  }
  add_unseen(planned, seen, together, result);
  return result;
}

}  // namespace placeto
