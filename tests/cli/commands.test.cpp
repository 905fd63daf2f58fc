// What each command does and prints when all is well.
#include <doctest/doctest.h>

#include <limits>

#include "tests/cli/runner.h"

using namespace placeto::test;
using nlohmann::json;

TEST_CASE_FIXTURE(PlacedScene,
                  "a closed pipe ends a command quietly, and files are written all the same") {
  REQUIRE(std::system(("cd " + path(".") + " && (" PLACETO_CLI " place " + graph + " -t " +
                       topology + " -o placed.json 2>said; echo $? >status) | true")
                          .c_str()) == 0);
  CHECK(read("said") == "");
  CHECK(read("status") == "0\n");
  CHECK(exists("placed.json"));
}

TEST_CASE_FIXTURE(PlacedScene, "equal devices share a line, and a column where each is too many") {
  const std::string shown = run({"inspect", "8xk80"}).out;
  CHECK(shown.find("gpu:0 to gpu:7") != std::string::npos);
  REQUIRE(run({"place", graph, "-t", "8xk80", "-o", "p.json"}).status == 0);
  const std::string simulated = run({"simulate", graph, "-t", "8xk80", "-p", "p.json"}).out;
  CHECK_MESSAGE(simulated.find(" to gpu:7") != std::string::npos, simulated);
}

TEST_CASE_FIXTURE(PlacedScene, "a staged topology is shown as one, with what its stages cost") {
  const std::string staged = write("staged.json", R"({"format_version": 1, "name": "staged",
    "execution": "staged", "devices": [
      {"name": "cpu:0", "kind": "cpu", "stage_us": 7.5, "cut_us": 2, "cut_bytes_per_us": 4000},
      {"name": "cpu:1", "kind": "cpu", "stage_us": 8.5, "cut_us": 2, "cut_bytes_per_us": 4000}],
    "default_link": {"bandwidth_bytes_per_us": 1000}})");
  const std::string shown = run({"inspect", staged}).out;
  CHECK_MESSAGE(shown.find("execution staged") != std::string::npos, shown);
  CHECK(shown.find("7.500 us") != std::string::npos);
  CHECK(shown.find("8.500 us") != std::string::npos);
  const json described = run_json({"inspect", staged, "--json"});
  CHECK(described.at("execution") == "staged");
  CHECK(described.at("devices")[1].at("stage_us") == 8.5);
  CHECK(described.at("devices")[1].at("cut_bytes_per_us") == 4000);
  CHECK(!run_json({"inspect", "2xk80", "--json"}).at("devices")[0].contains("stage_us"));
}

TEST_CASE_FIXTURE(PlacedScene, "simulate predicts the timeline of the published simulator") {
  const json run =
      run_json({"simulate", graph, "--topology", topology, "--placement", placement, "--json"});
  // By hand from the rules: a 0-10; b 11-111 here; a's output leaves at 10 and arrives at 11, c
  // 11-111 there; its output arrives at 112; d 112-122, e 123-173.25, f 174.25-175.25.
  CHECK(run.at("start_us") == json({0.0, 11.0, 11.0, 112.0, 123.0, 174.25}));
  CHECK(run.at("finish_us") == json({10.0, 111.0, 111.0, 122.0, 173.25, 175.25}));
  CHECK(run.at("makespan_us") == 175.25);
  CHECK(run.at("drain_us") == 176.25);
  CHECK(run.at("feasible") == true);
  CHECK(run.at("peak_memory_bytes") == json({13000, 7000}));
  CHECK(run.at("device_busy_us") == json({176.25, 101.0}));
  // The devices feed each other: they count as one, with two transfers of 1 us and gaps of 2 us.
  CHECK(run.at("bottleneck_us") == 283.25);
  CHECK(run.at("lower_bound_us") == 171.25);
  CHECK(run.at("violations").empty());
  // a's output and c's.
  const json transfers = run.at("transfers");
  REQUIRE(transfers.size() == 2);
  CHECK(transfers[0].at("node") == 0);
  CHECK(transfers[0].at("output") == 0);
  CHECK(transfers[0].at("start_us") == 10);
  CHECK(transfers[0].at("arrival_us") == 11);
  CHECK(transfers[1].at("node") == 2);
  const json path = run.at("critical_path");
  CHECK(path.at("nodes").back() == 5);
  CHECK(path.at("transfers").size() == 2);
}

TEST_CASE_FIXTURE(PlacedScene, "simulate says so where run times or prices are others") {
  const json placed =
      run_json({"place", graph, "-t", topology, "-m", "single", "-o", path("p.json"), "--json"});
  json slower = json::parse(small_topology());
  for (json& device : slower["devices"]) device["slowdown"] = 2;
  const std::string other = write("slower.json", slower.dump());
  const Run same = run({"simulate", graph, "-t", topology, "-p", path("p.json")});
  CHECK(same.err == "");
  const Run twice = run({"simulate", graph, "-t", other, "-p", path("p.json")});
  CHECK(twice.status == 0);
  CHECK_MESSAGE(twice.err.find("p.json records a makespan of") != std::string::npos, twice.err);
  const auto said_of = [&](std::vector<std::string> arguments) {
    for (const char* more : {"-t", other.c_str(), "--engine", "none", "--json"}) {
      arguments.emplace_back(more);
    }
    return json::parse(run(arguments).out);
  };
  const json simulated = said_of({"simulate", graph, "-p", path("p.json")});
  CHECK(simulated.at("note").get<std::string>().find("records a makespan of") != std::string::npos);
  const json page = said_of({"report", path("p.json"), "-g", graph, "-o", path("r.html")});
  CHECK(page.at("placements")[0].at("note") == simulated.at("note"));
  CHECK(read("r.html").find("records a makespan of") != std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "commands say what a topology states in vain") {
  json topology_of = json::parse(small_topology());
  topology_of["default_link"]["latency_us"] = 5;
  const std::string other = write("latency.json", topology_of.dump());
  const std::string vain = "charged under transfer 'unicast' only";
  CHECK(run({"place", graph, "-t", other}).err.find(vain) != std::string::npos);
  const json simulated =
      json::parse(run({"simulate", graph, "-t", other, "-p", placement, "--json"}).out);
  CHECK(simulated.at("note").get<std::string>().find(vain) != std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "what took no time at all was proved, too") {
  const std::string net = write("zero.json", R"({"format_version": 1, "nodes": [
      {"name": "a", "op": "X", "cost_us": [0]}], "edges": []})");
  CHECK(run_json({"place", net, "-t", topology, "-o", path("z.json"), "--json"}).at("proved"));
  CHECK(run_json({"simulate", net, "-t", topology, "-p", path("z.json"), "--json"}).at("proved"));
}

TEST_CASE_FIXTURE(PlacedScene, "a device that lacks rates is named where it runs nothing for it") {
  json lacks = json::parse(small_topology());
  lacks["devices"][1]["kind"] = "npu";
  lacks["devices"][1]["memory_bandwidth"] = 1e9;
  lacks["devices"][0]["peak_flops"] = lacks["devices"][0]["memory_bandwidth"] = 1e9;
  const std::string machine = write("lacks.json", lacks.dump());
  const std::string net = write("net.json", R"({"format_version": 1, "nodes": [
      {"name": "a", "op": "X", "outputs": [1000], "flops": 1000, "cost_us": []}], "edges": []})");
  const Run result = run({"place", net, "-t", machine, "--json"});
  const std::string why = "1 of 1 nodes cannot run on '" +
                          std::string(lacks["devices"][1]["name"]) +
                          "', which lacks peak_flops to estimate run times from";
  CHECK_MESSAGE(result.err.find(why) != std::string::npos, result.err);
  CHECK_MESSAGE(json::parse(result.out).at("note") == why, result.out);
}

TEST_CASE_FIXTURE(PlacedScene, "times in another unit are shown, and their unit is doubted") {
  const auto placed = [&](double factor, bool as_json) {
    json scaled = json::parse(small_graph());
    for (json& node : scaled["nodes"]) {
      for (json& us : node["cost_us"]) us = us.get<double>() * factor;
    }
    const std::string net = write("scaled.json", scaled.dump());
    return as_json ? run({"place", net, "-t", topology, "-m", "single", "--json"})
                   : run({"place", net, "-t", topology, "-m", "single"});
  };
  const char* const doubt = ": files give microseconds";
  for (const double factor : {1e-7, 1e13}) {
    const Run result = placed(factor, true);
    CHECK_MESSAGE(result.err.find(doubt) != std::string::npos, result.err);
    CHECK(std::string(json::parse(result.out).at("note")).ends_with(doubt));
  }
  for (const double factor : {1e-4, 1.0, 1e6}) CHECK(placed(factor, false).err == "");
  const Run result = placed(1e-7, false);
  CHECK_MESSAGE(result.out.find("0.000 us") == std::string::npos, result.out);
}

TEST_CASE_FIXTURE(PlacedScene,
                  "a staged placement records its stages, and simulating them says the same") {
  json system = json::parse(small_topology());
  system["execution"] = "staged";
  for (json& device : system["devices"]) {
    device["stage_us"] = 5;
    device["cut_us"] = 1;
    device["cut_bytes_per_us"] = 1000;
  }
  const std::string staged = write("staged.json", system.dump());
  const json report = run_json({"place", graph, "-t", staged, "-o", path("p.plpl"), "--json"});
  CHECK(report.at("stages").size() == 6);
  const json again = run_json({"simulate", graph, "-t", staged, "-p", path("p.plpl"), "--json"});
  CHECK(again.at("makespan_us") == report.at("makespan_us"));
  CHECK(again.at("stage_of") == report.at("stages"));
  CHECK(again.at("stage_order") == report.at("order"));
  CHECK(again.at("stages").size() == report.at("order").size());
  const Run table = run({"simulate", graph, "-t", staged, "-p", path("p.plpl")});
  CHECK(table.out.find("stage") != std::string::npos);

  json wrong = report;
  wrong["stages"][0] = 9;
  const Run refused =
      run({"simulate", graph, "-t", staged, "-p", write("wrong.json", wrong.dump())});
  CHECK(refused.status == 3);
  CHECK(refused.err.find("expected numbers from 0 without gaps") != std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "an engine keeps one device unless leaving it gains more") {
  const std::string one = write("one.json", R"({"format_version": 1, "name": "e",
      "execution": "staged", "tolerance": {"value": 0.9}})");
  const json kept = run_json({"place", graph, "-t", topology, "--engine", one, "--json"});
  CHECK(kept.at("stages") == json({0, 0, 0, 0, 0, 0}));
  const json left =
      run_json({"place", graph, "-t", topology, "--engine", one, "--tolerance", "0", "--json"});
  CHECK(left.at("makespan_us") < kept.at("makespan_us"));

  // And says why, wherever the better candidate is shown.
  const std::string why = " is within the engine's tolerance of 90% of ";
  CHECK(kept.at("note").get<std::string>().find(why) != std::string::npos);
  CHECK(left.value("note", "").find("tolerance") == std::string::npos);
  const Run shown = run({"place", graph, "-t", topology, "--engine", one, "--report", "page.html",
                         "-o", "p.json", "--explain", "all"});
  CHECK(shown.out.find(why) != std::string::npos);
  CHECK(shown.out.find("note: kept within the tolerance of ") != std::string::npos);
  CHECK(read("page.html").find(why) != std::string::npos);
  CHECK(run({"report", "p.json", "-g", graph, "-t", topology, "-o", "again.html"}).status == 0);
  CHECK(read("again.html").find(why) != std::string::npos);
  const json given =
      run_json({"place", graph, "-t", topology, "--engine", one, "--tolerance", "80%", "--json"});
  CHECK(given.at("note").get<std::string>().find(" is within the tolerance of 80% of ") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "place says that a search found nothing better") {
  // Ten of the like, one after the other: one device is best, and that is not proved at once.
  const Run made = run({"generate", "layered", "--nodes", "60", "-o", "wide.json"});
  CHECK(made.status == 0);
  const auto note = [&](const char* budget) -> std::string {
    return run_json({"place", "wide.json", "-t", "cpu+gpu", "--budget", budget, "--json"})
        .value("note", "");
  };
  CHECK(note("1") == "a search of 1 evaluation found nothing better");
  CHECK(note("2") == "a search of 2 evaluations found nothing better");
}

TEST_CASE_FIXTURE(PlacedScene, "place says where a budget may find better, and only there") {
  CHECK(run({"generate", "layered", "--nodes", "60", "-o", "wide.json"}).status == 0);
  const auto says = [&](std::vector<std::string> more) {
    std::vector<std::string> args{"place", "wide.json", "-t", "4xk80"};
    args.insert(args.end(), more.begin(), more.end());
    const Run placed = run(args);
    CHECK(placed.status == 0);
    return placed.out.find("--budget 1k") != std::string::npos;
  };
  CHECK(says({}));
  CHECK_FALSE(says({"--budget", "10"}));
  CHECK_FALSE(says({"--method", "heft"}));
  CHECK_FALSE(says({"--json"}));
}

TEST_CASE_FIXTURE(PlacedScene,
                  "simulate reports what makes a placement infeasible, and still runs it") {
  const std::string tight = write("tight.json", small_topology(9000));
  const json over = run_json({"simulate", graph, "-t", tight, "-p", placement, "--json"});
  CHECK(over.at("feasible") == false);
  CHECK(over.at("memory_shortfall_bytes") == json({4000, 0}));
  CHECK(over.at("violations").size() == 1);

  const std::string apart = write("apart.json", R"({"format_version": 1,
      "devices": ["gpu:0", "gpu:1"], "assignment": [0, 0, 0, 0, 0, 1]})");
  const json split = run_json({"simulate", graph, "-t", topology, "-p", apart, "--json"});
  CHECK(split.at("feasible") == false);
  CHECK(split.at("violations").size() == 1);
}

TEST_CASE_FIXTURE(PlacedScene, "simulate names both graphs where a placement is of another") {
  json renamed = json::parse(small_graph());
  renamed["name"] = "large";
  const std::string other = write("large.json", renamed.dump());
  const Run said = run({"simulate", other, "-t", topology, "-p", placement});
  CHECK(said.status == 0);
  CHECK(said.err ==
        "placeto: note: " + placement + " is of graph 'small', and this is graph 'large'\n");
  CHECK(run({"simulate", graph, "-t", topology, "-p", placement}).err == "");
}

TEST_CASE_FIXTURE(PlacedScene, "simulate names the node that a placement puts against the rules") {
  json together = json::parse(small_graph());
  together["nodes"][1]["colocate"] = together["nodes"][2]["colocate"] = "pair";
  const std::string torn = write("together.json", together.dump());
  const json run = run_json({"simulate", torn, "-t", topology, "-p", placement, "--json"});
  CHECK(run.at("feasible") == false);
  REQUIRE(run.at("violations").size() == 1);
  CHECK(run.at("violations")[0] ==
        "node 2 'c' is on device 'gpu:1', and node 1 'b', which it is colocated with, on 'gpu:0'");
}

TEST_CASE_FIXTURE(PlacedScene, "place says so where an option has no effect on a method") {
  const auto note = [&](const char* method, const char* option, const char* value) -> std::string {
    return run_json({"place", graph, "-t", topology, "-m", method, option, value, "--json"})
        .value("note", "");
  };
  CHECK(note("heft", "--budget-evals", "10") == "the method 'heft' takes no budget");
  for (const char* method : {"auto", "anneal"}) CHECK(note(method, "--budget-evals", "10") == "");
  CHECK(note("heft", "--samples", "2") == "--samples draws from a policy, not from 'heft'");
  CHECK(note("heft", "--tolerance", "0.1") ==
        "--tolerance is of 'auto': 'heft' has one placement to hand out");
  CHECK(note("auto", "--tolerance", "0.1") == "");
}

TEST_CASE_FIXTURE(PlacedScene, "simulate writes a trace and a report page") {
  const Run result = run({"simulate", graph, "-t", topology, "-p", placement, "--trace",
                          "trace.json", "--report", "report.html"});
  CHECK(result.status == 0);
  CHECK(result.out.find("makespan") != std::string::npos);
  CHECK(json::parse(read("trace.json")).at("traceEvents").size() > 6);
  CHECK(read("report.html").find("<canvas") != std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "place prints the placement, the candidates and the bound") {
  const json placed = run_json({"place", graph, "--topology", topology, "--json"});
  CHECK(placed.at("format_version") == 1);
  CHECK(placed.at("graph") == "small");
  CHECK(placed.at("topology") == "pair");
  CHECK(placed.at("devices") == json({"gpu:0", "gpu:1"}));
  CHECK(placed.at("assignment").size() == 6);
  CHECK(placed.at("assignment")[0] == placed.at("assignment")[5]);
  CHECK(placed.at("peak_memory_bytes").size() == 2);
  CHECK(placed.at("place_time_us").get<double>() > 0);
  CHECK(placed.at("makespan_us").get<double>() >= placed.at("lower_bound_us").get<double>());
  double best = std::numeric_limits<double>::infinity();
  bool won = false;
  for (const json& candidate : placed.at("candidates")) {
    if (candidate.at("feasible") == true) {
      best = std::min(best, candidate.at("makespan_us").get<double>());
    }
    won = won || candidate.at("method") == placed.at("method");
  }
  CHECK(won);
  CHECK(placed.at("makespan_us") == best);
}

TEST_CASE_FIXTURE(PlacedScene, "what place writes, simulate confirms") {
  for (const char* name : {"out.json", "out.plp"}) {
    const json placed = run_json({"place", graph, "-t", topology, "-o", name, "--json"});
    const json simulated = run_json({"simulate", graph, "-t", topology, "-p", name, "--json"});
    CHECK(simulated.at("makespan_us") == placed.at("makespan_us"));
    CHECK(simulated.at("peak_memory_bytes") == placed.at("peak_memory_bytes"));
    CHECK(simulated.at("feasible") == true);
  }
}

TEST_CASE_FIXTURE(PlacedScene, "a run that takes no time waits for nothing") {
  const std::string nothing = write("nothing.json", R"({"format_version": 1, "name": "nothing",
      "nodes": [{"cost_us": [0], "outputs": [0]}, {"cost_us": [0]}], "edges": [{"target": 1}]})");
  REQUIRE(run({"place", nothing, "-t", topology, "-o", "none.json"}).status == 0);
  const Run simulated = run({"simulate", nothing, "-t", topology, "-p", "none.json"});
  CHECK(simulated.status == 0);
  CHECK(simulated.out.find("nan") == std::string::npos);
  CHECK(simulated.out.find("waits for") == std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "place prints a table with the winner marked") {
  const Run result = run({"place", graph, "-t", topology, "--report", "t.html"});
  CHECK(result.status == 0);
  CHECK(result.out.find("lower bound") != std::string::npos);
  CHECK(result.out.find("\n*  ") != std::string::npos);
  CHECK(result.out.find('\x1b') == std::string::npos);  // not a terminal
  CHECK(exists("t.html"));
}

TEST_CASE_FIXTURE(PlacedScene, "rules take patterns over operators and names") {
  const json pinned = run_json(
      {"place", graph, "-t", topology, "--pin", "op:Con?=gpu:1", "--pin", "d=0", "--json"});
  for (int v : {1, 2, 4}) CHECK(pinned.at("assignment")[v] == 1);
  CHECK(pinned.at("assignment")[3] == 0);
  const json kept_off = run_json({"place", graph, "-t", topology, "--forbid", "*=gpu:0", "--json"});
  CHECK(kept_off.at("assignment") == json({1, 1, 1, 1, 1, 1}));
  const json together = run_json({"place", graph, "-t", topology, "--pin", "b=gpu:1", "--pin",
                                  "d=gpu:0", "--colocate", "op:Conv,a", "--json"});
  for (int v : {0, 2, 4}) CHECK(together.at("assignment")[v] == 1);
}

TEST_CASE_FIXTURE(PlacedScene, "place obeys pins, forbids and colocation by name and by index") {
  const json pinned = run_json({"place", graph, "-t", topology, "--pin", "b=gpu:1", "--pin", "2=0",
                                "--colocate", "b,3", "--json"});
  CHECK(pinned.at("assignment")[1] == 1);
  CHECK(pinned.at("assignment")[2] == 0);
  CHECK(pinned.at("assignment")[3] == 1);
  const json kept_off = run_json({"place", graph, "-t", topology, "--forbid", "e=gpu:0", "--json"});
  CHECK(kept_off.at("assignment")[4] == 1);
}

TEST_CASE_FIXTURE(PlacedScene, "place gives the same answer for the same seed and evaluations") {
  CHECK(run({"generate", "layered", "--nodes", "80", "-o", "r.json"}).status == 0);
  for (const char* method : {"anneal", "random", "auto"}) {
    const std::vector<std::string> command{"place",          "r.json", "-t",     topology,
                                           "--method",       method,   "--seed", "5",
                                           "--budget-evals", "200",    "--json"};
    CHECK(run_json(command).at("assignment") == run_json(command).at("assignment"));
  }
}

TEST_CASE_FIXTURE(PlacedScene, "place takes every objective, budget and pass option") {
  const json placed =
      run_json({"place", graph, "-t", topology, "--objective", "throughput", "--passes", "2",
                "--budget-ms", "1.5", "--memory-headroom", "0.25", "--json"});
  CHECK(placed.at("candidates")[0].contains("bottleneck_us"));
  const std::string table = run({"place", graph, "-t", topology, "--objective", "throughput"}).out;
  CHECK(table.find("bottleneck") != std::string::npos);
  CHECK(table.find("/ bound") == std::string::npos);  // which is of the makespan
  CHECK(table.find("a copy of the model on every device") != std::string::npos);
  CHECK(table.find(" runs a second\n") != std::string::npos);  // more or fewer
}

TEST_CASE_FIXTURE(PlacedScene, "compare lists every method on every graph and topology") {
  const std::string other = write("other.json", small_topology(12000));
  const json compared = run_json({"compare", graph, graph, "--topology", topology, other,
                                  "--methods", "single,heft,auto", "--json"});
  CHECK(compared.at("cases").size() == 4);
  for (const json& c : compared.at("cases")) {
    REQUIRE(c.at("methods").size() == 3);
    double single = 0, best = 0;
    for (const json& m : c.at("methods")) {
      if (m.at("method") == "single")
        single = m.value("makespan_us", json(1e300)).is_null() ? 1e300
                                                               : m.at("makespan_us").get<double>();
      if (m.at("method") == "auto") best = m.at("makespan_us").get<double>();
    }
    CHECK(best <= single);
  }
  CHECK(compared.at("summary").size() == 3);
  CHECK(compared.at("summary")[2].at("mean_ratio_to_best") == 1.0);
  CHECK(run({"compare", graph, "-t", topology}).out.find("geometric mean") != std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "nodes to explain are named, or given by a pattern") {
  const auto explained = [&](const std::string& text) {
    std::vector<uint32_t> nodes;
    const json placed = run_json({"place", graph, "-t", topology, "--explain", text, "--json"});
    for (const json& reason : placed.at("reasons")) nodes.push_back(reason.at("node"));
    return nodes;
  };
  CHECK(explained("c") == std::vector<uint32_t>{2});
  CHECK(explained("4") == std::vector<uint32_t>{4});
  CHECK(explained("op:Conv") == std::vector<uint32_t>{1, 2, 4});
  CHECK(explained("?") == std::vector<uint32_t>{0, 1, 2, 3, 4, 5});
  for (const char* text : {"op:Gemm", "stem/*"}) {
    const Run none = run({"place", graph, "-t", topology, "--explain", text});
    CHECK(none.status == 2);
    CHECK_MESSAGE(
        none.err.find("no node that matches '" + std::string(text) + "'") != none.err.npos,
        none.err);
  }
}

TEST_CASE_FIXTURE(PlacedScene, "that a listed move may be an improvement is said in JSON, too") {
  REQUIRE(run({"generate", "layered", "--nodes", "300", "-o", "large.json"}).status == 0);
  const std::vector<std::string> place{"place", "large.json", "-t", "4xk80", "--explain", "all"};
  const std::string said = "a move listed here may be an improvement";
  CHECK(run(place).out.find("may be an improvement") != std::string::npos);
  std::vector<std::string> as_json = place;
  as_json.push_back("--json");
  const std::string note = run_json(as_json).at("note");
  CHECK_MESSAGE(note.find(said) != std::string::npos, note);
}
