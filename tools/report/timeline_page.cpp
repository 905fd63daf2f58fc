#include "tools/report/timeline_page.h"

#include <cmath>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "tools/report/critical_path.h"
#include "tools/report/lanes.h"
#include "tools/report/memory.h"
#include "tools/report/page_files.h"

namespace placeto {
namespace {

using nlohmann::ordered_json;

// Nanoseconds are more than a screen shows, and short numbers halve the page.
double rounded(double us) {
  return std::isfinite(us) ? std::round(us * 1e3) / 1e3 : 0;
}

template <class T, class F>
ordered_json column(const std::vector<T>& values, F&& f) {
  ordered_json array = ordered_json::array();
  for (const T& value : values) array.push_back(f(value));
  return array;
}

ordered_json describe_nodes(const Graph& graph, std::span<const uint32_t> assignment,
                            const Timeline& timeline) {
  std::map<std::string_view, uint32_t> op_index;
  ordered_json ops = ordered_json::array(), names = ordered_json::array();
  ordered_json op = ordered_json::array(), resident = ordered_json::array();
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const NodeSpec& node = graph.node(v);
    const auto [it, is_new] = op_index.try_emplace(node.op, static_cast<uint32_t>(ops.size()));
    if (is_new) ops.push_back(node.op.empty() ? "(no op)" : node.op);
    names.push_back(node.name.empty() ? "#" + std::to_string(v) : node.name);
    op.push_back(it->second);
    resident.push_back(node.resident_bytes);
  }
  return {{"ops", std::move(ops)},
          {"name", std::move(names)},
          {"op", std::move(op)},
          {"resident", std::move(resident)},
          {"device", assignment},
          {"start", column(timeline.start_us, rounded)},
          {"finish", column(timeline.finish_us, rounded)}};
}

ordered_json describe_edges(const Graph& graph) {
  ordered_json source = ordered_json::array(), target = ordered_json::array();
  for (const EdgeSpec& e : graph.spec().edges) {
    source.push_back(e.source);
    target.push_back(e.target);
  }
  return {{"source", std::move(source)}, {"target", std::move(target)}};
}

ordered_json describe_transfers(const Problem& problem, const Timeline& timeline) {
  const Graph& graph = problem.graph();
  Lanes lanes = transfer_lanes(problem.topology(), timeline);
  const auto& transfers = timeline.transfers;
  using T = TransferSlice;
  return {{"lanes", lanes.names},
          {"lane", lanes.of_transfer},
          {"producer", column(transfers, [&](const T& t) { return graph.producer(t.output); })},
          {"output", column(transfers,
                            [&](const T& t) {
                              return t.output - graph.output_begin(graph.producer(t.output));
                            })},
          {"bytes", column(transfers, [&](const T& t) { return graph.output_bytes(t.output); })},
          {"to", column(transfers,
                        [](const T& t) {
                          return t.destination == T::kBroadcast ? -1 : int64_t{t.destination};
                        })},
          {"start", column(transfers, [](const T& t) { return rounded(t.start_us); })},
          {"finish", column(transfers, [](const T& t) { return rounded(t.end_us); })},
          {"arrival", column(transfers, [](const T& t) { return rounded(t.arrival_us); })}};
}

ordered_json describe_devices(const Problem& problem, std::span<const uint32_t> assignment,
                              const Timeline& timeline) {
  const auto steps = memory_steps(problem, assignment, timeline);
  ordered_json devices = ordered_json::array();
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    const DeviceSpec& device = problem.topology().device(d);
    const uint64_t limit = problem.memory_limit(d);
    devices.push_back(
        {{"name", device.name},
         {"kind", device.kind},
         {"limit", limit == Problem::kUnlimited ? ordered_json(nullptr) : ordered_json(limit)},
         {"peak", timeline.peak_memory_bytes[d]},
         {"busy", rounded(timeline.device_busy_us[d])},
         {"memory_at", column(steps[d], [](const MemoryStep& s) { return rounded(s.time_us); })},
         {"memory", column(steps[d], [](const MemoryStep& s) { return s.bytes; })}});
  }
  return devices;
}

ordered_json describe_candidates(const std::vector<CandidateRow>& rows) {
  return column(rows, [](const CandidateRow& row) -> ordered_json {
    return {{"method", row.method},
            {"makespan", rounded(row.makespan_us)},
            {"memory", row.peak_memory_bytes},
            {"feasible", row.feasible},
            {"chosen", row.chosen}};
  });
}

std::string page_data(const Problem& problem, std::span<const uint32_t> assignment,
                      const Timeline& timeline, const PageOptions& options) {
  const CriticalPath critical = critical_path(problem, assignment, timeline);
  const ordered_json data{
      {"graph", problem.graph().name()},
      {"topology", problem.topology().name()},
      {"method", options.method},
      {"makespan", rounded(timeline.makespan_us)},
      {"drain", rounded(timeline.drain_us)},
      {"bottleneck", rounded(timeline.bottleneck_us)},
      {"lower_bound", rounded(options.bounds.best_us())},
      {"devices", describe_devices(problem, assignment, timeline)},
      {"nodes", describe_nodes(problem.graph(), assignment, timeline)},
      {"edges", describe_edges(problem.graph())},
      {"transfers", describe_transfers(problem, timeline)},
      {"critical", {{"nodes", critical.nodes}, {"transfers", critical.transfers}}},
      {"candidates", describe_candidates(options.candidates)}};
  std::string text = data.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  // In a script element only '<' can end or reopen anything.
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string escape_html(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

// Replaces each {{key}} of the template once, in one pass, so that values are never searched.
std::string fill(std::string_view text,
                 const std::map<std::string_view, std::string_view>& values) {
  std::string page;
  for (;;) {
    const size_t open = text.find("{{"), close = text.find("}}", open);
    page += text.substr(0, open);
    if (open == std::string_view::npos || close == std::string_view::npos) return page;
    const auto it = values.find(text.substr(open + 2, close - open - 2));
    if (it != values.end()) page += it->second;
    text.remove_prefix(close + 2);
  }
}

}  // namespace

std::string timeline_page(const Problem& problem, std::span<const uint32_t> assignment,
                          const Timeline& timeline, const PageOptions& options) {
  const std::string title =
      escape_html(problem.graph().name() + " on " + problem.topology().name());
  const std::string data = page_data(problem, assignment, timeline, options);
  return fill(page::timeline_html, {{"title", title},
                                    {"style", page::timeline_css},
                                    {"script", page::timeline_js},
                                    {"data", data}});
}

}  // namespace placeto
