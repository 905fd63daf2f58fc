#include "trainer/eval/figure.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace placeto::train;

TEST_CASE("a figure is drawn whatever its axes are") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const bool logarithmic : {false, true}) {
    for (const auto& [least, most] : {std::pair{0.0, 0.0}, {-1.0, 1.0}, {1.0, kInfinity}}) {
      const Axis axis{"axis", least, most, logarithmic};
      const LineFigure figure{"title", axis, axis, {{.name = "line", .points = {{1, 1}}}}};
      CHECK(draw(figure).ends_with("</svg>\n"));
    }
  }
}

namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

double width_of(const std::string& svg) {
  const std::string before = "width=\"";
  return std::stod(svg.substr(svg.find(before) + before.size()));
}

}  // namespace

TEST_CASE("a line has the same dashes in the legend as in the plot, and others have others") {
  const LineFigure figure{"title",
                          {"x"},
                          {"y"},
                          {{.name = "a", .points = {{0, 0}, {1, 1}}, .dashed = true},
                           {.name = "b", .points = {{0, 1}, {1, 1}}},
                           {.name = "c", .points = {{0, 1}, {1, 0}}}}};
  const std::string svg = draw(figure);
  CHECK(count(svg, "stroke-dasharray=\"6 4\"") == 2);
  CHECK(count(svg, "stroke-dasharray=\"10 3\"") == 2);
  CHECK(count(svg, "stroke-dasharray=\"2 2\"") == 2);
}

TEST_CASE("a figure has room for the longest name of its legend, and for its title") {
  LineFigure lines{"title", {"x"}, {"y"}, {{.name = "short", .points = {{0, 0}}}}};
  const double narrow = width_of(draw(lines));
  lines.lines[0].name = std::string(60, 'w');
  CHECK(width_of(draw(lines)) > narrow + 300);
  const BarFigure bars{std::string(90, 't'), {"y"}, {"set"}, {{"a", {0.5}}}};
  CHECK(width_of(draw(bars)) > 600);
}

TEST_CASE("no point is left of the first tick of a logarithmic axis") {
  const Axis x{"x", 3, 3000, true, "{:.0f}"};
  const LineFigure figure{"title", x, {"y"}, {{.name = "a", .points = {{3, 1}}}}};
  CHECK(draw(figure).find("text-anchor=\"middle\">1</text>") != std::string::npos);
}
