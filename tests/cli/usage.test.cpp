// Help, names, units, completion, and files in and out: what all commands have in common.
#include <doctest/doctest.h>

#include "tests/cli/runner.h"

using namespace placeto::test;
using nlohmann::json;

TEST_CASE_FIXTURE(PlacedScene, "what a placement was placed by is explained") {
  std::string help, lines = run({"place", "--help"}).out;
  for (const char c : lines) {
    if (c != '\n' && (c != ' ' || !help.ends_with(' '))) help += c;
    if (c == '\n' && !help.ends_with(' ')) help += ' ';
  }
  CHECK(help.find(" polish moves of single groups, while one gains (") != std::string::npos);
  CHECK(help.find(" fewest stages merged, as far as the tolerance goes (") != std::string::npos);
  CHECK(help.find("takes a budget (default 10,000 evaluations)") != std::string::npos);
  const std::string placed = run({"place", graph, "-t", topology, "--explain", "all"}).out;
  const size_t by = placed.find("placed by ") + 10;
  const std::string method = placed.substr(by, placed.find(':', by) - by);
  CHECK(placed.find("\n" + method + ": ") != std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "annealing without a budget has the evaluations that help names") {
  REQUIRE(run({"generate", "layered", "--nodes", "60", "-o", "many.graph"}).status == 0);
  const auto by_budget = [&](std::vector<std::string> budget) {
    std::vector<std::string> line{"place", "many.graph", "-t", "4xk80", "-m", "anneal", "--json"};
    line.insert(line.end(), budget.begin(), budget.end());
    auto placed = run_json(line);
    placed.erase("place_time_us");
    return placed;
  };
  CHECK(by_budget({}) == by_budget({"--budget-evals", "10000"}));
}

TEST_CASE_FIXTURE(PlacedScene, "every command has help with examples") {
  for (const char* command :
       {"place", "simulate", "compare", "inspect", "convert", "generate", "report"}) {
    const Run help = run({command, "--help"});
    CHECK(help.status == 0);
    CHECK(help.out.find("Examples:") != std::string::npos);
    CHECK(help.out.find(std::string("Usage: placeto ") + command) != std::string::npos);
    CHECK(run({"help", command}).out == help.out);
  }
  const std::string help = run({"--help"}).out;
  CHECK(help.find("Exit status") != std::string::npos);
  CHECK(run({}).out == help);
  CHECK(run({"help"}).out == help);
  CHECK(run({"--version"}).out.rfind("placeto ", 0) == 0);
  CHECK(run({"-V"}).out == run({"--version"}).out);
}

TEST_CASE_FIXTURE(PlacedScene, "topologies are found by name") {
  CHECK(run_json({"inspect", "2xk80", "--json"})["name"] == "2xk80");
  CHECK(run_json({"place", graph, "-t", "2xk80", "--json"})["topology"] == "2xk80");
  write("2xk80", small_topology());  // a file of that name goes first
  CHECK(run_json({"place", graph, "-t", "2xk80", "--json"})["topology"] == "pair");
}

TEST_CASE_FIXTURE(PlacedScene, "numbers and times may have units") {
  const auto placed = [this](const std::string& option, const std::string& value) {
    return run_json({"place", graph, "-t", topology, option, value, "--json"})["makespan_us"];
  };
  CHECK(placed("--budget", "1k") == placed("--budget-evals", "1000"));
  CHECK(placed("--memory-headroom", "10%") == placed("--memory-headroom", "0.1"));
  CHECK(run({"place", graph, "-t", topology, "--budget", "1ms"}).status == 0);
  CHECK(run({"place", graph, "-t", topology, "--budget", "0.5ms"}).status == 0);
  CHECK(run({"place", graph, "-t", topology, "--budget", "soon"}).status == 2);
}

TEST_CASE_FIXTURE(PlacedScene, "help explains itself, and topologies by name are converted") {
  CHECK(run({"help", "help"}).out == run({"help"}).out);
  REQUIRE(run({"convert", "2xk80", "k80.json"}).status == 0);
  CHECK(nlohmann::json::parse(read("k80.json"))["devices"].size() == 2);
  const auto shown = run_json({"inspect", "2xk80", "--json"});
  CHECK(shown["channel_names"].size() == shown["channels"]);
}

TEST_CASE_FIXTURE(PlacedScene, "options of one meaning have one name") {
  CHECK(run({"help", "tune"}).out.find("--budget-evals") != std::string::npos);
  const std::string verify = run({"help", "verify"}).out;
  CHECK(verify.find("--provider") != std::string::npos);
  CHECK(verify.find("-g, --graph") != std::string::npos);
  CHECK(run({"help", "sign"}).out.find("-k,") == std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "descriptions keep their apostrophes when a shell completes") {
  CHECK(run({"completion", "fish"}).out.find(R"(the whole model\'s)") != std::string::npos);
  CHECK(run({"completion", "zsh"}).out.find(R"(the whole model'\''s)") != std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "a dash is standard input or output, and pipes are files") {
  const auto shell = [this](const std::string& line) {
    return std::system(("cd " + path(".") + " && placeto=" PLACETO_CLI " && " + line).c_str());
  };
  write("graph.json", small_graph());
  write("topology.json", small_topology());
  REQUIRE(shell("$placeto generate layered --nodes 20 -o - 2>said | "
                "$placeto place - -t topology.json -o - 2>>said | "
                "$placeto inspect - --json > placed") == 0);
  CHECK(nlohmann::json::parse(read("placed"))["nodes"] == 20);
  CHECK(read("said").find("layered") != std::string::npos);
  REQUIRE(shell("mkfifo pipe && (cat topology.json > pipe &) && "
                "cat graph.json | $placeto place - -t pipe --json > piped") == 0);
  CHECK(read("piped") != "");
  CHECK(shell("cat graph.json | $placeto simulate - -t - -p - 2>said; [ $? = 2 ]") == 0);
  CHECK(read("said").find("two inputs") != std::string::npos);
  CHECK(shell("$placeto place graph.json -t topology.json -o - --json 2>said; [ $? = 2 ]") == 0);
  CHECK(read("said").find("--json: standard output is taken") != std::string::npos);
  for (const char* command : {"inspect -", "convert - g.json", "import - -o g.json"}) {
    CHECK(shell(std::string("printf '(\\0\\0\\0TFL3' | $placeto ") + command +
                " 2>said; [ $? = 3 ]") == 0);
    CHECK_MESSAGE(read("said").find("standard input: is a TensorFlow Lite") != std::string::npos,
                  read("said"));
  }
}

TEST_CASE_FIXTURE(PlacedScene, "a shell can complete what is printed for it") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Run script = run({"completion", shell});
    CHECK(script.status == 0);
    for (const char* word : {"simulate", "topology", "2xk80", "heft"}) {
      CHECK(script.out.find(word) != std::string::npos);
    }
  }
  std::string script = run({"completion", "bash"}).out;
  const auto complete = [&script](const std::string& line) {
    const std::string words = line.ends_with(' ') ? line + "''" : line;
    script += "COMP_WORDS=(placeto " + words +
              "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _placeto\n" +
              "echo \"${COMPREPLY[*]}\" >> found\n";
  };
  complete("pl");
  complete("-");
  complete("place x -t 2x");
  complete("place x --topology=2xk");
  complete("place x --topology = 2xk");
  complete("compare x -t 2xk80 4xk");
  complete("compare x -t 2xk80 --methods he");
  complete("compare x -t 2xk80 --methods heft,et");
  complete("place x -m et");
  complete("measure 8x");
  complete("generate gpt2 --size me");
  complete("generate gpt2 --batch ");
  complete("generate gpt");
  complete("inspect mine");
  write("mine.json", "{}");
  write("heft", "");
  write("gptfile", "");
  write("complete.sh", script);
  REQUIRE(std::system(("cd " + path(".") + " && bash complete.sh").c_str()) == 0);
  CHECK(read("found") ==
        "place\n"
        "--help --version\n"
        "2x4-gpu-two-hosts 2xk80\n"
        "--topology=2xk80\n"
        "2xk80\n"
        "4xk80\n"
        "heft\n"
        "heft,etf\n"
        "etf\n"
        "8xk80\n"
        "medium\n"
        "\n"
        "gpt2\n"
        "mine.json\n");
  const std::string zsh = run({"completion", "zsh"}).out;
  CHECK(zsh.find("'(-t --topology)'{-t+,--topology=}'[") != std::string::npos);
  CHECK(zsh.find("'help:") != std::string::npos);
}

TEST_CASE_FIXTURE(PlacedScene, "convert goes to binary and back without loss, by content") {
  for (const std::string& file : {graph, topology, placement}) {
    CHECK(run({"convert", file, "first.json"}).status == 0);
    CHECK(run({"convert", "first.json", "binary.dat"}).status == 0);
    CHECK(run({"convert", "binary.dat", "back.json"}).status == 0);
    CHECK(read("first.json") == read("back.json"));
    CHECK(read("binary.dat") != read("back.json"));
    CHECK(run_json({"convert", "binary.dat", "named.json", "--to", "binary", "--json"})
              .at("encoding") == "binary");
    CHECK(read("named.json") == read("binary.dat"));
    CHECK(run_json({"inspect", "named.json", "--json"}) == run_json({"inspect", file, "--json"}));
  }
}

TEST_CASE_FIXTURE(PlacedScene, "generate makes every workload it lists") {
  const json list = run_json({"generate", "--list", "--json"}).at("workloads");
  CHECK(list.size() >= 10);
  CHECK(run({"generate", "--list"}).status == 0);
  for (const char* name : {"inception_v3", "layered"}) {
    const json made = run_json({"generate", name, "-o", "made.plg", "--json"});
    CHECK(run_json({"inspect", "made.plg", "--json"}).at("nodes") == made.at("nodes"));
  }
  CHECK(run_json({"generate", "erdos", "--nodes", "77", "--ccr", "0.5", "--seed", "3", "-o",
                  "e.json", "--json"})
            .at("nodes") == 77);
}
