#include "tools/report/chrome_trace.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "runtime/timeline/critical_path.h"
#include "tests/unit/report_scene.h"
#include "tools/report/lanes.h"
#include "tools/report/memory.h"

using namespace placeto;
using namespace placeto::test;
using nlohmann::json;

// Every rule set that changes what a timeline looks like.
static std::vector<SceneOptions> variants() {
  std::vector<SceneOptions> all(6);
  all[1].rules.transfer = Transfer::kUnicast;
  all[2].rules.contention = Contention::kNone;
  all[3].rules.execution = Execution::kSerial;
  all[4].zero_costs = true;
  all[5].nodes = 1;
  for (size_t i = 0; i < all.size(); ++i) all[i].seed = i + 1;
  return all;
}

static json events_of(const Scene& scene, const char* phase) {
  const json trace = json::parse(chrome_trace(scene.problem, scene.assignment, scene.timeline));
  json events = json::array();
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase) events.push_back(event);
  }
  return events;
}

TEST_CASE("slices of a trace never overlap on their track") {
  for (const SceneOptions& options : variants()) {
    const Scene scene(options);
    std::map<int, double> free_at;
    const json slices = events_of(scene, "X");
    CHECK(slices.size() == scene.graph.node_count() + scene.timeline.transfers.size());
    for (const json& slice : slices) {
      double& free = free_at[slice.at("tid").get<int>()];
      CHECK(slice.at("ts").get<double>() >= free);
      CHECK(slice.at("dur").get<double>() >= 0);
      free = slice.at("ts").get<double>() + slice.at("dur").get<double>();
    }
  }
}

TEST_CASE("a trace shows every node where and when it runs") {
  const Scene scene;
  std::map<std::string, json> slices;
  for (const json& slice : events_of(scene, "X")) slices[slice.at("name")] = slice;
  for (uint32_t v = 0; v < scene.graph.node_count(); ++v) {
    const json& slice = slices.at(scene.graph.node(v).name);
    CHECK(slice.at("tid") == scene.assignment[v] + 1);
    // To the nanosecond; slices end one early.
    const double start = slice.at("ts").get<double>();
    const double finish = start + slice.at("dur").get<double>();
    CHECK(std::abs(start - scene.timeline.start_us[v]) < 0.0006);
    CHECK(std::abs(finish - scene.timeline.finish_us[v]) < 0.0021);
  }
}

TEST_CASE("a trace of a very short or long run shows when nodes run, too") {
  for (const double factor : {1e-50, 1e-9, 1e20}) {
    GraphSpec graph = scene_graph({});
    for (NodeSpec& node : graph.nodes) node.cost_us[0] *= factor;
    TopologySpec topology = scene_topology({});
    topology.op_gap_us *= factor;
    topology.default_link = {5000 / factor, 3 * factor, 2 * factor};
    const Scene scene(graph, topology, 1);
    const double makespan = scene.timeline.makespan_us;
    std::map<std::string, json> slices;
    for (const json& slice : events_of(scene, "X")) slices[slice.at("name")] = slice;
    for (uint32_t v = 0; v < scene.graph.node_count(); ++v) {
      const json& slice = slices.at(scene.graph.node(v).name);
      const double start = slice.at("ts").get<double>(), us = slice.at("dur").get<double>();
      CHECK(std::abs(start - scene.timeline.start_us[v]) < 1e-5 * makespan);
      CHECK(std::abs(start + us - scene.timeline.finish_us[v]) < 1e-5 * makespan);
    }
  }
}

TEST_CASE("every arrow of a trace has one start and one end, forward in time, in a slice each") {
  for (const SceneOptions& options : variants()) {
    const Scene scene(options);
    std::set<std::pair<int, double>> begins;
    for (const json& slice : events_of(scene, "X")) {
      begins.emplace(slice.at("tid").get<int>(), slice.at("ts").get<double>());
    }
    std::map<int, json> starts;
    for (const json& s : events_of(scene, "s")) {
      CHECK(starts.emplace(s.at("id").get<int>(), s).second);
      CHECK(begins.count({s.at("tid").get<int>(), s.at("ts").get<double>()}) == 1);
    }
    const json ends = events_of(scene, "f");
    CHECK(ends.size() == starts.size());
    CHECK(starts.size() >= 2 * scene.timeline.transfers.size());
    for (const json& f : ends) {
      const auto s = starts.find(f.at("id").get<int>());
      REQUIRE(s != starts.end());
      CHECK(s->second.at("ts").get<double>() <= f.at("ts").get<double>());
      CHECK(begins.count({f.at("tid").get<int>(), f.at("ts").get<double>()}) == 1);
      starts.erase(s);
    }
    CHECK(starts.empty());
  }
}

TEST_CASE("memory counters of a trace reach the peaks of the cost model") {
  const Scene scene;
  std::map<std::string, uint64_t> peaks;
  std::map<std::string, double> last;
  for (const json& counter : events_of(scene, "C")) {
    const std::string name = counter.at("name");
    peaks[name] = std::max(peaks[name], counter.at("args").at("bytes").get<uint64_t>());
    CHECK(counter.at("ts").get<double>() >= last[name]);
    last[name] = counter.at("ts").get<double>();
  }
  for (uint32_t d = 0; d < scene.topology.device_count(); ++d) {
    CHECK(peaks.at("memory " + scene.topology.device(d).name) ==
          scene.timeline.peak_memory_bytes[d]);
  }
}

TEST_CASE("tracks of a trace are named after devices and the channels that carry something") {
  const Scene scene;
  std::set<std::string> names;
  for (const json& event : events_of(scene, "M")) {
    if (event.at("name") == "thread_name") names.insert(event.at("args").at("name"));
  }
  for (uint32_t d = 0; d < scene.topology.device_count(); ++d) {
    CHECK(names.count(scene.topology.device(d).name) == 1);
  }
  CHECK(names.size() == scene.topology.device_count() +
                            transfer_lanes(scene.topology, scene.timeline).names.size());
}

TEST_CASE("names with quotes and control characters do not break a trace") {
  SceneOptions options;
  options.name_prefix = "\"\\\n\x01\u2028";
  const Scene scene(options);
  CHECK(events_of(scene, "X").size() >= scene.graph.node_count());
}

TEST_CASE("memory steps are in time order and peak where the cost model says") {
  for (const SceneOptions& options : variants()) {
    const Scene scene(options);
    const auto devices = memory_steps(scene.problem, scene.assignment, scene.timeline);
    REQUIRE(devices.size() == scene.topology.device_count());
    for (size_t d = 0; d < devices.size(); ++d) {
      uint64_t peak = 0;
      for (size_t i = 0; i < devices[d].size(); ++i) {
        peak = std::max(peak, devices[d][i].bytes);
        if (i != 0) CHECK(devices[d][i].time_us > devices[d][i - 1].time_us);
      }
      CHECK(peak == scene.timeline.peak_memory_bytes[d]);
    }
  }
}

TEST_CASE("overlapping transfers of one channel get lanes of their own") {
  SceneOptions options;
  options.rules.contention = Contention::kNone;
  const Scene scene(options);
  const Lanes lanes = transfer_lanes(scene.topology, scene.timeline);
  std::map<uint32_t, std::vector<std::pair<double, double>>> busy;
  for (size_t i = 0; i < scene.timeline.transfers.size(); ++i) {
    const TransferSlice& t = scene.timeline.transfers[i];
    busy[lanes.of_transfer[i]].emplace_back(t.start_us, t.end_us);
  }
  CHECK(busy.size() == lanes.names.size());
  for (auto& [lane, slices] : busy) {
    std::sort(slices.begin(), slices.end());
    for (size_t i = 1; i < slices.size(); ++i) CHECK(slices[i].first >= slices[i - 1].second);
  }
}

// a(10) -> b(20) on one device, and a -> c(1): the chain is a, b.
TEST_CASE("the critical path of a chain is the chain") {
  GraphSpec graph;
  graph.nodes.resize(3);
  const double costs[] = {10, 20, 1};
  for (uint32_t v = 0; v < 3; ++v) {
    graph.nodes[v].name = std::string(1, static_cast<char>('a' + v));
    graph.nodes[v].cost_us = {costs[v]};
    graph.nodes[v].outputs = {5000};
  }
  graph.edges = {{0, 0, 1}, {0, 0, 2}};
  SceneOptions options;
  options.devices = 1;
  Scene scene(graph, scene_topology(options), 1);
  const CriticalPath path = critical_path(scene.problem, scene.assignment, scene.timeline);
  REQUIRE(path.nodes.size() == 3);  // c waits for b's device, or b for c's: both are on the path
  CHECK(path.nodes.front() == 0);
  CHECK(path.transfers.empty());

  options.devices = 2;
  Scene two(graph, scene_topology(options), 1);
  const Assignment split{0, 1, 0};
  const Timeline timeline = two.simulator.run(split);
  const CriticalPath across = critical_path(two.problem, split, timeline);
  CHECK(across.nodes == std::vector<uint32_t>{0, 1});
  CHECK(across.transfers == std::vector<uint32_t>{0});
}

TEST_CASE("a critical path runs from time zero to the makespan without a break in order") {
  for (const SceneOptions& options : variants()) {
    const Scene scene(options);
    const CriticalPath path = critical_path(scene.problem, scene.assignment, scene.timeline);
    REQUIRE(!path.nodes.empty());
    CHECK(scene.timeline.start_us[path.nodes.front()] == 0);
    CHECK(scene.timeline.finish_us[path.nodes.back()] == scene.timeline.makespan_us);
    for (size_t i = 1; i < path.nodes.size(); ++i) {
      CHECK(scene.timeline.start_us[path.nodes[i]] >=
            scene.timeline.finish_us[path.nodes[i - 1]] - 1e-6);
    }
  }
}
