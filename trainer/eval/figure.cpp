#include "trainer/eval/figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace placeto::train {
namespace {

constexpr const char* kColors[] = {"#666666", "#1b7837", "#2166ac", "#b2182b", "#e08214",
                                   "#542788", "#01918c", "#8c510a", "#c51b7d", "#4d4d4d"};
// By which lines are told apart in grey, too. As many that no colour meets the same dashes again in
// the next rounds. kDashed is for lines that ask for dashes.
constexpr const char* kDashes[] = {"", "10 3", "2 2", "8 3 2 3", "3 6", "4 2", "8 2 2 2 2 2"};
constexpr const char* kDashed = "6 4";
constexpr double kPlot = 450, kHeight = 420;
constexpr double kLeft = 64, kRight = 16, kTop = 36, kBottom = 50;
constexpr double kSample = 34;  // of a line in the legend

const char* color(size_t i) {
  return kColors[i % std::size(kColors)];
}

std::string dashes(size_t i, bool dashed) {
  const std::string pattern = dashed ? kDashed : kDashes[i % std::size(kDashes)];
  return pattern.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", pattern);
}

// Of 12 px in a wide sans-serif: more than any reader's font takes.
double text_width(const std::string& text) {
  return 7.2 * double(text.size());
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

std::string text(double x, double y, const char* anchor, const std::string& content,
                 const std::string& more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                     anchor, more, escaped(content));
}

std::string open(double width, double height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"white\"/>\n",
      width, height);
}

constexpr double kFewBelow = 200;  // last over first of an axis with few powers of ten

// Round steps: 1, 2 or 5 times a power of ten; powers of ten (and 2 and 5 times them, where there
// are few) on a logarithmic axis. None where the axis has no such steps, which would never end.
std::vector<double> ticks(const Axis& axis) {
  std::vector<double> result;
  if (!std::isfinite(axis.least) || !std::isfinite(axis.most)) return result;
  if (axis.logarithmic ? axis.least <= 0 : axis.most <= axis.least) return result;
  if (axis.logarithmic) {
    const bool few = axis.most / axis.least < kFewBelow;
    for (double p = std::pow(10, std::floor(std::log10(axis.least))); p <= axis.most; p *= 10) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double tick = p * factor;
        if (factor > 1 && !few) continue;
        if (tick >= axis.least * 0.999 && tick <= axis.most * 1.001) result.push_back(tick);
      }
    }
    return result;
  }
  const double span = axis.most - axis.least;
  double step = std::pow(10, std::floor(std::log10(span / 4)));
  for (const double factor : {5.0, 2.0}) {
    if (span / (step * factor) >= 4) step *= factor;
  }
  for (double tick = std::ceil(axis.least / step - 1e-9) * step; tick <= axis.most + step * 1e-9;
       tick += step) {
    result.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
  }
  return result;
}

// A logarithmic axis begins at a tick: no point is left of all numbers.
Axis from_tick(Axis axis) {
  if (!axis.logarithmic || axis.least <= 0 || !std::isfinite(axis.least)) return axis;
  const double power = std::pow(10, std::floor(std::log10(axis.least) + 1e-9)), least = axis.least;
  axis.least = power;
  if (axis.most / power >= kFewBelow) return axis;
  for (const double factor : {2.0, 5.0}) {
    if (power * factor <= least * 1.001) axis.least = power * factor;
  }
  return axis;
}

// Where the plot lies, and how values become pixels.
struct Plot {
  Axis x, y;
  double left, top, width, height;

  static double share(const Axis& axis, double value) {
    const double v = std::clamp(value, axis.least, axis.most);
    return axis.logarithmic ? std::log(v / axis.least) / std::log(axis.most / axis.least)
                            : (v - axis.least) / (axis.most - axis.least);
  }
  double px(double value) const { return left + width * share(x, value); }
  double py(double value) const { return top + height * (1 - share(y, value)); }
};

std::string y_axis(const Plot& p) {
  std::string svg;
  for (const double tick : ticks(p.y)) {
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}h{:.1f}\" stroke=\"#dddddd\"/>\n", p.left,
                       p.py(tick), p.width);
    svg += text(p.left - 6, p.py(tick) + 4, "end", fmt::format(fmt::runtime(p.y.format), tick));
  }
  const double x = p.left - 46, y = p.top + p.height / 2;
  return svg + text(x, y, "middle", p.y.title,
                    fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", x, y));
}

std::string x_axis(const Plot& p) {
  std::string svg;
  for (const double tick : ticks(p.x)) {
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}v4\" stroke=\"black\"/>\n", p.px(tick),
                       p.top + p.height);
    svg += text(p.px(tick), p.top + p.height + 17, "middle",
                fmt::format(fmt::runtime(p.x.format), tick));
  }
  return svg + text(p.left + p.width / 2, p.top + p.height + 38, "middle", p.x.title);
}

std::string frame(const Plot& p, const std::string& title) {
  // A title wider than the plot is moved to the right, not out of the figure.
  const double middle = std::max(p.left + p.width / 2, text_width(title) / 2 + kRight);
  return fmt::format("<path d=\"M{:.1f} {:.1f}v{:.1f}h{:.1f}\" fill=\"none\" stroke=\"black\"/>\n",
                     p.left, p.top, p.height, p.width) +
         text(middle, p.top - 14, "middle", title, " font-weight=\"bold\"");
}

std::string draw_line(const Plot& p, const Line& line, size_t index) {
  std::string path, marks;
  for (const auto& [x, y] : line.points) {
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    if (path.empty())
      path = fmt::format("M{:.1f} {:.1f}", p.px(x), p.py(y));
    else if (line.steps)
      path += fmt::format("H{:.1f}V{:.1f}", p.px(x), p.py(y));
    else
      path += fmt::format("L{:.1f} {:.1f}", p.px(x), p.py(y));
    if (line.marks) {
      marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", p.px(x),
                           p.py(y), color(index));
    }
  }
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", path,
                     color(index), dashes(index, line.dashed)) +
         marks;
}

std::string legend_entry(double x, double y, const std::string& stroke, const std::string& name) {
  return fmt::format("<path d=\"M{:.1f} {:.1f}h{:.0f}\" {}/>\n", x, y - 4, kSample, stroke) +
         text(x + kSample + 6, y, "start", name);
}

// Of lines as they are drawn.
std::string legend(double x, double y, const std::vector<Line>& lines) {
  std::string svg;
  for (size_t i = 0; i < lines.size(); ++i, y += 18) {
    const std::string stroke =
        fmt::format("stroke=\"{}\" stroke-width=\"2\"{}", color(i), dashes(i, lines[i].dashed));
    svg += legend_entry(x, y, stroke, lines[i].name);
  }
  return svg;
}

double legend_width(const std::vector<std::string>& names) {
  double width = 0;
  for (const std::string& name : names) width = std::max(width, text_width(name));
  return kSample + 6 + width + kRight;
}

std::vector<std::string> names_of(const LineFigure& figure) {
  std::vector<std::string> names;
  for (const Line& line : figure.lines) names.push_back(line.name);
  return names;
}

std::string draw_plot(const LineFigure& figure, double left, double width) {
  const Plot p{from_tick(figure.x),     from_tick(figure.y), left, kTop, width,
               kHeight - kTop - kBottom};
  std::string svg = y_axis(p) + x_axis(p) + frame(p, figure.title);
  for (size_t i = 0; i < figure.lines.size(); ++i) svg += draw_line(p, figure.lines[i], i);
  return svg;
}

}  // namespace

std::string draw(const LineFigure& figure) {
  const double end = kLeft + kPlot + kRight;
  return open(end + legend_width(names_of(figure)), kHeight) + draw_plot(figure, kLeft, kPlot) +
         legend(end, kTop + 10, figure.lines) + "</svg>\n";
}

std::string draw(const std::vector<LineFigure>& figures) {
  constexpr double kOne = 300;
  const double end = kOne * double(figures.size());
  std::string svg = open(end + legend_width(names_of(figures.front())), kHeight);
  for (size_t i = 0; i < figures.size(); ++i) {
    svg += draw_plot(figures[i], kOne * double(i) + kLeft, kOne - kLeft - kRight);
  }
  return svg + legend(end, kTop + 10, figures.front().lines) + "</svg>\n";
}

std::string draw(const BarFigure& figure) {
  constexpr double kBar = 30, kGap = 24;
  const auto groups = double(figure.groups.size()), bars = double(figure.bars.size());
  const double plot = groups * (bars * kBar + kGap);
  std::vector<std::string> names;
  for (const auto& bar : figure.bars) names.push_back(bar.first);
  const double end = kLeft + plot + kRight;
  const double width = std::max(end + legend_width(names), text_width(figure.title) + 2 * kRight);
  const Axis none;
  const Plot p{none, figure.y, kLeft, kTop, plot, kHeight - kTop - kBottom};
  std::string svg = open(width, kHeight) + y_axis(p) + frame(p, figure.title);
  for (size_t b = 0; b < figure.bars.size(); ++b) {
    for (size_t g = 0; g < figure.groups.size(); ++g) {
      const double value = figure.bars[b].second[g];
      if (!std::isfinite(value)) continue;
      const double x = kLeft + kGap / 2 + double(g) * (bars * kBar + kGap) + double(b) * kBar;
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x,
          p.py(value), kBar - 3, p.top + p.height - p.py(value), color(b));
      svg += text(x + kBar / 2 - 1, p.py(value) - 3, "middle",
                  fmt::format(fmt::runtime(figure.y.format), value), " font-size=\"9\"");
    }
  }
  for (size_t g = 0; g < figure.groups.size(); ++g) {
    const double middle = kLeft + (double(g) + 0.5) * (bars * kBar + kGap);
    svg += text(middle, p.top + p.height + 17, "middle", figure.groups[g]);
  }
  for (size_t b = 0; b < names.size(); ++b) {
    const std::string stroke = fmt::format("stroke=\"{}\" stroke-width=\"8\"", color(b));
    svg += legend_entry(end, kTop + 10 + 18 * double(b), stroke, names[b]);
  }
  return svg + "</svg>\n";
}

}  // namespace placeto::train
