// placeto inspect: what is in a file, whatever its kind.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/format/file_kind.h"
#include "runtime/policy/guide.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/engine.h"
#include "tools/cli/foreign_model.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/inspect_engine.h"
#include "tools/cli/inspect_model.h"
#include "tools/cli/inspect_placement.h"
#include "tools/cli/inspect_policy.h"
#include "tools/cli/methods.h"
#include "tools/cli/outcome.h"
#include "tools/cli/sheet.h"
#include "tools/cli/topologies.h"
#include "tools/io/read.h"
#include "tools/io/shipped.h"
#include "tools/machine/machine.h"
#include "tools/workloads/workload.h"

namespace placeto::cli {
namespace {

using cli::describe;  // of placements, policies and engines, beside those of this file
using cli::name_of;
using cli::summarize;

constexpr const char* kInspectExamples = R"(Examples:
  placeto inspect graph.json
  placeto inspect topology.json
  placeto inspect placement.plpl --json
  placeto inspect policy.plpo
  placeto inspect onnxruntime
  placeto inspect model.onnx --dim batch=1

The kind of file is told by its content.)";

struct InspectOptions {
  Common common;
  ModelOptions model;
  std::string file;
};

// ---- graph ----------------------------------------------------------------------------------

struct GraphFigures {
  uint64_t outputs = 0, output_bytes = 0, resident_bytes = 0, workspace_bytes = 0, flops = 0;
  uint64_t control_edges = 0, estimated = 0, colocated_nodes = 0, depth = 0, sources = 0, sinks = 0;
  std::set<std::string> colocations;
  std::map<std::string, uint64_t> ops;
  std::set<uint32_t> opsets;    // what is known
  uint64_t typed = 0;           // nodes whose inputs have types
  std::vector<double> cost_us;  // total per kind, of the nodes that state it and can run there
  double ccr = 0;
};

// Nodes on the longest path.
uint64_t depth_of(const Graph& graph) {
  std::vector<uint64_t> depth(graph.node_count(), 1);
  for (const uint32_t v : graph.topological_order()) {
    for (const OutEdge& e : graph.out_edges(v)) {
      depth[e.target] = std::max(depth[e.target], depth[v] + 1);
    }
  }
  return *std::max_element(depth.begin(), depth.end());
}

void count_node(const Graph& graph, uint32_t v, GraphFigures& figures) {
  const NodeSpec& node = graph.node(v);
  figures.outputs += node.outputs.size();
  figures.output_bytes =
      std::accumulate(node.outputs.begin(), node.outputs.end(), figures.output_bytes);
  figures.resident_bytes += node.resident_bytes;
  figures.workspace_bytes = std::max(figures.workspace_bytes, node.workspace_bytes);
  figures.flops += node.flops;
  figures.estimated += node.cost_us.empty() ? 1 : 0;
  figures.sources += graph.in_edges(v).empty() ? 1 : 0;
  figures.sinks += graph.out_edges(v).empty() ? 1 : 0;
  ++figures.ops[node.op];
  if (node.opset != 0) figures.opsets.insert(node.opset);
  figures.typed += node.input_types.empty() ? 0 : 1;
  if (!node.colocate.empty()) {
    ++figures.colocated_nodes;
    figures.colocations.insert(node.colocate);
  }
  figures.cost_us.resize(std::max<size_t>(figures.cost_us.size(), node.cost_us.size()), 0);
  for (size_t k = 0; k < node.cost_us.size(); ++k) {
    figures.cost_us[k] += std::max(node.cost_us[k], 0.0);
  }
}

// As of workload.h: mean transfer time over the reference link, by mean run time on the first kind.
// Zero when no node states a run time.
double ratio_of(const Graph& graph, const GraphFigures& figures) {
  double bytes = 0, edges = 0;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const OutEdge& e : graph.out_edges(v)) {
      if (e.output == kControlEdge) continue;
      bytes += static_cast<double>(graph.output_bytes(e.output));
      edges += 1;
    }
  }
  if (edges == 0 || figures.cost_us.empty() || figures.cost_us[0] <= 0) return 0;
  const double mean_cost =
      figures.cost_us[0] / static_cast<double>(graph.node_count() - figures.estimated);
  return bytes / edges / kReferenceBandwidth / mean_cost;
}

GraphFigures measure(const Graph& graph) {
  GraphFigures figures;
  for (uint32_t v = 0; v < graph.node_count(); ++v) count_node(graph, v, figures);
  for (const EdgeSpec& e : graph.spec().edges) {
    figures.control_edges += e.output == kControlEdge ? 1 : 0;
  }
  figures.depth = depth_of(graph);
  figures.ccr = ratio_of(graph, figures);
  return figures;
}

Json describe(const Graph& graph) {
  const GraphFigures f = measure(graph);
  const auto kinds = graph.kinds();
  return {{"kind", "graph"},
          {"name", graph.name()},
          {"kinds", std::vector<std::string>(kinds.begin(), kinds.end())},
          {"nodes", graph.node_count()},
          {"edges", graph.edge_count()},
          {"control_edges", f.control_edges},
          {"outputs", f.outputs},
          {"sources", f.sources},
          {"sinks", f.sinks},
          {"depth", f.depth},
          {"output_bytes", f.output_bytes},
          {"resident_bytes", f.resident_bytes},
          {"largest_workspace_bytes", f.workspace_bytes},
          {"flops", f.flops},
          {"total_cost_us", f.cost_us},
          {"nodes_without_cost", f.estimated},
          {"ccr", f.ccr > 0 ? Json(f.ccr) : Json(nullptr)},
          {"colocations", f.colocations.size()},
          {"colocated_nodes", f.colocated_nodes},
          {"opsets", f.opsets},
          {"typed_nodes", f.typed},
          {"ops", f.ops}};
}

std::string ops_line(const std::map<std::string, uint64_t>& ops) {
  constexpr size_t kShown = 12;
  std::vector<std::pair<uint64_t, std::string>> order;
  for (const auto& [op, count] : ops) order.emplace_back(count, op.empty() ? "(none)" : op);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(order.size(), kShown); ++i) {
    parts.push_back(fmt::format("{} {}", shortened(order[i].second, 24), order[i].first));
  }
  if (order.size() > kShown) parts.push_back(fmt::format("{} more", order.size() - kShown));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string summarize(const Graph& graph, bool color) {
  const GraphFigures f = measure(graph);
  Sheet sheet;
  sheet.add("graph", graph.name());
  sheet.add("nodes", fmt::format("{} ({}, {})", format_count(graph.node_count()),
                                 plural(f.sources, "source"), plural(f.sinks, "sink")));
  sheet.add("edges", fmt::format("{} ({} control)", format_count(graph.edge_count()),
                                 format_count(f.control_edges)));
  sheet.add("depth", plural(f.depth, "node") + " on the longest path");
  sheet.add("outputs",
            fmt::format("{}, {}", format_count(f.outputs), format_bytes(f.output_bytes)));
  sheet.add("resident", format_bytes(f.resident_bytes));
  sheet.add("workspace", format_bytes(f.workspace_bytes) + " at most");
  sheet.add("flops", format_si(static_cast<double>(f.flops)));
  for (size_t k = 0; k < f.cost_us.size(); ++k) {
    const std::string kind = k < graph.kinds().size() ? graph.kinds()[k] : "any kind";
    sheet.add("run time", format_us(f.cost_us[k]) + " on " + kind);
  }
  if (f.estimated != 0) {
    sheet.add("estimated", plural(f.estimated, "node") + " without a run time");
  }
  if (f.ccr > 0) sheet.add("ccr", fmt::format("{:.3g} over {} B/us", f.ccr, kReferenceBandwidth));
  if (!f.colocations.empty()) {
    sheet.add("colocation", fmt::format("{} in {}", plural(f.colocated_nodes, "node"),
                                        plural(f.colocations.size(), "set")));
  }
  if (!f.opsets.empty()) {
    sheet.add("operator sets", fmt::format("{}", fmt::join(f.opsets, ", ")));
  }
  if (f.typed != 0) sheet.add("input types", "known of " + plural(f.typed, "node"));
  sheet.add("operators", ops_line(f.ops));
  return sheet.render(color);
}

// ---- topology -------------------------------------------------------------------------------

const char* name_of(Contention c) {
  return c == Contention::kEgress ? "egress" : "none";
}
const char* name_of(Transfer t) {
  return t == Transfer::kBroadcast ? "broadcast" : "unicast";
}
const char* name_of(Dispatch d) {
  return d == Dispatch::kFifo ? "fifo" : "priority";
}

const char* name_of(Source s) {
  constexpr const char* kNames[] = {"unknown", "guess", "data_sheet", "measured"};
  return kNames[static_cast<size_t>(s)];
}

Json warnings_of(const Topology& topology) {
  Json warnings = Json::array();
  if (ignores_latency(topology)) {
    warnings.push_back(
        "a link has a latency, which is charged under transfer 'unicast' only; this topology's "
        "transfer is 'broadcast'");
  }
  const std::vector<LinkSpec>& links = topology.spec().links;
  const bool broadcast = topology.spec().transfer == Transfer::kBroadcast;
  if ((broadcast || topology.spec().contention == Contention::kNone) &&
      std::any_of(links.begin(), links.end(),
                  [](const LinkSpec& l) { return !l.channel.empty(); })) {
    warnings.push_back(std::string("links name channels, which nothing shares under ") +
                       (broadcast ? "transfer 'broadcast': outputs leave by their device's egress"
                                  : "contention 'none': transfers never wait"));
  }
  return warnings;
}

Json describe_link(const LinkParameters& link) {
  return {{"bandwidth_bytes_per_us", link.bandwidth_bytes_per_us},
          {"latency_us", link.latency_us},
          {"gap_us", link.gap_us},
          {"source", name_of(link.source)}};
}

Json describe(const Topology& topology) {
  const TopologySpec& spec = topology.spec();
  Json devices = Json::array(), links = Json::array();
  for (const DeviceSpec& d : spec.devices) {
    devices.push_back({{"name", d.name},
                       {"kind", d.kind},
                       {"memory_bytes", d.memory_bytes},
                       {"peak_flops", d.peak_flops},
                       {"memory_bandwidth", d.memory_bandwidth},
                       {"slowdown", d.slowdown},
                       {"memory_source", name_of(d.memory_source)},
                       {"flops_source", name_of(d.flops_source)},
                       {"bandwidth_source", name_of(d.bandwidth_source)},
                       {"prices_source", name_of(d.prices_source)}});
    if (spec.execution != Execution::kStaged) continue;
    devices.back().update(
        {{"stage_us", d.stage_us}, {"cut_us", d.cut_us}, {"cut_bytes_per_us", d.cut_bytes_per_us}});
  }
  for (const LinkSpec& l : spec.links) {
    Json link{{"from", l.from}, {"to", l.to}, {"channel", l.channel}};
    link.update(describe_link(l.parameters));
    links.push_back(std::move(link));
  }
  return {{"kind", "topology"},
          {"name", spec.name},
          {"op_gap_us", spec.op_gap_us},
          {"contention", name_of(spec.contention)},
          {"transfer", name_of(spec.transfer)},
          {"execution", name_of(spec.execution)},
          {"dispatch", name_of(spec.dispatch)},
          {"devices", std::move(devices)},
          {"default_link", describe_link(spec.default_link)},
          {"links", std::move(links)},
          {"channels", topology.channel_count()},
          {"channel_names", channel_names(topology)},
          {"warnings", warnings_of(topology)}};
}

// Bytes per us are MB/s.
std::string bandwidth_text(double bytes_per_us) {
  constexpr double kLarge = 1e6, kLargest = 1e12;
  if (bytes_per_us >= kLargest) return "over 1000 PB/s";
  if (bytes_per_us >= kLarge) return format_si(1e6 * bytes_per_us) + "B/s";
  return fmt::format("{:.6g} MB/s", bytes_per_us);
}

std::string link_text(const LinkParameters& link) {
  return fmt::format("{}, latency {}, gap {}", bandwidth_text(link.bandwidth_bytes_per_us),
                     format_us(link.latency_us), format_us(link.gap_us));
}

// A number, and where it is from if the topology says so.
std::string sourced(std::string number, Source source) {
  if (source != Source::kUnknown) number += fmt::format(" ({})", text_of(source));
  return number;
}

bool same_sources(const DeviceSpec& a, const DeviceSpec& b) {
  return a.memory_source == b.memory_source && a.flops_source == b.flops_source &&
         a.bandwidth_source == b.bandwidth_source && a.prices_source == b.prices_source;
}

std::string device_sheet(const TopologySpec& spec, bool color) {
  const bool staged = spec.execution == Execution::kStaged;
  std::vector<Table::Column> columns{{"device", Align::kLeft},      {"kind", Align::kLeft},
                                     {"memory", Align::kRight},     {"peak flop/s", Align::kRight},
                                     {"memory B/s", Align::kRight}, {"slowdown", Align::kRight}};
  if (staged) {
    columns.insert(columns.end(),
                   {{"stage", Align::kRight}, {"cut", Align::kRight}, {"cut B/us", Align::kRight}});
  }
  Table devices(std::move(columns));
  for (size_t i = 0; i < spec.devices.size(); ++i) {
    const DeviceSpec& d = spec.devices[i];
    const auto same = [&d, staged](const DeviceSpec& other) {
      return other.kind == d.kind && other.memory_bytes == d.memory_bytes &&
             other.peak_flops == d.peak_flops && other.memory_bandwidth == d.memory_bandwidth &&
             other.slowdown == d.slowdown && same_sources(other, d) &&
             (!staged || (other.stage_us == d.stage_us && other.cut_us == d.cut_us &&
                          other.cut_bytes_per_us == d.cut_bytes_per_us));
    };
    size_t last = i;  // equal devices share a line
    while (last + 1 < spec.devices.size() && same(spec.devices[last + 1])) ++last;
    const std::string names =
        last == i ? d.name : fmt::format("{} to {}", d.name, spec.devices[last].name);
    std::vector<std::string> cells{
        names,
        d.kind,
        d.memory_bytes == 0 ? "unlimited" : sourced(format_bytes(d.memory_bytes), d.memory_source),
        d.peak_flops > 0 ? sourced(format_si(d.peak_flops), d.flops_source) : "unknown",
        d.memory_bandwidth > 0 ? sourced(format_si(d.memory_bandwidth), d.bandwidth_source)
                               : "unknown",
        fmt::format("{}", d.slowdown)};
    if (staged) {
      cells.push_back(sourced(format_us(d.stage_us), d.prices_source));
      cells.push_back(format_us(d.cut_us));
      cells.push_back(d.cut_bytes_per_us > 0 ? format_si(d.cut_bytes_per_us) : "-");
    }
    devices.add_row(std::move(cells));
    i = last;
  }
  return devices.render(color);
}

// Links that are alike share a line, with the first of them.
std::string link_table(const TopologySpec& spec, bool color) {
  std::vector<std::pair<const LinkSpec*, size_t>> kinds;
  std::map<std::tuple<double, double, double, std::string_view>, size_t> known;  // to its kind
  for (const LinkSpec& l : spec.links) {
    const LinkParameters& p = l.parameters;
    const auto [found, fresh] = known.try_emplace(
        {p.bandwidth_bytes_per_us, p.latency_us, p.gap_us, l.channel}, kinds.size());
    if (fresh) kinds.emplace_back(&l, 0);
    ++kinds[found->second].second;
  }
  Table links({{"from", Align::kLeft},
               {"to", Align::kLeft},
               {"link", Align::kLeft, true},
               {"channel", Align::kLeft}});
  for (const auto& [l, count] : kinds) {
    const std::string others = count == 1 ? "" : fmt::format(", and {} more", count - 1);
    links.add_row(
        {l->from, l->to + others, link_text(l->parameters), l->channel.empty() ? "-" : l->channel});
  }
  return links.render(color);
}

std::string summarize(const Topology& topology, bool color) {
  const TopologySpec& spec = topology.spec();
  Sheet sheet;
  sheet.add("topology", spec.name);
  sheet.add("rules", fmt::format("contention {}, transfer {}, execution {}, dispatch {}",
                                 name_of(spec.contention), name_of(spec.transfer),
                                 name_of(spec.execution), name_of(spec.dispatch)));
  sheet.add("gap after a node", format_us(spec.op_gap_us));
  if (spec.default_link.bandwidth_bytes_per_us > 0) {
    sheet.add("default link", sourced(link_text(spec.default_link), spec.default_link.source));
  }
  std::string text = sheet.render(color) + "\n" + device_sheet(spec, color);
  if (!spec.links.empty()) text += "\n" + link_table(spec, color);
  for (const Json& warning : warnings_of(topology)) {
    const std::string line = fitted("warning: " + warning.get<std::string>());
    text += "\n" + emphasized(line, Emphasis::kBad, color) + "\n";
  }
  return text;
}

// ---- any ------------------------------------------------------------------------------------

template <class T>
void show(const T& value, const Common& common) {
  if (common.json) {
    print_json(describe(value));
  } else {
    print(summarize(value, common.color()));
  }
}

void run_inspect(const InspectOptions& options) {
  if (shipped::is_topology(options.file)) return show(load_topology(options.file), options.common);
  const std::string close = close_topology(options.file);
  if (!close.empty()) {
    throw Failure(kBadInputFile, options.file + ": no such file, and no built-in topology" + close);
  }
  refuse_foreign_model(options.file);
  if (is_onnx_input(options.file)) {
    return inspect_model(options.file, options.model, options.common);
  }
  if (options.model.any()) {
    throw Failure(kBadUsage,
                  options.file + ": is no ONNX model, so it takes no --dim, --set or --shape");
  }
  if (const auto engine = find_engine(options.file)) return show(*engine, options.common);
  AnySpec any = load_any(options.file);
  if (auto* graph = std::get_if<GraphSpec>(&any)) {
    show(require(Graph::build(std::move(*graph))), options.common);
  } else if (auto* topology = std::get_if<TopologySpec>(&any)) {
    show(require(Topology::build(std::move(*topology))), options.common);
  } else if (auto* policy = std::get_if<PolicyFile>(&any)) {
    auto loaded = Policy::load(policy->bytes, Policy::Bytes::kView, known_features());
    show(*require(std::move(loaded)), options.common);
  } else {
    show(std::get<PlacementSpec>(any), options.common);
  }
}

std::vector<std::string> names_to_propose() {
  std::vector<std::string> names = shipped::topology_names();
  for (std::string& engine : EngineDescription::names()) names.push_back(std::move(engine));
  return names;
}

}  // namespace

void add_inspect(Program& program) {
  Command& command = program.add(
      "inspect", "Show what a graph, model, topology, placement, policy or engine holds");
  auto options = std::make_shared<InspectOptions>();
  command.argument("FILE", options->file, "File to read, or name of a built-in topology or engine")
      .required()
      .proposes(names_to_propose());
  add_model_settings(command, options->model);
  add_common(command, options->common);
  command.footer(kInspectExamples);
  command.action([options] { run_inspect(*options); });
}

}  // namespace placeto::cli
