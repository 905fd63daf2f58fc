// What inspect says of a file.
#include <doctest/doctest.h>

#include "tests/cli/runner.h"

using namespace placeto::test;
using nlohmann::json;

TEST_CASE_FIXTURE(PlacedScene, "inspect shows bandwidths in units that fit them") {
  const std::string fast = write("fast.json", R"({"format_version": 1,
      "devices": [{"name": "a", "kind": "gpu"}, {"name": "b", "kind": "gpu"}],
      "default_link": {"bandwidth_bytes_per_us": 16000},
      "links": [{"from": "a", "to": "b", "bandwidth_bytes_per_us": 1e9},
                {"from": "b", "to": "a", "bandwidth_bytes_per_us": 1e300}]})");
  const std::string shown = run({"inspect", fast}).out;
  for (const char* text : {"16000 MB/s", "1.000 PB/s", "over 1000 PB/s"}) {
    CHECK_MESSAGE(shown.find(text) != std::string::npos, shown);
  }
  CHECK_MESSAGE(shown.find("e+") == std::string::npos, shown);
}

TEST_CASE_FIXTURE(PlacedScene, "inspect tells what any file holds") {
  const json g = run_json({"inspect", graph, "--json"});
  CHECK(g.at("kind") == "graph");
  CHECK(g.at("nodes") == 6);
  CHECK(g.at("edges") == 6);
  CHECK(g.at("depth") == 5);
  CHECK(g.at("resident_bytes") == 15000);
  CHECK(g.at("colocations") == 1);
  CHECK(g.at("colocated_nodes") == 2);
  CHECK(g.at("ops").at("Conv") == 3);
  CHECK(g.at("total_cost_us") == json({271.25}));
  const json t = run_json({"inspect", topology, "--json"});
  CHECK(t.at("kind") == "topology");
  CHECK(t.at("devices").size() == 2);
  CHECK(t.at("warnings").empty());
  const json p = run_json({"inspect", placement, "--json"});
  CHECK(p.at("kind") == "placement");
  CHECK(p.at("nodes_per_device") == json({5, 1}));
  for (const std::string& file : {graph, topology, placement}) {
    CHECK(run({"inspect", file}).status == 0);
  }
}

TEST_CASE_FIXTURE(PlacedScene, "inspect says where the numbers of a topology are from") {
  write("sources.json", R"({"format_version": 1, "name": "two", "devices": [
    {"name": "a", "kind": "cpu", "peak_flops": 2e9, "flops_source": "measured"},
    {"name": "b", "kind": "cpu", "peak_flops": 2e9, "flops_source": "data_sheet"}],
    "default_link": {"bandwidth_bytes_per_us": 100, "latency_us": 1, "source": "guess"}})");
  const std::string out = run({"inspect", "sources.json"}).out;
  for (const char* said : {"2.000 G (measured)", "2.000 G (data sheet)", "gap 0 us (guess)"}) {
    CAPTURE(said);
    CHECK(out.find(said) != std::string::npos);
  }
  const json said = run_json({"inspect", "sources.json", "--json"});
  CHECK(said.at("devices").at(1).at("flops_source") == "data_sheet");
  CHECK(said.at("devices").at(0).at("memory_source") == "unknown");
  CHECK(said.at("default_link").at("source") == "guess");
}

TEST_CASE_FIXTURE(PlacedScene, "inspect says of what tune wrote that it is that") {
  write("tune.json", R"({"format_version": 1, "model": "net.onnx", "engine": "1.30.0",
    "chosen": {"name": "one device"}, "notes": [], "contenders": []})");
  const Run refused = run({"inspect", "tune.json"});
  CHECK(refused.status == 3);
  CHECK(refused.err.find("tune.json: is what tune measured, which 'placeto run' takes up") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "inspect counts the pairs of devices whose links are alike") {
  write("links.json", R"({"format_version": 1, "devices": [
    {"name": "a", "kind": "cpu"}, {"name": "b", "kind": "cpu"}, {"name": "c", "kind": "cpu"}],
    "default_link": {"bandwidth_bytes_per_us": 100}, "links": [
    {"from": "a", "to": "b", "bandwidth_bytes_per_us": 10},
    {"from": "c", "to": "a", "bandwidth_bytes_per_us": 10},
    {"from": "b", "to": "c", "bandwidth_bytes_per_us": 20}]})");
  const std::string out = run({"inspect", "links.json"}).out;
  CHECK_MESSAGE(out.find("\n2 pairs, such as a to b  10 MB/s") != std::string::npos, out);
  CHECK_MESSAGE(out.find("\nb to c                   20 MB/s") != std::string::npos, out);
}

TEST_CASE_FIXTURE(PlacedScene, "inspect warns about a latency that is never charged") {
  std::string text = small_topology();
  text.replace(text.find("\"gap_us\""), 8, "\"latency_us\": 5, \"gap_us\"");
  const std::string file = write("latency.json", text);
  CHECK(run_json({"inspect", file, "--json"}).at("warnings").size() == 1);
  CHECK(run({"inspect", file}).out.find("unicast") != std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "inspect warns about channels that nothing shares") {
  const auto with_rules = [&](const std::string& rules) {
    return write("channels.json", R"({"format_version": 1, )" + rules + R"("devices": [
      {"name": "a", "kind": "cpu"}, {"name": "b", "kind": "cpu"}], "links": [
      {"from": "a", "to": "b", "bandwidth_bytes_per_us": 10, "channel": "bus"},
      {"from": "b", "to": "a", "bandwidth_bytes_per_us": 10, "channel": "bus"}]})");
  };
  CHECK(run({"inspect", with_rules("")}).out.find("'broadcast'") != std::string::npos);
  const std::string unheard = with_rules(R"("transfer": "unicast", "contention": "none", )");
  CHECK(run({"inspect", unheard}).out.find("'none'") != std::string::npos);
  const std::string shared = with_rules(R"("transfer": "unicast", )");
  CHECK(run_json({"inspect", shared, "--json"}).at("warnings").empty());
}
