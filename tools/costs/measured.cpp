#include "tools/costs/measured.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "runtime/base/limits.h"
#include "runtime/base/no_index.h"
#include "runtime/cost/number_range.h"
#include "runtime/graph/text.h"
#include "tools/costs/engine_nodes.h"
#include "tools/costs/operator_class.h"
#include "tools/costs/profile_gaps.h"
#include "tools/io/byte_order_mark.h"

namespace placeto {
namespace {

// The node nearest before `v`, or `v`, that has the engine's operator and a name that the profile
// does not use otherwise.
uint32_t nearest_with_op(const Graph& graph, uint32_t v, const std::string& op,
                         const std::vector<bool>& taken) {
  if (op.empty()) return v;
  constexpr int kFurthest = 6;
  uint32_t at = v;
  for (int i = 0; i < kFurthest; ++i) {
    const OperatorClass kind = operator_class_of(graph.node(at).op);
    const bool product = kind == OperatorClass::kConvolution || kind == OperatorClass::kMatrix ||
                         kind == OperatorClass::kQuantized;
    if (graph.node(at).op == op || (product && kind == operator_class_of(op))) {
      return at;
    }
    uint32_t next = kNoIndex;
    for (const InEdge& edge : graph.in_edges(at)) {
      if (!taken[edge.source]) next = edge.source;
    }
    if (next == kNoIndex) break;
    at = next;
  }
  return v;
}

// Divides a time over nodes that the engine ran as one by their operations: as in other profiles,
// the product has nearly all of it and what follows it nearly nothing.
void divide(const Graph& graph, const std::vector<uint32_t>& nodes, double time,
            std::vector<double>& us) {
  double total = 0;
  for (const uint32_t v : nodes) total += static_cast<double>(graph.node(v).flops);
  for (const uint32_t v : nodes) {
    const double share = total > 0 ? static_cast<double>(graph.node(v).flops) / total
                                   : 1 / static_cast<double>(nodes.size());
    us[v] += time * share;
  }
}

// --- table

struct Fields {
  std::string fields[3];
};

// One line of a table; an empty message on success.
std::string split_row(std::string_view line, Fields& row) {
  size_t at = 0;
  for (int f = 0; f < 3; ++f) {
    std::string& field = row.fields[f];
    if (at < line.size() && line[at] == '"') {
      for (++at; at < line.size(); ++at) {
        if (line[at] == '"' && (at + 1 >= line.size() || line[at + 1] != '"')) break;
        if (line[at] == '"') ++at;
        field += line[at];
      }
      if (at >= line.size()) return "a quotation mark is not closed";
      ++at;
    } else {
      while (at < line.size() && line[at] != ',') field += line[at++];
    }
    const bool last = f == 2;
    if (last != (at >= line.size())) return "expected three fields: node,kind,us";
    if (!last && line[at++] != ',') return "a field goes on after its quotation mark";
  }
  return "";
}

std::string too_many_kinds() {
  return "more kinds of device than " + std::to_string(Limits().max_kinds) +
         ", expected at most that many";
}

struct TableReader {
  const Graph& graph;
  std::map<std::string, uint32_t> nodes = {};
  std::vector<KindCosts> kinds = {};

  std::string add(const Fields& row) {
    const auto node = nodes.find(row.fields[0]);
    if (node == nodes.end()) return "the graph has no node " + in_quotes(row.fields[0]);
    if (const Status s = check_name(row.fields[1], Limits()); !s.ok()) {
      return "the kind of device: " + s.message();
    }
    double us = 0;
    const std::string& number = row.fields[2];
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), us);
    if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(us)) {
      return in_quotes(number) + " is not a number of microseconds";
    }
    if (us > 0 && !in_number_range(us)) {
      return in_quotes(number) + " us, expected 0 or from 1e-60 to 1e60";
    }
    auto kind = std::find_if(kinds.begin(), kinds.end(),
                             [&](const KindCosts& k) { return k.kind == row.fields[1]; });
    if (kind == kinds.end()) {
      // Before its column is there: every kind takes memory for every node.
      if (kinds.size() >= Limits().max_kinds) return too_many_kinds();
      kinds.push_back({row.fields[1], std::vector<std::optional<double>>(graph.node_count())});
      kind = kinds.end() - 1;
    }
    if (kind->us[node->second]) return in_quotes(row.fields[0]) + " comes twice";
    kind->us[node->second] = us < 0 ? -1 : us;
    return "";
  }
};

Status incomplete(const Graph& graph, const std::string& kind, const std::vector<uint32_t>& nodes) {
  std::string names;
  for (size_t i = 0; i < nodes.size() && i < 3; ++i) {
    names += (i == 0 ? "" : ", ") + in_quotes(graph.node(nodes[i]).name);
  }
  return Status::bad_input(
      "no run time on kind " + in_quotes(kind) + " for " + std::to_string(nodes.size()) + " of " +
      std::to_string(graph.node_count()) + " nodes (" + names + (nodes.size() > 3 ? ", ..." : "") +
      "), expected one for every node (of profiles of parts, all of them), or efficiencies of that "
      "kind");
}

}  // namespace

Result<KindCosts> costs_from_profile(const Graph& graph, std::span<const NodeOutputs> outputs,
                                     const Profile& profile, const std::string& kind,
                                     Coverage& coverage) {
  const EngineNodes engine = match_engine_nodes(graph, outputs, profile);
  const std::vector<uint32_t>& node_of = engine.node_of;
  std::vector<bool> taken(graph.node_count(), false);
  for (uint32_t v : node_of) {
    if (v != kNoIndex) taken[v] = true;
  }
  coverage = {};
  std::vector<double> us(graph.node_count(), 0);
  std::vector<bool> measured(graph.node_count(), false);
  std::vector<uint32_t> time_at(profile.nodes.size(), kNoIndex);
  uint32_t before = kNoIndex;
  double unplaced_us = 0;  // before the first node that has a place
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    const ProfiledNode& node = profile.nodes[i];
    ++coverage.profiled;
    coverage.profiled_us += node.median_us;
    if (engine.by_name[i] != kNoIndex) {
      ++coverage.by_name;
      coverage.by_name_us += node.median_us;
    }
    if (const auto& joined = engine.joined[i]; !joined.empty()) {
      divide(graph, joined, node.median_us, us);
      for (const uint32_t v : joined) measured[v] = true;
      before = joined.back();
      continue;
    }
    if (node_of[i] != kNoIndex) {
      before = time_at[i] = nearest_with_op(graph, node_of[i], node.op, taken);
      measured[before] = true;
    }
    (before == kNoIndex ? unplaced_us : us[before]) += node.median_us;
  }
  if (coverage.by_name == 0 || coverage.share() < kLeastCoverage) {
    return Status::bad_input(
        "is a profile of another model: the names of its nodes lead to nodes of graph " +
        in_quotes(graph.name()) + " for " + number_text(std::round(coverage.share() * 100)) +
        "% of its time" +
        (2 * coverage.by_name < coverage.profiled
             ? ""
             : ", or one of a provider that runs beside the host, without its kernels: only "
               "launches and copies have times"));
  }
  coverage.shapes = compare_shapes(graph, outputs, profile, engine);
  if (coverage.shapes.mostly_unlike()) {
    return Status::bad_input("was measured at other shapes than those of graph " +
                             in_quotes(graph.name()) + ": " + coverage.shapes.summary() +
                             ", expected a profile at the same ones");
  }
  const auto first = std::find(measured.begin(), measured.end(), true) - measured.begin();
  us[static_cast<size_t>(first)] += unplaced_us;
  KindCosts costs{kind, {us.begin(), us.end()}, std::vector<bool>(graph.node_count())};
  for (uint32_t v = 0; v < graph.node_count(); ++v) taken[v] = taken[v] || measured[v];
  const std::vector<bool> missing = missing_nodes(graph, profile, engine, time_at, taken);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    if (missing[v]) costs.us[v] = std::nullopt;
    ++(measured[v] ? coverage.measured : missing[v] ? coverage.missing : coverage.absorbed);
  }
  // Of a whole model, what is absorbed is known to cost nothing.
  for (uint32_t v = 0; v < graph.node_count() && coverage.missing > 0; ++v) {
    costs.absorbed[v] = !measured[v];
  }
  return costs;
}

Result<std::vector<KindCosts>> costs_from_table(const Graph& graph, std::string_view text) {
  TableReader reader{graph};
  for (uint32_t v = 0; v < graph.node_count(); ++v) reader.nodes.emplace(graph.node(v).name, v);
  text = without_byte_order_mark(text);
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    if (line.empty() || (number == 1 && line == "node,kind,us")) continue;
    Fields row;
    std::string problem = split_row(line, row);
    if (problem.empty()) problem = reader.add(row);
    if (!problem.empty())
      return Status::bad_input("line " + std::to_string(number) + ": " + problem);
  }
  if (reader.kinds.empty()) {
    return Status::bad_input("holds no run time, expected lines of the form node,kind,us");
  }
  return std::move(reader.kinds);
}

Status set_costs(const Graph& graph, std::span<const KindCosts> measured,
                 std::span<const Efficiencies> estimates, GraphSpec& spec) {
  std::vector<KindCosts> all;
  std::set<std::string_view> kinds;
  for (const KindCosts& costs : measured) kinds.insert(costs.kind);
  for (const Efficiencies& efficiencies : estimates) kinds.insert(efficiencies.kind);
  if (kinds.size() > Limits().max_kinds) return Status::bad_input(too_many_kinds());
  const auto column = [&](const std::string& kind) -> KindCosts& {
    for (KindCosts& costs : all) {
      if (costs.kind == kind) return costs;
    }
    all.push_back({kind, std::vector<std::optional<double>>(graph.node_count())});
    return all.back();
  };
  for (const KindCosts& costs : measured) {
    KindCosts& into = column(costs.kind);
    for (size_t v = 0; v < costs.us.size(); ++v) {
      const bool is_absorbed = !costs.absorbed.empty() && costs.absorbed[v];
      if (costs.us[v] && !(into.us[v] && is_absorbed)) into.us[v] = costs.us[v];
    }
  }
  const std::vector<KindCosts> known = all;
  const std::vector<NodeWork> works = node_works(graph);
  for (const Efficiencies& efficiencies : estimates) {
    KindCosts& into = column(efficiencies.kind);
    for (size_t v = 0; v < works.size(); ++v) {
      if (!into.us[v]) into.us[v] = estimate_us(works[v], efficiencies);
    }
  }
  spec.kinds.clear();
  for (NodeSpec& node : spec.nodes) {
    node.cost_us.clear();
    node.measured = 0;
  }
  for (size_t k = 0; k < all.size(); ++k) {
    const KindCosts& costs = all[k];
    std::vector<uint32_t> missing;
    for (uint32_t v = 0; v < graph.node_count(); ++v) {
      if (!costs.us[v]) missing.push_back(v);
      spec.nodes[v].cost_us.push_back(costs.us[v].value_or(0));
      if (k < known.size() && known[k].us[v]) spec.nodes[v].measured |= uint64_t{1} << k;
    }
    if (!missing.empty()) return incomplete(graph, costs.kind, missing);
    spec.kinds.push_back(costs.kind);
  }
  return {};
}

}  // namespace placeto
