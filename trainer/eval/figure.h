// Figures as SVG: lines over two axes, and groups of bars. Legible in black and white print as far
// as the legend goes: every line has its name at a mark of its own colour.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace placeto::train {

struct Axis {
  std::string title;
  double least = 0, most = 1;
  bool logarithmic = false;       // least > 0, or it has no ticks
  std::string format = "{:.2f}";  // of the ticks
};

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool steps = false;  // horizontal, then vertical
  bool dashed = false;
  bool marks = false;  // a dot at each point
};

struct LineFigure {
  std::string title;
  Axis x, y;
  std::vector<Line> lines;
};

// 720 x 420. Points outside the axes are drawn at their edge.
std::string draw(const LineFigure& figure);
// Side by side with one legend, which is the first's.
std::string draw(const std::vector<LineFigure>& figures);

struct BarFigure {
  std::string title;
  Axis y;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::vector<double>>> bars;  // name, a value per group
};
// Values that are not finite leave a gap; each bar has its value written above it.
std::string draw(const BarFigure& figure);

}  // namespace placeto::train
