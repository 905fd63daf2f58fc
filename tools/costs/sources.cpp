#include "tools/costs/sources.h"

#include <set>
#include <string_view>

#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/costs/any_profile.h"
#include "tools/costs/efficiency_file.h"

namespace placeto {
namespace {

constexpr uint64_t kMaxTableBytes = 256 << 20;

Result<ProfileUse> split_profile(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return Status::invalid("profile '" + text + "': expected KIND=FILE, such as cpu=profile.json");
  }
  return ProfileUse{text.substr(0, equals), text.substr(equals + 1), {}};
}

Result<KindCosts> read_profile_costs(const Graph& graph, std::span<const NodeOutputs> outputs,
                                     ProfileUse& use) {
  std::set<std::string_view> names;
  for (uint32_t v = 0; v < graph.node_count(); ++v) names.insert(graph.node(v).name);
  ProfileLimits limits;
  limits.has_node = [&names](std::string_view name) { return names.contains(name); };
  const Result<Profile> profile = read_any_profile(use.file, limits);
  if (!profile.ok()) return profile.status();
  return costs_from_profile(graph, outputs, *profile, use.kind, use.coverage).at(use.file);
}

Result<std::vector<KindCosts>> read_table(const Graph& graph, const std::string& path) {
  const auto bytes = read_file(path, kMaxTableBytes);
  if (!bytes.ok()) return bytes.status();
  return costs_from_table(graph, as_text(*bytes)).at(path);
}

}  // namespace

std::string ProfileUse::note_on_shapes() const {
  const ShapeComparison& shapes = coverage.shapes;
  if (shapes.unlike == 0) return "";
  return file + ": was measured at other shapes in " + shapes.summary();
}

Result<std::vector<ProfileUse>> add_costs(const CostSources& sources,
                                          std::span<const NodeOutputs> outputs, GraphSpec& spec) {
  std::vector<ProfileUse> profiles;
  if (!sources.any()) return profiles;
  const Result<Graph> graph = Graph::build(spec);
  if (!graph.ok()) return graph.status();
  std::vector<KindCosts> measured;
  for (const std::string& text : sources.profiles) {
    Result<ProfileUse> use = split_profile(text);
    if (!use.ok()) return use.status();
    auto costs = read_profile_costs(*graph, outputs, *use);
    if (!costs.ok()) return costs.status();
    measured.push_back(*std::move(costs));
    profiles.push_back(*std::move(use));
  }
  for (const std::string& file : sources.tables) {
    auto table = read_table(*graph, file);
    if (!table.ok()) return table.status();
    for (KindCosts& costs : *table) measured.push_back(std::move(costs));
  }
  std::vector<Efficiencies> estimates;
  for (const std::string& file : sources.efficiencies) {
    Result<Efficiencies> read = read_efficiencies(file);
    if (!read.ok()) return read.status();
    estimates.push_back(*std::move(read));
  }
  if (Status s = set_costs(*graph, measured, estimates, spec); !s.ok()) return s;
  return profiles;
}

}  // namespace placeto
