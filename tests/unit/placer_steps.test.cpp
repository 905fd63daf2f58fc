#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "runtime/heuristics/heuristics.h"
#include "runtime/placer/methods.h"
#include "runtime/placer/placer.h"
#include "runtime/placer/steps.h"
#include "runtime/search/polish.h"
#include "tests/support/random_problem.h"
#include "tests/unit/workloads_support.h"

using namespace placeto;

TEST_CASE("every heuristic that is part of auto is a step of its own, before what improves it") {
  const std::vector<Step> steps = auto_steps();
  std::set<std::string_view> names;
  for (const Step& step : steps) {
    CAPTURE(step.name);
    CHECK(names.insert(step.name).second);
    CHECK(!step.summary.empty());
    CHECK(!step.when.empty());
  }
  size_t heuristics = 0;
  for (const Method* method : builtin_methods()) {
    CHECK(find_method(method->name()) == method);
    if (!method->in_auto()) continue;
    CHECK(steps[heuristics].method == method);
    CHECK(steps[heuristics++].name == method->name());
  }
  CHECK(heuristics > 0);
  for (size_t i = heuristics; i < steps.size(); ++i) CHECK(steps[i].method == nullptr);
}

TEST_CASE("what is called single is on that device, whatever rules say, and told once") {
  GraphSpec spec;
  for (const char* name : {"a", "b", "c"}) {
    spec.nodes.emplace_back();
    spec.nodes.back().name = name;
    spec.nodes.back().cost_us = {1};
  }
  const Graph graph = *Graph::build(spec);
  const Topology topology = *Topology::build(test::equal_devices(3));
  const auto methods = [&](uint32_t pinned) {
    Rules rules;
    for (uint32_t v = 0; v < pinned; ++v) rules.pins.push_back({v, 2});
    const Problem problem = *Problem::build(graph, topology, rules);
    Evaluator evaluator(problem);
    std::vector<std::string> names;
    for (const Candidate& c : place_on_each_device(problem, evaluator)) names.push_back(c.method);
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(methods(0) == Names{"single gpu:0", "single gpu:1", "single gpu:2"});
  CHECK(methods(1) == Names{"mostly gpu:0", "mostly gpu:1", "single gpu:2"});
  CHECK(methods(3) == Names{"single gpu:2"});
}

TEST_CASE(
    "of very many devices the one is tried on which stages start sooner, or rules let all be") {
  GraphSpec graph;
  for (uint32_t v = 0; v < 20; ++v) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = "n" + std::to_string(v);
    graph.nodes.back().cost_us = {10};
    graph.nodes.back().outputs = {1'000};
    if (v > 0) graph.edges.push_back({v - 1, 0, v});
  }
  TopologySpec topology = test::equal_devices(70);
  Rules rules;
  rules.forbids = {{.node = 5, .device = 0}};
  const test::Instance forbidden = test::build_instance(graph, topology, rules);
  REQUIRE(forbidden.problem);
  const Result<PlaceResult> single = place(*forbidden.problem, "single", {});
  REQUIRE(single.ok());
  CHECK(single->timeline.makespan_us == 200);

  topology.execution = Execution::kStaged;
  for (DeviceSpec& device : topology.devices) device.stage_us = 1'000;
  topology.devices[40].stage_us = 1;
  const test::Instance staged = test::build_instance(graph, topology);
  REQUIRE(staged.problem);
  CHECK(place(*staged.problem, "single", {})->timeline.makespan_us == 201);
}

TEST_CASE("who watches is told of no evaluations but those that the budget is for") {
  WorkloadOptions shape;
  shape.nodes = 40;
  const test::Instance instance =
      test::build_instance(generated("layered", shape), test::equal_devices(4));
  REQUIRE(instance.problem);
  for (const std::string_view method : {"auto", "anneal", "iterate"}) {
    CAPTURE(method);
    PlacingProgress progress;
    MethodOptions options{.progress = &progress};
    const PlaceOutcome brief = place(*instance.problem, method, options);
    REQUIRE(brief.ok());
    CHECK((progress.evaluations > 0) == (method == "anneal"));  // which has a budget of its own
    CHECK(progress.best_us == brief->best.score.objective_us);
    options.budget.evaluations = 100;
    progress = {};
    const PlaceOutcome placed = place(*instance.problem, method, options);
    REQUIRE(placed.ok());
    CHECK((progress.evaluations > 0) == (method != "iterate"));
    CHECK(progress.evaluations < 101);  // the last may end beyond
    CHECK(progress.best_us == placed->best.score.objective_us);
  }
}

TEST_CASE("the C header names every way to place") {
  std::ifstream file(PLACETO_SOURCE_DIR "/runtime/include/placeto/placeto.h");
  std::stringstream text;
  text << file.rdbuf();
  const std::string header = text.str();
  const size_t begin = header.find("const char* method; ");
  REQUIRE(begin != std::string::npos);
  const std::string comment = header.substr(begin, header.find("*/", begin) - begin);
  for (std::string_view name : placer_names()) {
    CAPTURE(name);
    CHECK(comment.find('"' + std::string(name) + '"') != std::string::npos);
  }
  const auto named = std::count(comment.begin(), comment.end(), '"') / 2;
  CHECK(static_cast<size_t>(named) == placer_names().size());
}

namespace {

// Four hundred nodes or more, whose devices run stages.
test::Instance staged_devices(const char* family, uint32_t nodes, uint64_t seed, uint32_t devices) {
  WorkloadOptions graph;
  graph.nodes = nodes;
  graph.ccr = 0.5;
  graph.seed = seed;
  TopologySpec topology = test::equal_devices(devices);
  topology.execution = Execution::kStaged;
  topology.default_link = {.bandwidth_bytes_per_us = 1'000, .latency_us = 10};
  for (DeviceSpec& device : topology.devices) device.stage_us = 50;
  test::Instance instance = test::build_instance(generated(family, graph), topology);
  REQUIRE(instance.problem);
  return instance;
}

}  // namespace

// Where stages alone end, moves still gain, which are not looked at one by one there.
TEST_CASE("a brief search improves large staged placements without a budget") {
  double log_ratios = 0;
  constexpr int kGraphs = 6;
  for (int i = 0; i < kGraphs; ++i) {
    const test::Instance instance = staged_devices(i % 2 == 0 ? "layered" : "series_parallel", 400,
                                                   static_cast<uint64_t>(i), 4);
    const PlaceOutcome placed = place_auto(*instance.problem, {});
    REQUIRE(placed.ok());
    double before_us = kNever;
    for (const Candidate& candidate : placed->candidates) {
      if (candidate.method == "brief") continue;
      before_us = std::min(before_us, candidate.score.objective_us);
    }
    log_ratios += std::log(placed->best.score.objective_us / before_us);
  }
  CHECK(std::exp(log_ratios / kGraphs) < 0.99);
}

// Otherwise a longer search would not begin with all of a shorter one.
TEST_CASE("a brief search finds the same whatever the budget is") {
  const test::Instance instance = staged_devices("series_parallel", 600, 1, 2);
  const uint64_t enough = evaluations_to_polish(*instance.problem);
  std::vector<double> found_us, answer_us;
  for (const uint64_t evaluations : {uint64_t{0}, enough - 1, enough}) {
    const PlaceOutcome placed =
        place_auto(*instance.problem, {.budget = {.evaluations = evaluations}});
    REQUIRE(placed.ok());
    answer_us.push_back(placed->best.score.objective_us);
    for (const Candidate& candidate : placed->candidates) {
      if (candidate.method == "brief") found_us.push_back(candidate.score.objective_us);
    }
  }
  REQUIRE(found_us.size() == 3);
  CHECK(found_us[1] == found_us[0]);
  CHECK(found_us[2] == found_us[0]);
  CHECK(answer_us[1] <= answer_us[0]);
  CHECK(answer_us[2] <= answer_us[1]);
}
