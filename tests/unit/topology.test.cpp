#include "runtime/graph/topology.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/unit/format_support.h"

namespace placeto {
namespace {

using test::message_of;

TopologySpec pair_of_gpus() {
  TopologySpec spec;
  spec.devices = {{.name = "gpu:0", .kind = "gpu"}, {.name = "gpu:1", .kind = "gpu"}};
  spec.default_link = {100, 1, 2};
  return spec;
}

template <class Change>
std::string topology_after(Change change, const Limits& limits = {}) {
  TopologySpec spec = pair_of_gpus();
  change(spec);
  return message_of(Topology::build(std::move(spec), limits));
}

LinkSpec link(const char* from, const char* to, double bandwidth = 10, const char* channel = "") {
  return {from, to, {bandwidth, 0, 0}, channel};
}

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("links override the default link in their direction only") {
  TopologySpec spec = pair_of_gpus();
  spec.links = {link("gpu:1", "gpu:0", 7)};
  const Result<Topology> topology = Topology::build(spec);
  REQUIRE(topology.ok());
  CHECK(topology->link(1, 0).bandwidth_bytes_per_us == 7);
  CHECK(topology->link(0, 1).bandwidth_bytes_per_us == 100);
  CHECK(topology->channel(1, 0) == 1);
  CHECK(!topology->uniform_links());
}

TEST_CASE("links that name a channel share it, and others use the egress of their source") {
  TopologySpec spec = pair_of_gpus();
  spec.devices.push_back({.name = "cpu", .kind = "cpu"});
  spec.links = {link("gpu:0", "cpu", 7, "pcie"), link("gpu:1", "cpu", 7, "pcie"),
                link("cpu", "gpu:0", 7, "pcie back")};
  spec.transfer = Transfer::kUnicast;
  const Result<Topology> topology = Topology::build(spec);
  REQUIRE(topology.ok());
  CHECK(topology->channel_count() == 5);
  CHECK(topology->channel(0, 2) == 3);
  CHECK(topology->channel(1, 2) == 3);
  CHECK(topology->channel(2, 0) == 4);
  CHECK(topology->channel(0, 1) == 0);
  CHECK(topology->channel_name(4) == "pcie back");
  CHECK(topology->channel_name(1) == "gpu:1 egress");
}

TEST_CASE("a broadcast is charged no latency and leaves by its device's egress") {
  TopologySpec spec = pair_of_gpus();
  spec.links = {link("gpu:0", "gpu:1", 7, "bus")};
  spec.links[0].parameters.latency_us = 3;
  const Topology broadcast = *Topology::build(spec);
  CHECK(broadcast.channel_count() == 2);
  CHECK(broadcast.channel(0, 1) == 0);
  CHECK(broadcast.latency_us(0, 1) == 0);
  spec.transfer = Transfer::kUnicast;
  const Topology unicast = *Topology::build(spec);
  CHECK(unicast.channel_count() == 3);
  CHECK(unicast.channel(0, 1) == 2);
  CHECK(unicast.latency_us(0, 1) == 3);
  CHECK(unicast.latency_us(1, 0) == unicast.spec().default_link.latency_us);
}

TEST_CASE("without links every pair has the default link") {
  const Result<Topology> topology = Topology::build(pair_of_gpus());
  REQUIRE(topology.ok());
  CHECK(topology->uniform_links());
  CHECK(topology->link(0, 1).gap_us == 2);
  CHECK(topology->find_device("gpu:1") == 1);
  CHECK(topology->find_device("tpu") == 2);
}

TEST_CASE("devices must have distinct names and a kind") {
  CHECK(topology_after([](TopologySpec& t) { t.devices.clear(); }) ==
        "devices: empty, expected at least one device");
  CHECK(topology_after([](TopologySpec& t) { t.devices[1].name = "gpu:0"; }) ==
        "devices[1] 'gpu:0': that name stands at devices[0] already, expected distinct names");
  CHECK(topology_after([](TopologySpec& t) { t.devices[1].name = ""; }) ==
        "devices[1] '': name: is empty, expected a name");
  CHECK(topology_after([](TopologySpec& t) { t.devices[0].kind = ""; }) ==
        "devices[0] 'gpu:0': kind: is empty, expected a name");
  CHECK(topology_after([](TopologySpec& t) { t.devices[0].kind = "\xff"; }) ==
        "devices[0] 'gpu:0': kind: is '\\xff', expected valid UTF-8");
}

TEST_CASE("numbers of a device must be finite and not negative, its slowdown above 0") {
  const std::string expected = ", expected a finite number that is not negative";
  CHECK(topology_after([](TopologySpec& t) { t.devices[0].peak_flops = kNoNumber; }) ==
        "devices[0] 'gpu:0': peak_flops is nan" + expected);
  CHECK(topology_after([](TopologySpec& t) { t.devices[1].memory_bandwidth = -1e-9; }) ==
        "devices[1] 'gpu:1': memory_bandwidth is -1e-09" + expected);
  CHECK(topology_after([](TopologySpec& t) { t.op_gap_us = kEndless; }) ==
        "op_gap_us is infinity" + expected);
  for (const double slowdown : {0.0, -1.0, kEndless, kNoNumber}) {
    CHECK(test::contains(
        topology_after([slowdown](TopologySpec& t) { t.devices[0].slowdown = slowdown; }),
        ", expected a finite number above 0"));
  }
}

TEST_CASE("links must join two known devices, once") {
  CHECK(topology_after([](TopologySpec& t) { t.links = {link("gpu:0", "gpu:7")}; }) ==
        "links[0]: to is 'gpu:7', expected the name of a device");
  CHECK(topology_after([](TopologySpec& t) { t.links = {link("", "gpu:1")}; }) ==
        "links[0]: from is '', expected the name of a device");
  CHECK(topology_after([](TopologySpec& t) { t.links = {link("gpu:0", "gpu:0")}; }) ==
        "links[0]: from and to are both 'gpu:0', expected two devices");
  CHECK(topology_after([](TopologySpec& t) {
          t.links = {link("gpu:0", "gpu:1"), link("gpu:1", "gpu:0"), link("gpu:0", "gpu:1")};
        }) ==
        "links[2]: from 'gpu:0' to 'gpu:1' stands at links[0] already, expected one link for each "
        "pair");
  CHECK(topology_after([](TopologySpec& t) { t.links = {link("gpu:0", "gpu:1", 1, "\xff")}; }) ==
        "links[0]: channel: is '\\xff', expected valid UTF-8");
}

TEST_CASE("numbers of a link must be finite and not negative") {
  const std::string expected = ", expected a finite number that is not negative";
  CHECK(topology_after([](TopologySpec& t) { t.default_link.latency_us = -1; }) ==
        "default_link: latency_us is -1" + expected);
  CHECK(topology_after([](TopologySpec& t) { t.links = {link("gpu:0", "gpu:1", kNoNumber)}; }) ==
        "links[0]: bandwidth_bytes_per_us is nan" + expected);
  CHECK(topology_after([](TopologySpec& t) {
          t.links = {link("gpu:0", "gpu:1")};
          t.links[0].parameters.gap_us = kEndless;
        }) == "links[0]: gap_us is infinity" + expected);
}

TEST_CASE("a link that may carry a tensor needs a bandwidth") {
  const std::string expected = ": bandwidth_bytes_per_us is 0 or absent, expected a number above 0";
  CHECK(topology_after([](TopologySpec& t) { t.default_link = {}; }) == "default_link" + expected);
  CHECK(topology_after([](TopologySpec& t) { t.links = {link("gpu:0", "gpu:1", 0)}; }) ==
        "links[0]" + expected);
  // Nothing is left to the default link.
  CHECK(topology_after([](TopologySpec& t) {
          t.default_link = {};
          t.links = {link("gpu:0", "gpu:1"), link("gpu:1", "gpu:0")};
        }) == "ok");
  CHECK(topology_after([](TopologySpec& t) {
          t.default_link = {};
          t.devices.pop_back();
        }) == "ok");
}

TEST_CASE("topologies over the limits are refused") {
  CHECK(topology_after([](TopologySpec&) {}, {.max_devices = 1}) ==
        "devices: 2 entries, expected at most 1");
  CHECK(topology_after([](TopologySpec& t) { t.links = {link("gpu:0", "gpu:1")}; },
                       {.max_links = 0}) == "links: 1 entries, expected at most 0");
  CHECK(topology_after([](TopologySpec& t) { t.name = "long"; }, {.max_name_bytes = 3}) ==
        "name: is 4 bytes long, expected at most 3");
  CHECK(topology_after([](TopologySpec&) {}, {.max_name_bytes = 4}) ==
        "devices[0] 'gpu:0': name: is 5 bytes long, expected at most 4");
}

}  // namespace placeto
