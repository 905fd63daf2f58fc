#include "trainer/eval/figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace placeto::train {
namespace {

constexpr const char* kColors[] = {"#666666", "#1b7837", "#2166ac", "#b2182b", "#e08214",
                                   "#542788", "#01918c", "#8c510a", "#c51b7d", "#4d4d4d"};
constexpr double kWidth = 720, kHeight = 420;
constexpr double kLeft = 64, kRight = 16, kTop = 36, kBottom = 50, kLegend = 190;

const char* color(size_t i) {
  return kColors[i % std::size(kColors)];
}

// Lines beyond the colours are dashed.
const char* dashes(size_t i, bool dashed) {
  return dashed || i >= std::size(kColors) ? " stroke-dasharray=\"6 4\"" : "";
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

// Round steps: 1, 2 or 5 times a power of ten; powers of ten (and 2 and 5 times them, where there
// are few) on a logarithmic axis. None where the axis has no such steps, which would never end.
std::vector<double> ticks(const Axis& axis) {
  std::vector<double> result;
  if (!std::isfinite(axis.least) || !std::isfinite(axis.most)) return result;
  if (axis.logarithmic ? axis.least <= 0 : axis.most <= axis.least) return result;
  if (axis.logarithmic) {
    const bool few = axis.most / axis.least < 200;
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

// Where the plot lies, and how values become pixels.
struct Plot {
  const Axis& x;
  const Axis& y;
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
  return fmt::format("<path d=\"M{:.1f} {:.1f}v{:.1f}h{:.1f}\" fill=\"none\" stroke=\"black\"/>\n",
                     p.left, p.top, p.height, p.width) +
         text(p.left + p.width / 2, p.top - 14, "middle", title, " font-weight=\"bold\"");
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

template <class Entries>
std::string legend(double x, double y, const Entries& entries, int thickness = 3) {
  std::string svg;
  for (size_t i = 0; i < entries.size(); ++i, y += 18) {
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}h16\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", x,
                       y - 4, color(i), thickness, dashes(i, false));
    svg += text(x + 20, y, "start", entries[i]);
  }
  return svg;
}

std::vector<std::string> names_of(const LineFigure& figure) {
  std::vector<std::string> names;
  for (const Line& line : figure.lines) names.push_back(line.name);
  return names;
}

std::string draw_plot(const LineFigure& figure, double left, double width) {
  const Plot p{figure.x, figure.y, left, kTop, width, kHeight - kTop - kBottom};
  std::string svg = y_axis(p) + x_axis(p) + frame(p, figure.title);
  for (size_t i = 0; i < figure.lines.size(); ++i) svg += draw_line(p, figure.lines[i], i);
  return svg;
}

}  // namespace

std::string draw(const LineFigure& figure) {
  return open(kWidth, kHeight) + draw_plot(figure, kLeft, kWidth - kLeft - kRight - kLegend) +
         legend(kWidth - kLegend, kTop + 10, names_of(figure)) + "</svg>\n";
}

std::string draw(const std::vector<LineFigure>& figures) {
  constexpr double kOne = 300;
  const double width = kOne * double(figures.size()) + kLegend;
  std::string svg = open(width, kHeight);
  for (size_t i = 0; i < figures.size(); ++i) {
    svg += draw_plot(figures[i], kOne * double(i) + kLeft, kOne - kLeft - kRight);
  }
  return svg + legend(width - kLegend + 10, kTop + 10, names_of(figures.front())) + "</svg>\n";
}

std::string draw(const BarFigure& figure) {
  constexpr double kBar = 30, kGap = 24;
  const auto groups = double(figure.groups.size()), bars = double(figure.bars.size());
  const double plot = groups * (bars * kBar + kGap);
  const double width = kLeft + plot + kLegend + kRight;
  const Axis none;
  const Plot p{none, figure.y, kLeft, kTop, plot, kHeight - kTop - kBottom};
  std::string svg = open(width, kHeight) + y_axis(p) + frame(p, figure.title);
  std::vector<std::string> names;
  for (size_t b = 0; b < figure.bars.size(); ++b) {
    names.push_back(figure.bars[b].first);
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
  return svg + legend(width - kLegend, kTop + 10, names, 8) + "</svg>\n";
}

}  // namespace placeto::train
