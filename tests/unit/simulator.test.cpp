#include "runtime/cost/simulator.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/golden.h"

namespace placeto {
namespace {

constexpr double kTolerance_us = 1e-6;

double largest_difference(std::span<const double> a, std::span<const double> b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
  return largest;
}

}  // namespace

TEST_CASE(
    "every timeline of the published simulator is reproduced to a millionth of a microsecond") {
  const std::vector<test::GoldenCase> cases = test::read_golden_cases();
  REQUIRE(cases.size() == 255);
  for (const test::GoldenCase& c : cases) {
    CAPTURE(c.id);
    const Graph graph = Graph::build(c.graph).value();
    const Topology topology = Topology::build(c.topology).value();
    const Problem problem = Problem::build(graph, topology).value();
    Simulator simulator(problem);
    const Timeline& timeline = simulator.run(c.assignment);
    CHECK(std::fabs(timeline.makespan_us - c.makespan_us) <= kTolerance_us);
    CHECK(std::fabs(timeline.drain_us - c.drain_us) <= kTolerance_us);
    CHECK(largest_difference(timeline.start_us, c.start_us) <= kTolerance_us);
    CHECK(largest_difference(timeline.finish_us, c.finish_us) <= kTolerance_us);
    CHECK(simulator.makespan_us(c.assignment) == timeline.makespan_us);
  }
}

}  // namespace placeto
