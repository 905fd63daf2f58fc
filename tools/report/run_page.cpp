#include "tools/report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/report/html.h"
#include "tools/report/page_files.h"
#include "tools/report/table.h"

namespace placeto {
namespace {

constexpr double kWidth = 1200, kNames = 110, kLane = 26, kGap = 6, kHeading = 30, kAxis = 26;
constexpr size_t kColors = 8;  // --d0 to --d7 of the style

// 1, 2 or 5 times a power of ten, about a tenth of the range.
double tick_of(double range_us) {
  const double power = std::pow(10, std::floor(std::log10(range_us / 10)));
  for (const double step : {1., 2., 5.}) {
    if (range_us / (step * power) <= 10) return step * power;
  }
  return 10 * power;
}

std::string text_at(double x, double y, const char* anchor, std::string_view text) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"currentColor\">{}</text>\n", x, y,
      anchor, escape_html(text));
}

// Both timelines, drawn from the top down.
class Drawing {
 public:
  explicit Drawing(const RunReport& report) : report_(report) {
    for (const RunStage& s : report.stages) {
      last_us_ = std::max(
          {last_us_, s.measured_start_us + s.measured_us, s.predicted_start_us + s.predicted_us});
    }
    if (last_us_ <= 0) last_us_ = 1;
  }

  std::string draw() {
    timeline("measured", &RunStage::measured_start_us, &RunStage::measured_us);
    if (report_.predicted_us > 0) {
      timeline("predicted", &RunStage::predicted_start_us, &RunStage::predicted_us);
    }
    axis();
    return fmt::format(
               "<svg viewBox=\"0 0 {:.0f} {:.0f}\" width=\"100%\" font-size=\"12\" role=\"img\" "
               "aria-label=\"Stages by device, measured above predicted\">\n",
               kWidth, y_) +
           svg_ + "</svg>\n";
  }

 private:
  double x(double us) const { return kNames + (kWidth - kNames - 20) * us / last_us_; }

  void timeline(const char* name, double RunStage::*start, double RunStage::*time) {
    y_ += kHeading;
    svg_ += text_at(0, y_ - 10, "start", name);
    for (size_t d = 0; d < report_.devices.size(); ++d) {
      svg_ += text_at(kNames - 10, y_ + kLane * 0.68, "end", shortened(report_.devices[d], 14));
      svg_ +=
          fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"var(--lane)\"/>\n",
                      kNames, y_, kWidth - kNames - 20, kLane);
      for (const RunStage& stage : report_.stages) {
        if (stage.device == d && stage.*time > 0) slice(stage, stage.*start, stage.*time);
      }
      y_ += kLane + kGap;
    }
  }

  void slice(const RunStage& stage, double start_us, double time_us) {
    std::string what =
        fmt::format("{} on {}: measured {} from {}", stage.name, report_.devices[stage.device],
                    format_us(stage.measured_us), format_us(stage.measured_start_us));
    if (stage.predicted_us > 0) {
      what += fmt::format(", predicted {} from {}", format_us(stage.predicted_us),
                          format_us(stage.predicted_start_us));
    }
    svg_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"var(--d{})\" "
        "stroke=\"var(--panel)\"><title>{}</title></rect>\n",
        x(start_us), y_, std::max(0.5, x(start_us + time_us) - x(start_us)), kLane,
        stage.device % kColors, escape_html(what));
  }

  void axis() {
    const double step = tick_of(last_us_);
    for (double us = 0; us <= last_us_ * 1.0001; us += step) {
      svg_ += fmt::format(
          "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"var(--grid)\"/>\n",
          x(us), kHeading, y_);
      svg_ += text_at(x(us), y_ + 16, "middle", format_us(us));
    }
    y_ += kAxis;
  }

  const RunReport& report_;
  double last_us_ = 0, y_ = 0;
  std::string svg_;
};

std::string row(const char* cell, std::initializer_list<std::string> texts) {
  std::string html = "<tr>";
  for (const std::string& text : texts) {
    html += fmt::format("<{0}>{1}</{0}>", cell, escape_html(text));
  }
  return html + "</tr>\n";
}

std::string off_by(double predicted_us, double measured_us) {
  if (predicted_us <= 0 || measured_us <= 0) return "-";
  return fmt::format("{:+.0f}%", 100 * (predicted_us / measured_us - 1));
}

std::string stage_rows(const RunReport& report) {
  std::string html = row("th", {"stage", "device", "starts", "takes", "predicted", "off by"});
  for (const RunStage& s : report.stages) {
    html +=
        row("td", {s.name, report.devices[s.device], format_us(s.measured_start_us),
                   format_us(s.measured_us), s.predicted_us > 0 ? format_us(s.predicted_us) : "-",
                   off_by(s.predicted_us, s.measured_us)});
  }
  return html;
}

std::string facts_of(const RunReport& report) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"one request, measured", format_us(report.measured_us)}};
  if (report.predicted_us > 0) {
    facts.emplace_back("predicted", fmt::format("{} ({})", format_us(report.predicted_us),
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

std::string run_page(const RunReport& report) {
  const std::string title = escape_html(report.title);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n<header><h1>{0}</h1>\n"
      "<dl id=\"facts\">{2}</dl></header>\n<main>\n<section><h2>Timelines</h2>\n{3}</section>\n"
      "<section><h2>Stages</h2>\n<table>{4}</table></section>\n</main>\n</body>\n</html>\n",
      title, page::report_css, facts_of(report), Drawing(report).draw(), stage_rows(report));
}

}  // namespace placeto
