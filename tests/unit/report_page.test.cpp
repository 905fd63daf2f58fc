#include "tools/report/report_page.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/cost/evaluator.h"
#include "tests/unit/report_scene.h"

using namespace placeto;
using namespace placeto::test;
using nlohmann::json;

namespace {

ReportPlacement shown(const Scene& scene, const std::string& label = "only") {
  ReportPlacement placement;
  placement.label = label;
  placement.method = "heft";
  placement.assignment = scene.assignment;
  placement.timeline = scene.timeline;
  return placement;
}

std::string page_of(const Scene& scene, const ReportPlacement& placement,
                    const LowerBounds& bounds = {}) {
  return report_page(scene.problem, bounds, {&placement, 1});
}

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// What the page's script would read.
json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

}  // namespace

TEST_CASE("a report is one file without references to others") {
  const Scene scene;
  const std::string page = page_of(scene, shown(scene));
  CHECK(page.rfind("<!DOCTYPE html>", 0) == 0);
  CHECK(page.find("Content-Security-Policy\" content=\"default-src 'none'") != std::string::npos);
  for (const char* reference :
       {"http://", " src=", "@import", "url(", "sourceMappingURL", "<link"}) {
    CHECK_MESSAGE(page.find(reference) == std::string::npos, reference);
  }
  // The one address is in the comment that opens uPlot.
  CHECK(count_of(page, "https://") == 1);
  CHECK(page.find("/*! https://github.com/leeoniya/uPlot") != std::string::npos);
  CHECK(count_of(page, "href=\"") == count_of(page, "href=\"#"));
}

TEST_CASE("a report leaves no mark of its template and carries the libraries with licences") {
  const Scene scene;
  const std::string page = page_of(scene, shown(scene));
  for (const char* key : {"{{title}}", "{{data}}", "{{script}}", "{{licences}}", "{{uplot}}"}) {
    CHECK_MESSAGE(page.find(key) == std::string::npos, key);
  }
  CHECK(page.find("Leon Sorokin") != std::string::npos);
  CHECK(page.find("Chris Pettitt") != std::string::npos);
  CHECK(count_of(page, "THE SOFTWARE IS PROVIDED &quot;AS IS&quot;") == 2);
  CHECK(page.find("var uPlot=") != std::string::npos);
  CHECK(page.find("var dagre=") != std::string::npos);
}

TEST_CASE("a report of a very short run keeps digits of its times") {
  constexpr double kFactor = 1e-9;
  GraphSpec graph = scene_graph({});
  for (NodeSpec& node : graph.nodes) node.cost_us[0] *= kFactor;
  TopologySpec topology = scene_topology({});
  topology.op_gap_us *= kFactor;
  topology.default_link = {5000 / kFactor, 3 * kFactor, 2 * kFactor};
  const Scene scene(graph, topology, 1);
  const json data = data_of(page_of(scene, shown(scene)));
  const json& placement = data.at("placements")[0];
  const auto kept = [](const json& shown, double us) {
    CHECK(shown.get<double>() == doctest::Approx(us).epsilon(1e-3));
  };
  kept(placement.at("makespan"), scene.timeline.makespan_us);
  for (uint32_t v = 0; v < scene.graph.node_count(); ++v) {
    kept(placement.at("start")[v], scene.timeline.start_us[v]);
    kept(placement.at("finish")[v], scene.timeline.finish_us[v]);
  }
}

TEST_CASE("a report holds every node, edge, transfer and device") {
  const Scene scene;
  ReportPlacement placement = shown(scene);
  placement.candidates.push_back({"single gpu:0", 99.5, 80, {1, 2, 3}, false, false});
  placement.violations = {"device 'gpu:0' lacks 5 bytes of memory"};
  placement.replicas_us = 26.5;
  LowerBounds bounds;
  bounds.work_us = 12.5;
  const json data = data_of(page_of(scene, placement, bounds));
  CHECK(data.at("lower_bound") == 12.5);
  CHECK(data.at("devices").size() == scene.topology.device_count());
  CHECK(data.at("devices")[0].at("limit").is_null());
  CHECK(data.at("edges").at("source").size() == scene.graph.edge_count());
  const json& nodes = data.at("nodes");
  const json& only = data.at("placements").at(0);
  CHECK(only.at("method") == "heft");
  CHECK(only.at("makespan").get<double>() == doctest::Approx(scene.timeline.makespan_us));
  REQUIRE(nodes.at("name").size() == scene.graph.node_count());
  for (uint32_t v = 0; v < scene.graph.node_count(); ++v) {
    CHECK(nodes.at("name")[v] == scene.graph.node(v).name);
    CHECK(nodes.at("ops")[nodes.at("op")[v].get<size_t>()] == scene.graph.node(v).op);
    CHECK(only.at("device")[v] == scene.assignment[v]);
    // To the nanosecond.
    CHECK(std::abs(only.at("start")[v].get<double>() - scene.timeline.start_us[v]) < 0.0006);
  }
  CHECK(only.at("transfers").at("start").size() == scene.timeline.transfers.size());
  CHECK(only.at("candidates")[0].at("method") == "single gpu:0");
  CHECK(only.at("candidates")[0].at("feasible") == false);
  CHECK(only.at("candidates")[0].at("only") == 0);
  CHECK(only.at("replicas") == 26.5);
  CHECK(only.at("violations")[0] == "device 'gpu:0' lacks 5 bytes of memory");
  CHECK(only.at("reasons").is_null());
}

TEST_CASE("a report says that a placement is optimal where it takes no longer than the bound") {
  const Scene scene;
  LowerBounds bounds;
  const auto proved = [&](const ReportPlacement& placement) {
    return data_of(page_of(scene, placement, bounds)).at("placements")[0].at("proved").get<bool>();
  };
  ReportPlacement placement = shown(scene);
  CHECK_FALSE(proved(placement));
  placement.proved = true;  // for throughput no bound tells
  CHECK(proved(placement));
  placement.proved = false;
  bounds.proved_us = scene.timeline.makespan_us;
  CHECK(proved(placement));
  placement.violations = {"device 'gpu:0' lacks 5 bytes of memory"};
  CHECK_FALSE(proved(placement));
}

TEST_CASE("a report of a staged run holds its stages") {
  const Scene plain;
  CHECK(data_of(page_of(plain, shown(plain))).at("placements")[0].at("stages").empty());
  SceneOptions options;
  options.rules.execution = Execution::kStaged;
  const Scene scene(options);
  const json only = data_of(page_of(scene, shown(scene))).at("placements")[0];
  REQUIRE(!scene.timeline.stages.empty());
  REQUIRE(only.at("stages").size() == scene.timeline.stages.size());
  CHECK(only.at("stages")[0].at("device") == scene.timeline.stages[0].device);
  CHECK(only.at("stage_of").size() == scene.graph.node_count());
  CHECK(only.at("stage_order").size() == scene.timeline.stages.size());
}

TEST_CASE("a report holds several placements of one graph") {
  const Scene scene;
  ReportPlacement first = shown(scene, "first"), second = shown(scene, "second");
  second.assignment.assign(scene.graph.node_count(), 1);
  second.timeline = Simulator(scene.problem).run(second.assignment);
  const ReportPlacement both[] = {first, second};
  const json data = data_of(report_page(scene.problem, {}, both));
  REQUIRE(data.at("placements").size() == 2);
  CHECK(data.at("placements")[1].at("label") == "second");
  CHECK(data.at("placements")[1].at("device")[0] == 1);
  CHECK(data.at("placements")[1].at("transfers").at("start").empty());
  CHECK(data.at("placements")[0].at("makespan") != data.at("placements")[1].at("makespan"));
}

TEST_CASE("names in a report are never markup") {
  const std::string evil =
      "</script><img src=x onerror=alert(1)><!--<script>\"'&\u2028\u202e{{data}}";
  SceneOptions options;
  options.name_prefix = evil;
  GraphSpec graph = scene_graph(options);
  graph.name = evil;
  graph.nodes[0].op = evil;
  TopologySpec topology = scene_topology(options);
  topology.name = evil;
  topology.devices[0].name = evil;
  topology.devices[0].kind = evil;
  const Scene plain, scene(graph, topology, 1);
  const std::string harmless = page_of(plain, shown(plain));
  ReportPlacement placement = shown(scene, evil);
  placement.method = evil;
  placement.violations = {evil};
  placement.candidates.push_back({evil, 1, 1, {1, 2, 3}, true, true});
  const std::string page = page_of(scene, placement);
  for (const char* tag : {"<img", "<!--", "<script", "</script", "<title", "<style"}) {
    CHECK_MESSAGE(count_of(page, tag) == count_of(harmless, tag), tag);
  }
  CHECK(data_of(page).at("nodes").at("name")[0] == evil + "0");
  CHECK(data_of(page).at("graph") == evil);
  CHECK(data_of(page).at("placements")[0].at("label") == evil);
  CHECK(page.find("&lt;img") != std::string::npos);
}

TEST_CASE("a report with a label that is not UTF-8 is still JSON") {
  const Scene scene;
  const json data = data_of(page_of(scene, shown(scene, "\xff\xfe broken")));
  CHECK(data.at("placements")[0].at("label").get<std::string>().find("broken") !=
        std::string::npos);
}

TEST_CASE("a report can show ten thousand nodes in a few megabytes") {
  SceneOptions options;
  options.nodes = 10'000;
  const Scene scene(options);
  const std::string page = page_of(scene, shown(scene));
  const json data = data_of(page);
  CHECK(data.at("nodes").at("name").size() == 10'000);
  CHECK(page.size() < 4'000'000);
  // Memory charts are thinned, their peaks are not.
  for (uint32_t d = 0; d < scene.topology.device_count(); ++d) {
    const auto steps =
        data.at("placements")[0].at("memory")[d].at("bytes").get<std::vector<uint64_t>>();
    CHECK(steps.size() <= 8192);
    CHECK(*std::max_element(steps.begin(), steps.end()) == scene.timeline.peak_memory_bytes[d]);
  }
}

TEST_CASE("reasons name the second-best device and what it would cost") {
  const Scene scene;
  const uint32_t nodes = scene.graph.node_count(), devices = scene.topology.device_count();
  const uint64_t all = nodes * work_of_reason(scene.problem);
  const Reasons reasons = explain_nodes(scene.problem, scene.assignment, {}, {}, all);
  CHECK(reasons.asked == nodes);
  CHECK(reasons.here_us == scene.timeline.makespan_us);
  Simulator simulator(scene.problem);
  for (uint32_t v = 0; v < nodes; ++v) {
    REQUIRE(reasons.second[v] < devices);
    CHECK(reasons.second[v] != scene.assignment[v]);
    double best = std::numeric_limits<double>::infinity();
    Assignment moved = scene.assignment;
    for (uint32_t d = 0; d < devices; ++d) {
      if (d == scene.assignment[v]) continue;
      moved[v] = d;
      best = std::min(best, simulator.makespan_us(moved));
    }
    CHECK(reasons.there_us[v] == doctest::Approx(best).epsilon(1e-12));
  }
}

TEST_CASE("reasons stop where their work ends, after the nodes asked for first") {
  const Scene scene;
  const uint32_t nodes = scene.graph.node_count(), devices = scene.topology.device_count();
  const std::vector<uint32_t> first{41, 7};
  const uint64_t work = 3 * work_of_reason(scene.problem);
  const Reasons reasons = explain_nodes(scene.problem, scene.assignment, {}, first, work);
  CHECK(reasons.asked == 3);
  CHECK(reasons.second[41] < devices);
  CHECK(reasons.second[7] < devices);
  uint32_t longest = 0;
  for (uint32_t v = 0; v < nodes; ++v) {
    if (v == 41 || v == 7) continue;
    if (longest == 41 || longest == 7 ||
        scene.problem.run_us(v, 0) > scene.problem.run_us(longest, 0)) {
      longest = v;
    }
  }
  CHECK(reasons.second[longest] < devices);
  CHECK(std::count(reasons.second.begin(), reasons.second.end(), Reasons::kNotAsked) == nodes - 3);
}

TEST_CASE("fewer reasons are asked for where each has to meter memory, so that they take as long") {
  SceneOptions options;
  const Scene ample(options);
  options.memory_bytes = 1'000'000;
  const Scene scarce(options);
  REQUIRE(scarce.problem.may_overflow());
  const uint64_t work = 40 * work_of_reason(ample.problem);
  CHECK(explain_nodes(ample.problem, ample.assignment, {}, {}, work).asked == 40);
  // Each takes at least five times as long.
  CHECK(explain_nodes(scarce.problem, scarce.assignment, {}, {}, work).asked <= 8);
}

TEST_CASE("fewer reasons are asked for in a graph of many edges, so that they take as long") {
  constexpr uint32_t kLayer = 30;  // two of so many nodes, each of one read by each of the other
  GraphSpec dense;
  for (uint32_t v = 0; v < 2 * kLayer; ++v) {
    NodeSpec& node = dense.nodes.emplace_back(scene_graph({}).nodes[0]);
    node.name = "v" + std::to_string(v);
    node.outputs = {8};
  }
  for (uint32_t u = 0; u < kLayer; ++u) {
    for (uint32_t v = 0; v < kLayer; ++v) dense.edges.push_back({u, 0, kLayer + v});
  }
  const Scene scene(dense, scene_topology({}), 1);
  const uint64_t work = uint64_t{2} * kLayer * scene.topology.device_count() * (2 * kLayer);
  CHECK(explain_nodes(scene.problem, scene.assignment, {}, {}, work).asked == 4);
}

TEST_CASE("reasons say when no other device may run a node") {
  SceneOptions options;
  options.devices = 1;
  const Scene scene(options);
  const Reasons reasons = explain_nodes(scene.problem, scene.assignment, {}, {}, 1'000'000);
  CHECK(reasons.asked == scene.graph.node_count());
  CHECK(reasons.second[0] == Reasons::kNoOther);
}
