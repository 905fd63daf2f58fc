// Cases computed by the simulator published with the paper: tests/golden/placeto_sim.jsonl.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto::test {

struct GoldenCase {
  std::string id;
  GraphSpec graph;
  TopologySpec topology;
  Assignment assignment;
  double makespan_us, drain_us;
  std::vector<double> start_us, finish_us;
};

inline GoldenCase parse_golden(const std::string& line) {
  const nlohmann::json j = nlohmann::json::parse(line);
  GoldenCase c;
  c.id = j["id"];
  for (const auto& n : j["graph"]["nodes"]) {
    NodeSpec node;
    node.name = n["name"];
    node.cost_us = n["cost_us"].get<std::vector<double>>();
    node.outputs = n.value("outputs", std::vector<uint64_t>());
    c.graph.nodes.push_back(std::move(node));
  }
  for (const auto& e : j["graph"]["edges"]) {
    c.graph.edges.push_back({e.value("source", 0u), e.value("output", 0u), e.value("target", 0u)});
  }
  const auto& t = j["topology"];
  c.topology.op_gap_us = t["op_gap_us"];
  c.topology.default_link = {t["default_link"]["bandwidth_bytes_per_us"],
                             t["default_link"]["latency_us"], t["default_link"]["gap_us"]};
  for (const auto& d : t["devices"]) {
    DeviceSpec device;
    device.name = d["name"];
    device.kind = d["kind"];
    c.topology.devices.push_back(std::move(device));
  }
  c.assignment = j["placement"]["assignment"].get<Assignment>();
  const auto& x = j["expect"];
  c.makespan_us = x["makespan_us"];
  c.drain_us = x["drain_us"];
  c.start_us = x["start_us"].get<std::vector<double>>();
  c.finish_us = x["finish_us"].get<std::vector<double>>();
  return c;
}

inline std::vector<GoldenCase> read_golden_cases() {
  std::ifstream file(PLACETO_SOURCE_DIR "/tests/golden/placeto_sim.jsonl");
  std::vector<GoldenCase> cases;
  for (std::string line; std::getline(file, line);) cases.push_back(parse_golden(line));
  return cases;
}

}  // namespace placeto::test
