#include "tools/cli/inspect_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/cli/outcome.h"
#include "tools/cli/sheet.h"
#include "tools/io/topology_words.h"
#include "tools/machine/machine.h"
#include "tools/machine/unused_settings.h"

namespace placeto::cli {
namespace {

Json describe_link(const LinkParameters& link) {
  return {{"bandwidth_bytes_per_us", link.bandwidth_bytes_per_us},
          {"latency_us", link.latency_us},
          {"gap_us", link.gap_us},
          {"source", name_of(link.source)}};
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

std::string device_sheet(const TopologySpec& spec) {
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
    size_t last = i;  // equal devices share a line
    while (last + 1 < spec.devices.size() && d.same_but_name(spec.devices[last + 1])) ++last;
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
  return devices.render();
}

// Links that are alike share a line, with the first of them.
std::string link_table(const TopologySpec& spec) {
  std::vector<std::pair<const LinkSpec*, size_t>> kinds;
  std::map<std::tuple<double, double, double, std::string_view>, size_t> known;  // to its kind
  for (const LinkSpec& l : spec.links) {
    const LinkParameters& p = l.parameters;
    const auto [found, fresh] = known.try_emplace(
        {p.bandwidth_bytes_per_us, p.latency_us, p.gap_us, l.channel}, kinds.size());
    if (fresh) kinds.emplace_back(&l, 0);
    ++kinds[found->second].second;
  }
  Table links(
      {{"from and to", Align::kLeft}, {"link", Align::kLeft, true}, {"channel", Align::kLeft}});
  for (const auto& [l, count] : kinds) {
    const std::string all = count == 1 ? "" : fmt::format("{} pairs, such as ", count);
    links.add_row({all + l->from + " to " + l->to, link_text(l->parameters),
                   l->channel.empty() ? "-" : l->channel});
  }
  return links.render();
}

}  // namespace

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
          {"warnings", unused_settings(topology)}};
}

std::string summarize(const Topology& topology) {
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
  std::string text = sheet.render() + "\n" + device_sheet(spec);
  if (!spec.links.empty()) text += "\n" + link_table(spec);
  for (const std::string& warning : unused_settings(topology)) {
    const std::string line = fitted("warning: " + warning);
    text += "\n" + emphasized(line, Emphasis::kBad) + "\n";
  }
  return text;
}

}  // namespace placeto::cli
