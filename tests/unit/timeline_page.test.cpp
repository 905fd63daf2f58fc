#include "tools/report/timeline_page.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/report_scene.h"

using namespace placeto;
using namespace placeto::test;
using nlohmann::json;

static size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// What the page's script would read.
static json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST_CASE("a timeline page is one file without references to others") {
  const Scene scene;
  const std::string page = timeline_page(scene.problem, scene.assignment, scene.timeline, {});
  CHECK(page.rfind("<!DOCTYPE html>", 0) == 0);
  CHECK(page.find("{{") == std::string::npos);
  for (const char* reference : {"http://", "https://", "src=", "href=", "@import", "url("}) {
    CHECK_MESSAGE(page.find(reference) == std::string::npos, reference);
  }
}

TEST_CASE("a timeline page holds every node, transfer and device") {
  const Scene scene;
  PageOptions options;
  options.method = "heft";
  options.bounds.work_us = 12.5;
  options.candidates.push_back({"single gpu:0", 99.5, 80, {1, 2, 3}, false, false});
  const json data =
      data_of(timeline_page(scene.problem, scene.assignment, scene.timeline, options));
  CHECK(data.at("method") == "heft");
  CHECK(data.at("lower_bound") == 12.5);
  CHECK(data.at("makespan").get<double>() == doctest::Approx(scene.timeline.makespan_us));
  const json& nodes = data.at("nodes");
  REQUIRE(nodes.at("name").size() == scene.graph.node_count());
  for (uint32_t v = 0; v < scene.graph.node_count(); ++v) {
    CHECK(nodes.at("name")[v] == scene.graph.node(v).name);
    CHECK(nodes.at("device")[v] == scene.assignment[v]);
    // To the nanosecond.
    CHECK(std::abs(nodes.at("start")[v].get<double>() - scene.timeline.start_us[v]) < 0.0006);
    CHECK(nodes.at("ops")[nodes.at("op")[v].get<size_t>()] == scene.graph.node(v).op);
  }
  CHECK(data.at("transfers").at("start").size() == scene.timeline.transfers.size());
  CHECK(data.at("edges").at("source").size() == scene.graph.edge_count());
  CHECK(data.at("devices").size() == scene.topology.device_count());
  CHECK(data.at("devices")[0].at("limit").is_null());
  CHECK(data.at("candidates")[0].at("method") == "single gpu:0");
  CHECK(data.at("candidates")[0].at("feasible") == false);
}

TEST_CASE("names in a timeline page are never markup") {
  const std::string evil = "</script><img src=x onerror=alert(1)><!--<script>";
  SceneOptions options;
  options.name_prefix = evil;
  GraphSpec graph = scene_graph(options);
  graph.name = evil + "{{data}}&\"'";
  graph.nodes[0].op = evil;
  TopologySpec topology = scene_topology(options);
  topology.name = evil;
  topology.devices[0].name = evil;
  const Scene plain;
  const Scene scene(graph, topology, 1);
  const std::string harmless = timeline_page(plain.problem, plain.assignment, plain.timeline, {});
  PageOptions page_options;
  page_options.method = evil;
  page_options.candidates.push_back({evil, 1, 1, {1, 2, 3}, true, true});
  const std::string page =
      timeline_page(scene.problem, scene.assignment, scene.timeline, page_options);
  for (const char* tag : {"<img", "<!--", "<script", "</script", "<title", "<style"}) {
    CHECK_MESSAGE(count_of(page, tag) == count_of(harmless, tag), tag);
  }
  CHECK(data_of(page).at("nodes").at("name")[0] == evil + "0");
  CHECK(data_of(page).at("graph") == evil + "{{data}}&\"'");
  CHECK(page.find("&lt;img") != std::string::npos);
}

TEST_CASE("a timeline page can show ten thousand nodes") {
  SceneOptions options;
  options.nodes = 10'000;
  const Scene scene(options);
  const std::string page = timeline_page(scene.problem, scene.assignment, scene.timeline, {});
  CHECK(data_of(page).at("nodes").at("name").size() == 10'000);
  CHECK(page.size() < 4'000'000);
}
