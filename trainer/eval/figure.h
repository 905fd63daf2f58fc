// Figures as SVG: lines over two axes, and groups of bars. Every line has a colour and dashes of
// its own, in the legend as in the plot, so that lines are told apart without colours, too.
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
  bool steps = false;   // horizontal, then vertical
  bool dashed = false;  // as no other line is: a level, say
  bool marks = false;   // a dot at each point
};

struct LineFigure {
  std::string title;
  Axis x, y;
  std::vector<Line> lines;
};

// 420 high, and as wide as the longest name needs. Points outside the axes are drawn at their edge;
// a logarithmic axis begins at a tick.
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
