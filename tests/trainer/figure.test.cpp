#include "trainer/eval/figure.h"

#include <doctest/doctest.h>

#include <limits>

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
