#include "tools/report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/report/html.h"
#include "tools/report/page_files.h"
#include "tools/report/table.h"

namespace placeto {
namespace {

constexpr size_t kColors = 8;  // --d0 to --d7 of the report's style

// Bars are boxes in per cent of the lane, so that letters stay as large as they are on any screen.
// A bar's texts are on lines of a box that shows the first alone: what does not fit is not cut off,
// it is not there.
constexpr const char* kStyle = R"(.run { display: grid; grid-template-columns: auto minmax(0, 1fr);
  gap: 0 12px; margin-right: 12px; }
.run h3 { grid-column: 1 / -1; margin: 0 0 4px; }
.run h3 ~ h3 { margin-top: 12px; }
.run .device { max-width: 14ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  text-align: right; line-height: 32px; }
.lane { position: relative; height: 32px; padding: 3px 0; }
.lane::before { content: ""; position: absolute; inset: 3px 0; background: var(--lane); }
.lane i { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--grid); }
.bar { position: absolute; top: 3px; height: 26px; min-width: 3px; overflow: hidden;
  border-left: 2px solid var(--panel); display: flex; flex-wrap: wrap; justify-content: center;
  gap: 0 6px; font-size: 12px; line-height: 26px; white-space: nowrap;
  font-variant-numeric: tabular-nums; print-color-adjust: exact; color: #111317; }
.bar:first-of-type { border-left: 0; }
.bar::before { content: ""; width: 0; height: 26px; }
.bar b { margin-left: -6px; }
.axis { grid-column: 2; position: relative; height: 22px; font-size: 12px; color: var(--soft);
  font-variant-numeric: tabular-nums; }
.axis span { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.d0 { background: var(--d0); } .d1 { background: var(--d1); } .d2 { background: var(--d2); }
.d3 { background: var(--d3); } .d4 { background: var(--d4); } .d5 { background: var(--d5); }
.d6 { background: var(--d6); } .d7 { background: var(--d7); }
.d0, .d2, .d3, .d5 { color: #ffffff; }
@media screen and (prefers-color-scheme: dark) { .d2, .d3, .d5 { color: #111317; } }
@media (max-width: 700px) { .axis .odd { display: none; } }
)";

std::string micro(std::string text) {
  if (text.ends_with(" us")) text.replace(text.size() - 2, 2, "µs");
  return text;
}

std::string time_or_none(double us) {
  return us > 0 ? page_time(us) : "-";
}

// 1, 2 or 5 times a power of ten, about a tenth of the range.
double tick_of(double range_us) {
  const double power = std::pow(10, std::floor(std::log10(range_us / 10)));
  for (const double step : {1., 2., 5.}) {
    if (range_us / (step * power) <= 10) return step * power;
  }
  return 10 * power;
}

// Both timelines, from the top down.
class Drawing {
 public:
  explicit Drawing(const RunReport& report) : report_(report) {
    for (const RunStage& s : report.stages) {
      last_us_ = std::max(
          {last_us_, s.measured_start_us + s.measured_us, s.predicted_start_us + s.predicted_us});
    }
    if (last_us_ <= 0) last_us_ = 1;
    tick_us_ = tick_of(last_us_);
  }

  std::string draw() const {
    std::string html =
        "<div class=\"run\" role=\"group\" aria-label=\"Stages by device, measured above "
        "predicted\">\n" +
        timeline("measured", &RunStage::measured_start_us, &RunStage::measured_us);
    if (report_.predicted_us > 0) {
      html += timeline("predicted", &RunStage::predicted_start_us, &RunStage::predicted_us);
    }
    return html + axis() + "</div>\n";
  }

 private:
  double share(double us) const { return 100 * us / last_us_; }

  std::string timeline(const char* name, double RunStage::*start, double RunStage::*time) const {
    std::string html = fmt::format("<h3>{}</h3>\n", name);
    for (size_t d = 0; d < report_.devices.size(); ++d) {
      const std::string device = escape_html(report_.devices[d]);
      html +=
          fmt::format("<div class=\"device\" title=\"{0}\">{0}</div><div class=\"lane\">", device);
      for_each_tick([&](size_t, double us) {  // first, so that bars lie above
        html += fmt::format("<i style=\"left:{:.3f}%\"></i>", share(us));
      });
      for (const size_t s : by_start(start)) {
        const RunStage& stage = report_.stages[s];
        if (stage.device == d && stage.*time > 0) html += bar(s, stage.*start, stage.*time);
      }
      html += "</div>\n";
    }
    return html;
  }

  // Medians of starts and times may overlap: then the later stage is seen above the earlier.
  std::vector<size_t> by_start(double RunStage::*start) const {
    std::vector<size_t> order(report_.stages.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t s) { return report_.stages[s].*start; });
    return order;
  }

  std::string bar(size_t s, double start_us, double time_us) const {
    const RunStage& stage = report_.stages[s];
    std::string what = fmt::format("{}: {} on {}: measured {} from {}", s, stage.name,
                                   report_.devices[stage.device], page_time(stage.measured_us),
                                   page_time(stage.measured_start_us));
    if (stage.predicted_us > 0) {
      what += fmt::format(", predicted {} from {}", page_time(stage.predicted_us),
                          page_time(stage.predicted_start_us));
    }
    return fmt::format(
        "<div class=\"bar d{}\" style=\"left:{:.3f}%;width:{:.3f}%\" title=\"{}\"><b>{}</b>"
        "<span>{}</span></div>",
        stage.device % kColors, share(start_us), share(time_us), escape_html(what), s,
        page_time(time_us));
  }

  std::string axis() const {
    std::string html = "<div class=\"axis\">";
    for_each_tick([&](size_t i, double us) {
      html += fmt::format("<span class=\"{}\" style=\"left:{:.3f}%\">{}</span>",
                          i % 2 == 0 ? "even" : "odd", share(us), tick_text(us));
    });
    return html + "</div>\n";
  }

  // All in the unit that suits the last.
  std::string tick_text(double us) const {
    if (us == 0) return "0";
    if (last_us_ >= 2e6) return fmt::format("{:.6g} s", us / 1e6);
    if (last_us_ >= 2e3) return fmt::format("{:.6g} ms", us / 1e3);
    return fmt::format("{:.6g} µs", us);
  }

  template <class Take>
  void for_each_tick(const Take& take) const {
    for (size_t i = 0; double(i) * tick_us_ <= last_us_ * 1.0001; ++i)
      take(i, double(i) * tick_us_);
  }

  const RunReport& report_;
  double last_us_ = 0, tick_us_ = 1;
};

struct Cell {
  std::string text;
  bool is_text = false;  // to the left, as numbers are to the right
};

std::string row(const char* tag, const std::vector<Cell>& cells) {
  std::string html = "<tr>";
  for (const Cell& cell : cells) {
    html += fmt::format("<{0}{2}>{1}</{0}>", tag, escape_html(cell.text),
                        cell.is_text ? " class=\"text\"" : "");
  }
  return html + "</tr>\n";
}

// A card, in which a table that is too wide can be moved.
std::string table_section(const char* title, const std::vector<Cell>& titles,
                          const std::string& rows) {
  return fmt::format(
      "<section><h2>{}</h2>\n<div class=\"scroll\"><table><thead>{}</thead>\n<tbody>{}</tbody>"
      "</table></div></section>\n",
      title, row("th", titles), rows);
}

std::string off_by(double predicted_us, double measured_us) {
  if (predicted_us <= 0 || measured_us <= 0) return "-";
  return fmt::format("{:+.0f}%", 100 * (predicted_us / measured_us - 1));
}

std::string stages_section(const RunReport& report) {
  std::string rows;
  for (size_t s = 0; s < report.stages.size(); ++s) {
    const RunStage& stage = report.stages[s];
    rows += row("td", {{std::to_string(s)},
                       {stage.name, true},
                       {report.devices[stage.device], true},
                       {page_time(stage.measured_start_us)},
                       {page_time(stage.measured_us)},
                       {time_or_none(stage.predicted_us)},
                       {off_by(stage.predicted_us, stage.measured_us)}});
  }
  return table_section("Stages",
                       {{"stage"},
                        {"file", true},
                        {"device", true},
                        {"starts"},
                        {"takes"},
                        {"predicted"},
                        {"off by"}},
                       rows);
}

std::string cuts_section(const RunReport& report) {
  if (report.cuts.empty()) return "";
  std::string rows;
  for (const RunCut& cut : report.cuts) {
    rows += row("td", {{shortened(printable(cut.name), 60), true},
                       {std::to_string(cut.from)},
                       {std::to_string(cut.to)},
                       {format_bytes(cut.bytes)},
                       {page_time(cut.wait_us)},
                       {cut.predicted_wait_us < 0 ? "-" : page_time(cut.predicted_wait_us)}});
  }
  return table_section(
      "Tensors between stages",
      {{"tensor", true}, {"from stage"}, {"to stage"}, {"bytes"}, {"waits"}, {"predicted"}}, rows);
}

// "174.1 µs measured, 478.2 µs predicted; outputs agree; 1 thread"
std::string summary_of(const RunReport& report) {
  std::string text = page_time(report.measured_us) + " measured";
  if (report.predicted_us > 0) text += ", " + page_time(report.predicted_us) + " predicted";
  for (const std::string& remark : report.remarks) text += "; " + remark;
  return text;
}

std::string facts_of(const RunReport& report) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"one request, measured", page_time(report.measured_us)}};
  if (report.predicted_us > 0) {
    facts.emplace_back("predicted", fmt::format("{} ({})", page_time(report.predicted_us),
                                                off_by(report.predicted_us, report.measured_us)));
  }
  facts.insert(facts.end(), report.facts.begin(), report.facts.end());
  std::string html;
  for (const auto& [name, value] : facts) {
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape_html(name), escape_html(value));
  }
  return html;
}

}  // namespace

std::string page_time(double us) {
  return micro(format_us(us));
}

std::string run_page(const RunReport& report) {
  const std::string title = escape_html(report.title);
  const std::string note =
      report.note.empty() ? ""
                          : fmt::format("<p class=\"hint\">{}</p>\n", escape_html(report.note));
  return fmt::format(
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
             "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
             "<title>{0}</title>\n<style>\n{1}{2}</style>\n</head>\n<body>\n<header><h1>{0}</h1>\n"
             "<p id=\"subtitle\">{3}</p>\n<dl id=\"facts\">{4}</dl></header>\n<main>\n",
             title, page::report_css, kStyle, escape_html(summary_of(report)), facts_of(report)) +
         "<section><h2>Timelines</h2>\n" + Drawing(report).draw() + note + "</section>\n" +
         stages_section(report) + cuts_section(report) + "</main>\n</body>\n</html>\n";
}

}  // namespace placeto
