// placeto report: what it prints, what it writes, and what it refuses.
#include <doctest/doctest.h>

#include "tests/cli/runner.h"

using namespace placeto::test;
using nlohmann::json;

namespace {

struct ReportScene : SmallScene {
  std::string first = write("first.json", R"({"format_version": 1, "method": "by hand",
      "devices": ["gpu:0", "gpu:1"], "assignment": [0, 0, 1, 0, 0, 0],
      "candidates": [{"method": "by hand", "makespan_us": 175.25, "feasible": true,
                      "peak_memory_bytes": [13000, 7000]},
                     {"method": "worse", "makespan_us": 300, "feasible": true}]})");
  std::string second = write("second.json", R"({"format_version": 1,
      "devices": ["gpu:1", "gpu:0"], "assignment": [1, 1, 1, 1, 1, 1]})");

  Run report(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"report", "-g", graph, "-t", topology, "-o", "report.html"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  json data() const {
    const std::string page = read("report.html");
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const size_t begin = page.find(open) + open.size();
    return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  }
};

}  // namespace

TEST_CASE_FIXTURE(ReportScene, "report writes one page about one placement, with reasons") {
  const Run result = report({first});
  CHECK_MESSAGE(result.status == 0, result.err);
  CHECK(result.out.find("first") != std::string::npos);
  const json placement = data().at("placements").at(0);
  CHECK(placement.at("makespan") == 175.25);
  CHECK(placement.at("method") == "by hand");
  CHECK(placement.at("reasons").at("asked") == 6);
  // b's only alternative is gpu:1, and c runs there: they no longer overlap.
  CHECK(placement.at("reasons").at("second")[1] == 1);
  CHECK(placement.at("reasons").at("there")[1].get<double>() > 175.25);
}

TEST_CASE_FIXTURE(ReportScene, "report compares placements, each in terms of its own device list") {
  const Run result = report({first, second, "--json"});
  CHECK_MESSAGE(result.status == 0, result.err);
  const json printed = json::parse(result.out).at("placements");
  CHECK(printed[0].at("label") == "first");
  CHECK(printed[1].at("label") == "second");
  CHECK(printed[0].at("moved_nodes") == 0);
  CHECK(printed[1].at("moved_nodes") == 1);
  const json placements = data().at("placements");
  CHECK(placements[1].at("device") == json({0, 0, 0, 0, 0, 0}));
  CHECK(placements[1].at("transfers").at("start").empty());
}

TEST_CASE_FIXTURE(ReportScene, "report shows the candidates of the file, or tries them anew") {
  CHECK(report({first}).status == 0);
  json rows = data().at("placements")[0].at("candidates");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("chosen") == true);
  CHECK(rows[0].at("memory") == json({13000, 7000}));
  CHECK(rows[1].at("method") == "worse");
  CHECK(report({first, "--candidates", "--policy", "none"}).status == 0);
  rows = data().at("placements")[0].at("candidates");
  CHECK(rows.size() > 4);
  CHECK(rows[0].at("method") == "single gpu:0");
  CHECK(rows[0].at("memory").size() == 2);
  // The heuristics find this placement, too; the first row that is it counts as chosen.
  size_t chosen = 0;
  for (const json& row : rows) {
    if (row.at("chosen") == false) continue;
    ++chosen;
    CHECK(row.at("makespan") == 175.25);
  }
  CHECK(chosen == 1);
  CHECK(report({second, "--candidates", "--policy", "none"}).status == 0);
  rows = data().at("placements")[0].at("candidates");
  CHECK(rows[0].at("chosen") == true);
  CHECK(rows[1].at("chosen") == false);
}

TEST_CASE_FIXTURE(ReportScene, "what place writes has the candidates for a report, and no times") {
  for (const char* name : {"placed.json", "placed.plp"}) {
    CHECK(run({"place", graph, "-t", topology, "--policy", "none", "-o", name}).status == 0);
    const std::string once = read(name);
    CHECK(report({path(name)}).status == 0);
    CHECK(data().at("placements")[0].at("candidates").size() > 4);
    CHECK(run({"place", graph, "-t", topology, "--policy", "none", "-o", name}).status == 0);
    CHECK(read(name) == once);
  }
}

TEST_CASE_FIXTURE(ReportScene, "what a placing proved is shown where its run costs what it did") {
  const json placed = run_json({"place", graph, "-t", topology, "-o", "p.json", "--json"});
  const double bound_us = placed.at("lower_bound_us");
  REQUIRE(placed.at("proved") == true);
  const auto simulated = [&](const std::string& file) {
    return json::parse(run({"simulate", graph, "-t", topology, "-p", file, "--json"}).out);
  };
  const double computed_us = simulated(first).at("lower_bound_us");
  REQUIRE(computed_us < bound_us);  // else nothing is tried here
  CHECK(simulated(first).at("proved") == false);
  CHECK(simulated("p.json").at("lower_bound_us") == bound_us);
  CHECK(simulated("p.json").at("proved") == true);
  CHECK(simulated("p.json").at("lower_bound_recorded") == true);
  const std::string said = ", as p.json records of the rules that it was placed with";
  CHECK(
      run({"simulate", graph, "-t", topology, "-p", "p.json"}).out.find("proved optimal" + said) !=
      std::string::npos);
  const Run shown = report({"p.json"});
  CHECK(shown.out.find("1.000") != std::string::npos);
  CHECK(shown.out.find("proved optimal" + said) != std::string::npos);
  CHECK(data().at("lower_bound") == bound_us);
  CHECK(data().at("placements")[0].at("proved") == true);
  CHECK(data().at("placements")[0].at("bound_file") == "p.json");

  // A file that says what it likes.
  const auto forged = [&](double makespan_us, double recorded_us) {
    json file = json::parse(read("p.json"));
    file["makespan_us"] = makespan_us;
    file["lower_bound_us"] = recorded_us;
    return write("forged.json", file.dump());
  };
  const double makespan_us = placed.at("makespan_us");
  for (const auto& [makespan, bound] :
       {std::pair(0.5, 0.5), std::pair(2.0, 1.0), std::pair(1.0, 2.0)}) {
    const std::string file = forged(makespan * makespan_us, bound * makespan_us);
    const json seen = simulated(file);
    CHECK(seen.at("lower_bound_us") == computed_us);
    CHECK(seen.at("proved") == false);
    CHECK(report({file}).out.find("records of the rules") == std::string::npos);
  }
  // One with another objective or under other rules is beaten by what is shown beside it.
  const json pinned = run_json({"place", graph, "-t", topology, "--pin", "b=gpu:0", "--pin",
                                "c=gpu:0", "-o", "pinned.json", "--json"});
  REQUIRE(pinned.at("lower_bound_us") > makespan_us);
  CHECK(report({"pinned.json", "p.json"}).status == 0);
  CHECK(data().at("lower_bound") == bound_us);
  CHECK(data().at("placements")[0].at("proved") == false);
}

TEST_CASE_FIXTURE(ReportScene, "report takes labels and tells equal names apart") {
  CHECK(report({first, second, "--label", "before", "--label", "after"}).status == 0);
  CHECK(data().at("placements")[1].at("label") == "after");
  CHECK(report({first, first}).status == 0);
  CHECK(data().at("placements")[0].at("label") == "first (1)");
  CHECK(data().at("placements")[1].at("label") == "first (2)");
}

TEST_CASE_FIXTURE(ReportScene, "report shows an infeasible placement with what is wrong") {
  const std::string tight = write("tight.json", small_topology(9000));
  const Run result = run({"report", first, "-g", graph, "-t", tight, "-o", "report.html"});
  CHECK(result.status == 0);
  CHECK(result.out.find("no") != std::string::npos);
  CHECK(data().at("placements")[0].at("violations").size() == 1);
  CHECK(data().at("placements")[0].at("violations")[0].get<std::string>().find("lacks 3.91 KiB") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(ReportScene, "report limits the nodes it explains") {
  CHECK(report({first, "--reasons", "2"}).status == 0);
  CHECK(data().at("placements")[0].at("reasons").at("asked") == 2);
  CHECK(report({first, "--reasons", "0"}).status == 0);
  CHECK(data().at("placements")[0].at("reasons").is_null());
}

TEST_CASE_FIXTURE(ReportScene, "report refuses what it cannot show, and writes nothing then") {
  const std::string short_one = write("short.json", R"({"format_version": 1,
      "devices": ["gpu:0"], "assignment": [0]})");
  const std::string other = write("other.json", R"({"format_version": 1,
      "devices": ["tpu:7"], "assignment": [0, 0, 0, 0, 0, 0]})");
  const auto refuses = [&](const std::vector<std::string>& more, int status, const char* why) {
    const Run result = report(more);
    CHECK_MESSAGE(result.status == status, result.err);
    CHECK_MESSAGE(result.err.find(why) != std::string::npos, result.err);
    CHECK(!exists("report.html"));
  };
  refuses({short_one}, 3, "short.json");
  refuses({first, other}, 3, "tpu:7");
  refuses({"absent.json"}, 3, "absent.json");
  refuses({first, "--label", "a", "--label", "b"}, 2, "--label");
  refuses({}, 2, "PLACEMENT");
}
