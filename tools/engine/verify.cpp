#include "tools/engine/verify.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/base/no_index.h"
#include "runtime/format/placement.h"
#include "tools/costs/engine_nodes.h"
#include "tools/devices/device_settings.h"
#include "tools/devices/providers.h"
#include "tools/io/word_list.h"

namespace placeto {
namespace {

// The plan's nodes as a graph, for that is what engine's nodes are matched with; nodes of one name
// are one, and have the devices and stages of all of them.
struct PlanGraph {
  GraphSpec spec;
  std::vector<std::vector<std::string>> devices;  // per node
  std::vector<NodeOutputs> outputs;               // per node, in the model
  bool has_outputs = false;                       // any
  std::vector<std::vector<uint32_t>> stages;      // per node, indices into stage_names
  std::vector<std::string> stage_names, stage_devices;
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
  std::map<std::string, uint32_t> index_;
};

PlanGraph graph_of(std::span<const PlannedNode> plan) {
  PlanGraph result;
  std::map<std::string_view, size_t> index;
  StageIndex stages(result.stage_names);
  for (const PlannedNode& node : plan) {
    const auto [it, fresh] = index.emplace(node.name, result.devices.size());
    if (fresh) {
      result.spec.nodes.emplace_back();
      result.spec.nodes.back().name = node.name;
      result.spec.nodes.back().op = node.op;
      result.devices.emplace_back();
      result.outputs.emplace_back();
      result.stages.emplace_back();
    }
    const size_t v = it->second;
    result.devices[v].push_back(node.device);
    std::vector<std::string>& outputs = result.outputs[v].names;
    outputs.insert(outputs.end(), node.outputs.begin(), node.outputs.end());
    result.has_outputs |= !outputs.empty();
    if (node.stage.empty()) continue;
    result.stages[v].push_back(stages.of(node.stage));
    if (result.stage_devices.size() < result.stage_names.size()) {
      result.stage_devices.push_back(node.device);
    }
  }
  return result;
}

bool same_record(const Profile& a, const Profile& b) {
  if (a.nodes.empty()) return false;  // nothing says of what it is
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

// Several nodes that a provider took as one: the engine names that after the provider.
bool is_compiled(const ProfiledNode& node) {
  return !node.provider.empty() && node.name.starts_with(node.provider + "_");
}

// The records of a run, one after the other, against a plan.
class Check {
 public:
  Check(const PlanGraph& planned, const Graph& graph,
        const std::map<std::string, std::string>& names, bool is_split)
      : planned_(planned),
        graph_(graph),
        names_(names),
        is_split_(is_split),
        seen_(graph.node_count(), false),
        ran_(planned.stage_names.size(), false) {}

  void add(const Profile& record);
  Verification result();

 private:
  struct Compiled {  // in one record
    std::vector<const ProfiledNode*> nodes;
    uint32_t stage = kNoIndex;  // of the other nodes of the record; kNoIndex: there are none
  };

  bool is_unknown(const ProfiledNode& node) const;
  bool serves(const std::string& provider, const std::string& device) const;
  void judge(const ProfiledNode& node, std::span<const std::string> devices);
  uint32_t stage_of(const Compiled& compiled) const;
  void place_in_stage(const Compiled& compiled);
  void place_anywhere(const Compiled& compiled);
  std::vector<uint32_t> common_stages(const std::vector<bool>& seen, bool& any) const;

  const PlanGraph& planned_;
  const Graph& graph_;
  const std::map<std::string, std::string>& names_;
  const bool is_split_;
  std::vector<bool> seen_, ran_;  // per node, per stage
  bool together_ = false;         // stages, in one session
  size_t without_nodes_ = 0;      // records
  std::vector<Compiled> compiled_;
  Verification result_;
};

bool Check::is_unknown(const ProfiledNode& node) const {
  constexpr std::string_view kEnginesOwn =
      " Cast DequantizeLinear Gather Identity MemcpyFromHost MemcpyToHost QuantizeLinear "
      "ReorderInput ReorderOutput Reshape Squeeze Transpose Unsqueeze ";
  return !planned_.has_outputs && !holds_word(kEnginesOwn, node.op);
}

bool Check::serves(const std::string& provider, const std::string& device) const {
  const auto name = names_.find(device);
  return provider_serves(provider, name == names_.end() ? kind_in_name(device) : name->second);
}

void Check::judge(const ProfiledNode& node, std::span<const std::string> devices) {
  if (std::ranges::any_of(devices, [&](const auto& d) { return serves(node.provider, d); })) {
    ++result_.as_planned;
    if (is_compiled(node)) ++result_.compiled;
  } else {
    result_.differences.push_back({node.name, node.op, devices.front(), node.provider});
  }
}

// Those that have all of the nodes that were seen, `any` of which has a stage.
std::vector<uint32_t> Check::common_stages(const std::vector<bool>& seen, bool& any) const {
  std::vector<uint32_t> common;
  any = false;
  for (size_t v = 0; v < seen.size(); ++v) {
    if (!seen[v] || planned_.stages[v].empty()) continue;
    const std::vector<uint32_t>& own = planned_.stages[v];
    if (!any) common = own;
    any = true;
    std::erase_if(common, [&](uint32_t s) { return std::ranges::find(own, s) == own.end(); });
    if (common.empty()) break;
  }
  return common;
}

void Check::add(const Profile& record) {
  if (record.nodes.empty()) ++without_nodes_;
  const EngineNodes nodes = match_engine_nodes(graph_, planned_.outputs, record);
  std::vector<bool> seen(graph_.node_count(), false);
  Compiled compiled;
  for (size_t i = 0; i < record.nodes.size(); ++i) {
    const ProfiledNode& node = record.nodes[i];
    const uint32_t v = nodes.by_name[i];
    if (is_compiled(node)) {
      compiled.nodes.push_back(&node);
    } else if (v == kNoIndex) {
      ++(is_unknown(node) ? result_.unknown : result_.by_engine);
    } else {
      seen[v] = seen_[v] = true;
      judge(node, planned_.devices[v]);
    }
  }
  bool any = false;
  const std::vector<uint32_t> stages = common_stages(seen, any);
  together_ = together_ || (!is_split_ && any && stages.empty());
  if (!stages.empty()) compiled.stage = stages.front();
  if (!compiled.nodes.empty()) compiled_.push_back(std::move(compiled));
}

// Of the others in the record; else the first that has none and is to run on that provider, or the
// first that has none.
uint32_t Check::stage_of(const Compiled& compiled) const {
  if (compiled.stage != kNoIndex) return compiled.stage;
  uint32_t open = kNoIndex;
  for (uint32_t s = 0; s < ran_.size(); ++s) {
    if (ran_[s]) continue;
    if (serves(compiled.nodes.front()->provider, planned_.stage_devices[s])) return s;
    if (open == kNoIndex) open = s;
  }
  return open;
}

void Check::place_in_stage(const Compiled& compiled) {
  const uint32_t stage = stage_of(compiled);
  if (stage == kNoIndex) {
    result_.by_engine += static_cast<uint32_t>(compiled.nodes.size());
    return;
  }
  ran_[stage] = true;
  for (const ProfiledNode* node : compiled.nodes) {
    judge(*node, {&planned_.stage_devices[stage], 1});
  }
}

// In a session of the whole plan: on the devices that the provider serves.
void Check::place_anywhere(const Compiled& compiled) {
  constexpr size_t kMostProviders = 64;
  std::set<std::string> devices, providers;
  for (const auto& of_node : planned_.devices) devices.insert(of_node.begin(), of_node.end());
  const std::vector<std::string> all(devices.begin(), devices.end());
  for (const ProfiledNode* node : compiled.nodes) {
    if (providers.size() < kMostProviders) providers.insert(node->provider);
    if (!providers.contains(node->provider)) {
      ++result_.by_engine;
    } else {
      judge(*node, all);
    }
  }
  for (size_t s = 0; s < ran_.size(); ++s) {
    ran_[s] = ran_[s] || std::ranges::any_of(providers, [&](const std::string& provider) {
                return serves(provider, planned_.stage_devices[s]);
              });
  }
}

// With what was not seen: whole stages, unless they ran together, and nodes of the others.
Verification Check::result() {
  for (size_t v = 0; v < seen_.size(); ++v) {
    if (!seen_[v]) continue;
    for (const uint32_t s : planned_.stages[v]) ran_[s] = true;
  }
  for (const Compiled& compiled : compiled_) {
    is_split_ ? place_in_stage(compiled) : place_anywhere(compiled);
  }
  for (size_t s = 0; s < ran_.size() && is_split_ && without_nodes_ > 0; ++s) {
    if (!ran_[s]) --without_nodes_, ran_[s] = true;
  }
  if (together_) ran_.assign(ran_.size(), true);
  for (size_t s = 0; s < ran_.size(); ++s) {
    if (!ran_[s]) result_.not_run.push_back(planned_.stage_names[s]);
  }
  for (size_t v = 0; v < seen_.size(); ++v) {
    const std::vector<uint32_t>& stages = planned_.stages[v];
    const bool in_run =
        stages.empty() || std::ranges::any_of(stages, [&](auto s) { return ran_[s]; });
    if (!seen_[v] && in_run) ++result_.not_seen;
  }
  return std::move(result_);
}

}  // namespace

Result<Verification> verify_run(std::span<const PlannedNode> plan, std::span<const Profile> records,
                                const std::map<std::string, std::string>& names, bool is_split) {
  PlanGraph planned = graph_of(plan);
  const auto graph = Graph::build(std::move(planned.spec));
  if (!graph.ok()) return graph.status();
  Check check(planned, *graph, names, is_split);
  for (size_t r = 0; r < records.size(); ++r) {
    if (!is_repeated(records, r)) check.add(records[r]);
  }
  return check.result();
}

}  // namespace placeto
