// `eval`, and the comparison after a training, as commands: what they refuse, what they say of what
// was measured, and what is left when a measurement is interrupted.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>

#include "tests/trainer/command.h"

using namespace placeto;
using namespace placeto::train;
namespace fs = std::filesystem;

TEST_CASE_FIXTURE(Place,
                  "an interrupted eval keeps the rows it has, where nobody takes them for all") {
  const std::string eval =
      "eval default --sets mixed --threads 1 --budgets 1 --long-searches 1 --problems 200 "
      "--long-evaluations 3000 --csv " +
      file("x.csv") + " --json " + file("x.json") + " --svg " + file("x.svg");
  // By then some are measured: a problem takes some tens of milliseconds.
  const auto in_three_seconds = [i = 0]() mutable { return ++i > 30; };
  ends_by(SIGTERM, eval, in_three_seconds);
  const std::string messages = *read_text(file("messages"));
  CHECK_MESSAGE(messages.find("stopped by SIGTERM after ") != std::string::npos, messages);
  CHECK_MESSAGE(
      messages.find(" of 200 problems; what was measured is in " + file("x.json.partial") + ", " +
                    file("x.csv.partial") + ", nothing else is written\n") != std::string::npos,
      messages);
  CHECK(read_text(file("out"))->empty());
  REQUIRE(fs::exists(file("x.csv.partial")));
  for (const char* absent : {"x.csv", "x.json", "x.svg", "x.svg.partial"}) {
    CHECK(!fs::exists(file(absent)));
  }
  const std::string csv = *read_text(file("x.csv.partial"));
  CHECK(csv.starts_with("problem,set,"));
  CHECK(csv.find("\n0,mixed,") != std::string::npos);
}

TEST_CASE_FIXTURE(Place, "an interrupted eval without a file for its rows writes nothing") {
  int tenths = 0;
  ends_by(SIGINT, "eval default --equal-time --problems 500 --csv -",
          [&] { return ++tenths > 10; });
  const std::string messages = *read_text(file("messages"));
  CHECK_MESSAGE(messages.find("placeto-train: stopped by Ctrl-C after 0 of 2 sets; nothing is "
                              "written\n") != std::string::npos,
                messages);
  CHECK(read_text(file("out"))->empty());
}

// One of the first two problems of `mixed` is a network, as a quarter of training's are.
TEST_CASE_FIXTURE(Place, "eval says which networks of mixed a policy was trained on") {
  const std::string on = " --sets mixed --problems 2 --budgets 1 --long-searches 0";
  REQUIRE(run("eval default" + on, file("out")) == 0);
  CHECK(read_text(file("out"))
            ->find("not held out: 1 of mixed are networks that training draws, "
                   "too, for other devices: enas_cifar10\n") != std::string::npos);
  // The sixteenth of the fresh ones is the first network.
  REQUIRE(run("eval default --equal-time --sets mixed --problems 16", file("out")) == 0);
  CHECK(read_text(file("out"))->find("of mixed are networks that training draws") !=
        std::string::npos);
  REQUIRE(run("--config " + config + " -o " + file("run")) == 0);  // without networks
  REQUIRE(run("eval " + file("run/best.plpo") + on, file("out")) == 0);
  CHECK(read_text(file("out"))->find("not held out") == std::string::npos);
}

TEST_CASE_FIXTURE(Place, "a comparison says what it is on") {
  REQUIRE(run("--compare --config " + config + " -o " + file("run"), file("out")) == 0);
  const std::string text = *read_text(file("out"));
  CHECK_MESSAGE(
      text.find("over the fixed test set mixed, whatever [data] says") != std::string::npos, text);
}

TEST_CASE_FIXTURE(Place, "a comparison says where training found nothing better") {
  const std::string still = write("still.toml", *read_text(config) + R"(
start = "default"
learning_rate = 0
final_learning_rate = 0
)");
  REQUIRE(run("--compare --config " + still + " -o " + file("run"), file("out")) == 0);
  const std::string text = *read_text(file("out"));
  CHECK_MESSAGE(text.find("training found nothing better: the best policy is the one it began "
                          "with, the shipped one\n") != std::string::npos,
                text);
}

TEST_CASE_FIXTURE(Place, "what is learned from and what is held out is compared apart") {
  std::string graphs;
  for (const char* time : {"5", "6"}) {
    graphs += (graphs.empty() ? "" : ", ") + std::string("\"") +
              write(std::string(time) + ".json",
                    std::string(R"({"format_version": 1, "nodes": [{"name": "a", "op": "X",
                                    "cost_us": [)") +
                        time + R"(]}, {"name": "b", "op": "X",
                                    "cost_us": [3]}]})") +
              "\"";
  }
  const std::string leaps = write(
      "leaps.toml", "algorithm = \"leaps\"\niterations = 1\n[data]\ngraphs = [" + graphs + R"(]
topologies = ["2xk80"]
[collect]
expert_evaluations = 100
[learn]
steps = 1
)");
  REQUIRE(run("--compare --config " + leaps + " -o " + file("run"), file("out")) == 0);
  const std::string text = *read_text(file("out"));
  for (const char* part : {"over the problems learned from, and those held out; auto",
                           "learned  held out  evaluations"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  }
  // A policy that leaps is measured by all of place.
  REQUIRE(run("export " + file("run") + " -o " + file("leaps.plpo")) == 0);
  fails("eval " + file("leaps.plpo") + " --sets mixed --problems 1 --passes 2", 2,
        "--passes: a policy that leaps makes as many as place has it make");
}

TEST_CASE_FIXTURE(Place, "options that mean nothing without another are refused") {
  fails("eval default --topologies 2xk80", 2, "--topologies: goes with --graphs only");
  fails("--config " + config + " -o " + file("run") + " --rank 1", 2,
        "--rank: goes with --hosts only");
}

TEST_CASE_FIXTURE(Place, "what has no effect on a measurement at equal time is refused") {
  for (const std::string option :
       {"--budgets 10", "--baselines", "--rnn 10", "--long-searches 1", "--long-evaluations 10",
        "--annealings", "--passes 1", "--svg x", "--cdf x", "--effort x", "--bars x"}) {
    fails("eval default --equal-time " + option, 2,
          "--equal-time: does not go with " + option.substr(0, option.find(' ')));
  }
}

TEST_CASE_FIXTURE(Place, "of several policies none is measured at equal time") {
  fails("eval default " PLACETO_MODELS "/placeto-ptb-2gpu.plpo --equal-time", 2,
        "--equal-time: 2 policies, expected one at a time", file("out"));
  CHECK(read_text(file("out"))->empty());
}

TEST_CASE_FIXTURE(Place, "what is of test sets alone is refused with graphs of one's own") {
  for (const std::string command : {"eval default", "starts default"}) {
    for (const std::string option :
         {"--sets mixed", "--problems 1", "--large 1", "--devices 2", "--groups 9"}) {
      fails(command + " --graphs x.json --topologies 2xk80 " + option, 2,
            "--graphs: does not go with " + option.substr(0, option.find(' ')));
    }
  }
}

// The first of mixed has no room for its network.
TEST_CASE_FIXTURE(Place, "problems without a placement that fits memory are counted") {
  const std::string eval = "eval default --budgets 1 --long-searches 0 ";
  fails(eval + "--sets mixed --problems 1", 2,
        "on none of the problems, 1, was a placement found that fits memory");
  REQUIRE(run(eval + "--sets mixed --problems 2", file("out")) == 0);
  const std::string text = *read_text(file("out"));
  CHECK_MESSAGE(text.find("left out, 1 of 2 problems: no placement was found that fits memory\n") !=
                    std::string::npos,
                text);
  fails(eval + "--sets large --large 0", 2, "--large: 0 leaves no problem");
}

TEST_CASE_FIXTURE(Place, "what eval cannot write stops it before it measures anything") {
  const std::string policy = PLACETO_MODELS "/default.plpo";
  fails("eval " + policy + " --json " + file("no/such/x.json"), 4, "x.json: cannot write there",
        file("out"));
  fails("pareto " + policy + " --csv " + file(""), 4, "is a directory, expected a file",
        file("out"));
  CHECK(read_text(file("out"))->empty());
  fails("eval " + file("absent.plpo"), 3, "placeto-train: error: " + file("absent.plpo"));
  fails("eval " + policy + " --sets mixd", 2, "did you mean 'mixed'?");
  const std::string x = file("x");
  fails("eval " + policy + " --json " + x + " --csv " + x, 2, "given for two outputs");
  fails("eval " + policy + " --csv - --json -", 2, "-: given for two outputs");
  fails("eval " + policy + " --csv " + x + " --svg " + file("./x"), 2, "given for two outputs");
  fails("eval " + policy + " --budgets 100 10", 2, "expected them ascending");
  fails("pareto " + policy + " --sizes 4294967295", 2, "from 1 to 100000");
  // For a search, 0 would mean no limit.
  fails("eval " + policy + " --budgets 0", 2, "of at least 1");
  fails("eval " + policy + " --long-evaluations 0", 2, "of at least 1");
  fails("eval " + policy + " --problems 0", 2, "from 1 to");
  fails("pareto " + policy + " --problems 0", 2, "from 1 to");
}

TEST_CASE_FIXTURE(Place, "policies of one file name in two folders are told apart") {
  const std::string graph = write(
      "x.json", R"({"format_version": 1, "nodes": [{"name": "a", "op": "X", "cost_us": [5]}]})");
  const std::string here = PLACETO_MODELS "/default.plpo", there = file("default.plpo");
  REQUIRE(fs::copy_file(here, there));
  const std::string on = " --graphs " + graph + " --topologies 2xk80 --budgets 1 --long-searches 0";
  REQUIRE(run("eval " + here + " " + there + on + " --csv -", file("out")) == 0);
  const std::string csv = *read_text(file("out"));
  for (const std::string& path : {here, there}) {
    CHECK(csv.find("," + path.substr(0, path.size() - 5) + ",") != std::string::npos);
  }
  for (const std::string& second : {std::string(), there}) {
    REQUIRE(run("eval " + here + " " + second + on + " --json -", file("out")) == 0);
    const std::string json = *read_text(file("out"));
    CHECK((json.find("\"policy\":") != std::string::npos) == second.empty());
    CHECK(json.find("\"policies\":") != std::string::npos);
  }
  fails("eval " + here + " " + here + on, 2, "given twice, expected each policy once");
}

TEST_CASE_FIXTURE(Place, "passes are not counted out where stages are measured") {
  const std::string graph = write(
      "x.json", R"({"format_version": 1, "nodes": [{"name": "a", "op": "X", "cost_us": [5]}]})");
  std::string machine = *read_text(PLACETO_MODELS "/topologies/2xk80.json");
  machine.replace(machine.find("\"parallel\""), 10, "\"staged\"");
  const std::string on = " --graphs " + graph + " --topologies " + write("staged.json", machine);
  fails("eval default --passes 2" + on, 2, "own: --passes: under staged execution", file("out"));
  CHECK(read_text(file("out"))->empty());
}

TEST_CASE_FIXTURE(Place, "starts are not measured where a policy does not fit every problem") {
  const std::string starts = "starts " PLACETO_MODELS "/placeto-ptb-2gpu.plpo ";
  fails(starts + "--problems 0", 2, "'0' is not a whole number from 1");
  const std::string graph = write(
      "x.json", R"({"format_version": 1, "nodes": [{"name": "a", "op": "X", "cost_us": [5]}]})");
  fails(starts + "--graphs " + graph + " --topologies 2xk80 4xk80", 2,
        "places on 2 devices, the topology has 4", file("out"));
  CHECK(read_text(file("out"))->empty());
}

TEST_CASE_FIXTURE(Place, "what a policy is worth is not measured where it cannot place") {
  const std::string policy = PLACETO_MODELS "/placeto-ptb-2gpu.plpo";
  fails("eval " + policy + " --equal-time --sets ring --problems 2", 2,
        "ring: the policy places on 2 devices, the topology has 6", file("out"));
  fails("pareto " + policy + " --sizes 20 --problems 4", 2, "the policy places on 2 devices",
        file("out"));
  CHECK(read_text(file("out"))->empty());
}

TEST_CASE_FIXTURE(Place,
                  "a policy that fits some problems is measured there, one that fits none is not") {
  const std::string graph = write(
      "x.json", R"({"format_version": 1, "nodes": [{"name": "a", "op": "X", "cost_us": [5]}]})");
  const std::string eval = "eval " PLACETO_MODELS
                           "/placeto-ptb-2gpu.plpo --budgets 1 "
                           "--long-searches 0 --graphs " +
                           graph + " --topologies ";
  // The first problem is on four devices: topologies are sorted by name.
  const std::string four = write("a4.json", *read_text(PLACETO_MODELS "/topologies/4xk80.json"));
  const std::string two = write("b2.json", *read_text(PLACETO_MODELS "/topologies/2xk80.json"));
  REQUIRE(run(eval + four + " " + two + " --csv " + file("x.csv"), file("out")) == 0);
  const std::string text = *read_text(file("out")), csv = *read_text(file("x.csv"));
  CHECK(
      text.find("left out where it does not fit, 1 of 2 problems: the policy places on 2 devices, "
                "the topology has 4") != std::string::npos);
  CHECK(csv.find("\n0,own,x,1,4,0,policy,") == std::string::npos);
  CHECK(csv.find("\n1,own,x,1,2,0,policy,") != std::string::npos);
  fails(eval + four, 2, "own: the policy places on 2 devices, the topology has 4", file("out"));
  CHECK(read_text(file("out"))->empty());
}
