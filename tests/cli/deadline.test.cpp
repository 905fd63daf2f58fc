// --deadline-ms and Ctrl-C: what is asked for beside the placement is covered, too.
#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>

#include "tests/cli/runner.h"

using namespace placeto::test;

namespace {

// A ladder of 12,000 nodes: more than is always reported on, and its reasons take many seconds.
std::string large_graph() {
  constexpr int kNodes = 12'000;
  std::string nodes, edges;
  for (int v = 0; v < kNodes; ++v) {
    const std::string cost = std::to_string(10 + v % 7);
    nodes += (v == 0 ? "" : ",") + ("{\"name\": \"n" + std::to_string(v)) + "\", \"cost_us\": [" +
             cost + "], \"outputs\": [1000]}";
    for (const int back : {2, 3}) {
      if (v < back || (back == 3 && v % 2 == 0)) continue;
      edges += (edges.empty() ? "" : ",") + ("{\"source\": " + std::to_string(v - back)) +
               ", \"target\": " + std::to_string(v) + "}";
    }
  }
  return R"({"format_version": 1, "name": "large", "nodes": [)" + nodes + R"(], "edges": [)" +
         edges + "]}";
}

struct DeadlineScene : Workplace {
  std::string graph = write("graph.json", large_graph());
};

}  // namespace

TEST_CASE_FIXTURE(DeadlineScene, "a deadline ends --explain, leaves reports out, and says so") {
  const auto placed =
      run_json({"place", graph, "-t", "4xk80", "--deadline-ms", "1500", "--explain", "all", "-o",
                "p.json", "--report", "r.html", "--trace", "t.json", "--json"});
  CHECK(placed["assignment"].size() == 12'000);
  CHECK(placed["makespan_us"] > 0);
  CHECK(placed.value("reasons", nlohmann::json::array()).size() < 12'000);
  REQUIRE(placed["candidates"].size() > 4);  // each single device at least, whenever it ended
  for (const auto& candidate : placed["candidates"]) CHECK(candidate["makespan_us"] > 0);
  const std::string note = placed["note"];
  CHECK(note.find("no time to explain ") != std::string::npos);
  CHECK(note.find("no time for --report") != std::string::npos);
  CHECK(note.find("no time for --trace") != std::string::npos);
  CHECK(files() == std::vector<std::string>{"graph.json", "p.json"});
}

TEST_CASE_FIXTURE(DeadlineScene,
                  "small graphs are explained and reported on even after the deadline") {
  write("graph.json", small_graph());
  write("pair.json", small_topology());
  const auto placed =
      run_json({"place", "graph.json", "-t", "pair.json", "--deadline-ms", "1e-3", "--budget",
                "10s", "--explain", "b", "--report", "r.html", "--json"});
  CHECK(placed["note"].get<std::string>().find("stopped before everything was tried") == 0);
  CHECK(placed["reasons"].size() == 1);
  CHECK(placed["candidates"].size() > 1);
  for (const auto& candidate : placed["candidates"]) {
    CHECK(candidate["peak_memory_bytes"].size() == 2);
  }
  CHECK(exists("r.html"));
}

TEST_CASE_FIXTURE(DeadlineScene, "compare ends each placing at the deadline") {
  const auto compared = run_json({"compare", graph, "-t", "4xk80", "--methods", "anneal,single",
                                  "--budget", "100s", "--deadline-ms", "1500", "--json"});
  for (const auto& outcome : compared["cases"][0]["methods"]) {
    CHECK(outcome["feasible"] == true);
    CHECK(outcome["place_time_us"] < 20e6);  // of a budget of 100 s, however slow the machine
  }
}

TEST_CASE_FIXTURE(DeadlineScene, "an interrupted compare shows what it has, and says so") {
  const int status = std::system(
      ("cd " + path(".") + " && timeout --preserve-status --signal=INT 3 " PLACETO_CLI " compare " +
       graph + " -t 4xk80 --methods single,auto --budget 100s --json >c.json 2>c.err")
          .c_str());
  CHECK(status != 0);
  const auto compared = nlohmann::json::parse(read("c.json"));
  CHECK(compared["note"] == "interrupted: only the cases before are shown");
  CHECK(compared["cases"].empty());
}

TEST_CASE_FIXTURE(DeadlineScene,
                  "a signal ends a placing, whose best so far is whole, with a note") {
  const auto place = [&](const char* signal, const char* output) {
    const int status =
        std::system(("cd " + path(".") + " && timeout --preserve-status --signal=" + signal +
                     " 3 " PLACETO_CLI " place " + graph + " -t 4xk80 --budget 100s -o " + output +
                     ">out 2>err")
                        .c_str());
    CHECK(read("err").empty());
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  };
  CHECK(place("TERM", "p.json") == 128 + SIGTERM);  // as a shell says of those that a signal ended
  CHECK(place("HUP", "h.json --json") == 128 + SIGHUP);
  CHECK(place("INT", "i.json") == 0);
  CHECK(read("out").find("stopped by Ctrl-C before everything was tried") != std::string::npos);
  for (const char* file : {"p.json", "h.json", "i.json"}) {
    const auto placed = nlohmann::json::parse(read(file));
    CHECK(placed["assignment"].size() == 12'000);
    const std::string note = placed["note"];
    CHECK_MESSAGE(note.starts_with("stopped by "), note);
  }
  CHECK(nlohmann::json::parse(read("p.json"))["note"].get<std::string>().starts_with(
      "stopped by SIGTERM before everything was tried"));
}

TEST_CASE_FIXTURE(DeadlineScene,
                  "without an answer at the deadline, nothing is called infeasible") {
  write("star.json", [] {
    std::string nodes, edges;
    for (int v = 0; v < 60'000; ++v) {
      nodes += (v == 0 ? "" : ",") + ("{\"name\": \"n" + std::to_string(v)) +
               "\", \"cost_us\": [1], \"outputs\": [1]}";
      if (v > 0)
        edges += (v == 1 ? "" : ",") + ("{\"source\": 0, \"target\": " + std::to_string(v)) + "}";
    }
    return R"({"format_version": 1, "name": "star", "nodes": [)" + nodes + R"(], "edges": [)" +
           edges + "]}";
  }());
  const Run run =
      this->run({"place", "star.json", "-t", "4xk80", "--deadline-ms", "0.01", "--json"});
  CHECK(run.status == 1);
  CHECK(nlohmann::json::parse(run.out)["status"] == "stopped");
}
