// Exit statuses, and that a failure leaves nothing behind.
#include <doctest/doctest.h>

#include "tests/cli/runner.h"

using namespace placeto::test;
using nlohmann::json;

namespace {

using FailuresScene = Refusing<SmallScene>;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE_FIXTURE(PlacedScene, "files of placeto are named where others are expected") {
  const std::pair<std::vector<std::string>, std::string> lines[] = {
      {{"import", placement, "-o", "g.json"}, "is a placement, expected an ONNX model"},
      {{"import", graph, "-o", "g.json"}, "is a graph, expected an ONNX model"},
      {{"tune", topology, "-t", topology, "-o", "d"}, "is a topology, expected an ONNX model"},
      {{"run", placement}, "is a placement, expected a directory of stages"},
      {{"place", graph, "-t", topology, "--engine", placement},
       "is a placement, expected the description of an engine"}};
  for (const auto& [line, why] : lines) {
    const Run result = run(line);
    CHECK(result.status == 3);
    CHECK_MESSAGE(result.err.find(why) != std::string::npos, result.err);
  }
}

TEST_CASE_FIXTURE(FailuresScene, "bad usage ends with status 2") {
  fails({"nonsense"}, 2, "no command 'nonsense'");
  fails({"place"}, 2, "place: GRAPH is missing");
  fails({"place", graph}, 2, "--topology");
  fails({"place", graph, "-t", topology, "--nonsense"}, 2, "nonsense");
  fails({"place", graph, "-t", topology, "--method", "magic"}, 2, "'magic' is none of");
  fails({"place", graph, "-t", topology, "--method", "magic"}, 2,
        "`placeto help place` lists what there is");
  fails({"place", graph, "-t", topology, "--objective", "fame"}, 2, "fame");
  fails({"compare", graph, "-t", topology, "--methods", "heft,magic"}, 2, "magic");
  fails({"generate", "no_such_network", "-o", "x.json"}, 2, "no_such_network");
  fails({"generate", "inception_v3"}, 2, "-o");
  fails({"generate", "layered", "--experts", "4", "-o", "x.json"}, 2, "experts");
  fails({"generate", "gpt2", "--optimizer", "adam", "-o", "x.json"}, 2, "--training");
  fails({"place", graph, "-t", topology, "--policy", "none", "--method", "policy"}, 2,
        "needs a policy");
  fails({"convert", graph, "x", "--to", "yaml"}, 2, "yaml");
}

TEST_CASE_FIXTURE(FailuresScene,
                  "what was misspelt is named first, with what may have been meant") {
  fails({"plaec", graph}, 2, "error: no command 'plaec', did you mean 'place'?");
  fails({"place", graph, "-t", topology, "--budget-eval", "5"}, 2,
        "error: --budget-eval: place has no such option, did you mean '--budget-evals'?");
  fails({"place", "--tpology", topology}, 2, "did you mean '--topology'?");
  fails({"place", graph, "-t", topology, "--method", "heff"}, 2,
        "error: --method: 'heff' is none of auto, policy, ");
  fails({"place", graph, "-t", "2xk81"}, 3,
        "2xk81: no such file, and no built-in topology, did you "
        "mean '2xk80'?");
  const auto place = [this](const char* option, const char* value, const char* expected) {
    fails({"place", graph, "-t", "cpu+gpu", option, value}, 2, expected);
  };
  place("-m", "HEFT", ", did you mean 'heft'?");
  place("--pin", "0=cup:0", "--pin: the topology has no device 'cup:0', did you mean 'cpu:0'?");
  place("--pin", "0=nowhere",
        "--pin: the topology has no device 'nowhere'; its devices are cpu:0, ");
  place("--pin", "99=cpu:0", "has no node '99'; expected a name, or an index below 6");
  fails({"place", add("cannot.json", R"({"format_version": 1, "name": "n", "kinds": ["cpu"],
      "nodes": [{"name": "a", "cost_us": [-1]}]})"),
         "-t", add("one.json", R"({"format_version": 1, "devices": [
      {"name": "cpu:0", "kind": "cpu"}]})")},
        3, "(cpu:0: kind cpu at a negative cost_us); expected a cost_us of 0 or more");
  const std::string named = add("named.json", R"({"format_version": 1, "name": "n", "nodes": [
    {"name": "conv1", "op": "Conv", "cost_us": [1], "outputs": [1]}], "edges": []})");
  fails({"place", named, "-t", topology, "--pin", "cnv1=0"}, 2,
        "error: --pin: the graph has no node 'cnv1', did you mean 'conv1'?");
  fails({"place", graph, "-t", topology, "--engine", "onnxruntme"}, 3,
        "onnxruntme: no such file, and no built-in engine, did you mean 'onnxruntime'?");
  fails({"place", graph, "-t", "CPU+GPU"}, 3, ", did you mean 'cpu+gpu'?");
  fails({"place", graph, "-t", "2xk80.json"}, 3, ", did you mean '2xk80'?");
  fails({"inspect", "cpu+gp"}, 3, ", did you mean 'cpu+gpu'?");
  fails({"generate", "inceptoin_v3", "-o", "x.json"}, 2,
        "error: inceptoin_v3: no such workload, did you mean 'inception_v3'?");
  fails({"generate", "gpt2", "--size", "medum", "-o", "x.json"}, 2,
        "error: --size medum: gpt2 has the sizes small, medium, large, xl, did you mean 'medium'?");
  fails({"generate", "gpt2", "--batch", "99999999", "-o", "x.json"}, 2,
        "error: --batch 99999999: expected 1 to ");
  fails({"generate", "gpt2", "--ccr", "50%", "-o", "x.json"}, 2,
        "error: --ccr: gpt2 takes no such option, expected only --batch");
  fails({"place", graph, "-t"}, 2, "error: -t: no value given, expected TOPOLOGY");
  fails({"place", graph, graph, "-t", topology}, 2, "place takes no further argument");
  fails({"place", graph, "-t", topology, "--policy", "none", "--policy", "none"}, 2,
        "--policy: given twice");
  fails({"--verion"}, 2, "did you mean '--version'?");
  fails({"help", "plaec"}, 2, "did you mean 'place'?");
}

TEST_CASE_FIXTURE(FailuresScene, "options that exclude each other are refused together") {
  for (const char* other : {"--budget-ms", "--budget-evals"}) {
    fails({"place", graph, "-t", topology, "--budget", "10", other, "10"}, 2,
          "error: --budget: does not go with --budget-");
  }
  fails({"generate", "--list", "-o", "x.json"}, 2, "--list: does not go with --output");
  fails({"generate", "gpt2", "--list"}, 2, "--list: does not go with WORKLOAD");
}

TEST_CASE_FIXTURE(FailuresScene, "numbers that are not plain numbers are bad usage") {
  const auto place = [this](const char* option, const char* value) {
    fails({"place", graph, "-t", topology, option, value, "-o", "out.json"}, 2, option);
  };
  for (const char* value : {"nan", "inf", "-1", "1e999", "", "1x", "0x10", " 1"}) {
    place("--budget-ms", value);
    place("--memory-headroom", value);
  }
  for (const char* value : {"nan", "-1", "1.5", "1e-3", "99999999999999999999", "", "0x10", "+1"}) {
    place("--budget-evals", value);
    place("--seed", value);
    place("--passes", value);
    fails({"generate", "layered", "--nodes", value, "-o", "x.json"}, 2, "--nodes");
  }
  for (const char* value : {"0", "2000001", "5M", "99999999999999999999"}) {
    fails({"generate", "layered", "--nodes", value, "-o", "x.json"}, 2, "1 to 2000000");
  }
  place("--passes", "0");
  place("--passes", "100001");  // as in C
  place("--memory-headroom", "1");
  fails({"generate", "layered", "--ccr", "nan", "-o", "x.json"}, 2, "--ccr");
}

TEST_CASE_FIXTURE(FailuresScene,
                  "an empty argument, as of an unset variable of a shell, is bad usage") {
  fails({"place", graph, "-t", topology, "-o", ""}, 2, "the argument after '-o' is empty");
  fails({"place", graph, "-t", "", "-o", "out.json"}, 2, "the argument after '-t' is empty");
  fails({"place", graph, "--topology=", "-o", "out.json"}, 2, "'--topology=' is empty");
  fails({"simulate", graph, "-t", topology, "--placement", ""}, 2, "'--placement'");
  fails({"inspect", ""}, 2, "the argument after 'inspect' is empty");
  fails({""}, 2, "is empty");
}

TEST_CASE_FIXTURE(FailuresScene, "an output that is also an input is bad usage") {
  const auto refused = [this](const std::vector<std::string>& arguments) {
    fails(arguments, 2, "is an input and would be overwritten");
    CHECK(read("graph.json") == small_graph());
    CHECK(read("topology.json") == small_topology());
  };
  refused({"place", graph, "-t", topology, "-o", "./graph.json"});
  refused({"place", graph, "-t", topology, "--report", "topology.json"});
  refused({"place", graph, "-t", topology, "--policy", "p.plpo", "-o", "p.plpo"});
  refused({"simulate", graph, "-t", topology, "-p", "p.json", "--trace", "p.json"});
  refused({"report", "p.json", "q.json", "-g", graph, "-t", topology, "-o", "q.json"});
  refused({"export", "p.json", "--graph", graph, "--format", "dot", "-o", graph});
  refused({"import", "model.onnx", "-o", "model.onnx"});
  for (const char* output : {"-o", "--report", "--trace"}) {
    const auto place = [&](std::vector<std::string> options, const char* file) {
      options.insert(options.begin(), {"place", graph, "-t", topology, output, file});
      refused(options);
    };
    place({"--costs", "c.csv"}, "c.csv");
    place({"--profile", "gpu=p.json"}, "p.json");
    place({"--efficiencies", "e.json"}, "./e.json");
    place({"--engine", "engine.json"}, "engine.json");
  }
  refused(
      {"simulate", graph, "-t", topology, "-p", "p.json", "--costs", "c.csv", "--trace", "c.csv"});
  refused({"run", "net.stages", "--input", "x=x.npy", "--report", "x.npy"});
  refused({"calibrate", graph, "--kind", "gpu", "-o", graph});
  CHECK(run({"convert", graph, graph, "--to", "binary"}).status == 0);  // says the same thing
}

TEST_CASE_FIXTURE(FailuresScene, "an output that is an input by another name is bad usage") {
  const char* const refused = "is an input and would be overwritten";
  std::filesystem::create_symlink("graph.json", path("link.json"));
  before = files();
  fails({"place", graph, "-t", topology, "-o", "link.json"}, 2, refused);
  add("2xk80", small_topology());  // a file goes before what is built in
  fails({"place", graph, "-t", "2xk80", "-o", "2xk80"}, 2, refused);
  add("mine.json", R"({"format_version": 1, "name": "mine"})");
  const std::string placed = add("placed.json", R"({"format_version": 1, "devices": ["gpu:0"],
      "assignment": [0, 0, 0, 0, 0, 0], "engine": "mine.json"})");
  fails({"simulate", graph, "-t", topology, "-p", placed, "--trace", "mine.json"}, 2, refused);
  CHECK(read("graph.json") == small_graph());
  CHECK(run({"place", graph, "-t", "4xk80", "-o", "4xk80"}).status == 0);
}

TEST_CASE_FIXTURE(FailuresScene, "an output by way of a link is written where the link leads") {
  std::filesystem::create_symlink("real.json", path("link.json"));
  before = files();
  fails({"place", graph, "-t", topology, "-o", "link.json", "--trace", "real.json"}, 2,
        "two outputs");
  CHECK(run({"convert", graph, "link.json"}).status == 0);
  CHECK(std::filesystem::is_symlink(path("link.json")));
  CHECK(read("real.json").find("\"small\"") != std::string::npos);
}

TEST_CASE_FIXTURE(FailuresScene, "of several outputs none is written if one cannot be") {
  const std::string placed = add("placed.json", R"({"format_version": 1, "devices": ["gpu:0"],
      "assignment": [0, 0, 0, 0, 0, 0]})");
  const auto writes_none = [this](const std::vector<std::string>& arguments) {
    const Run result = run(arguments);
    CHECK(result.status == 4);
    CHECK_MESSAGE(result.err.find("cannot write") != std::string::npos, result.err);
    CHECK(files() == before);
  };
  writes_none({"place", graph, "-t", topology, "-o", "q.json", "--trace", "/dev/full"});
  writes_none({"place", graph, "-t", topology, "-o", "q.json", "--report", "/dev/full"});
  writes_none({"place", graph, "-t", topology, "--report", "r.html", "--trace", "/dev/full"});
  writes_none({"simulate", graph, "-t", topology, "-p", placed, "--report", "r.html", "--trace",
               "/dev/full"});
  limit_files(8192);  // a page is longer, a placement is not
  writes_none({"place", graph, "-t", topology, "-o", "q.json", "--report", "r.html"});
}

TEST_CASE_FIXTURE(FailuresScene, "rules about unknown nodes and devices are bad usage") {
  const auto place = [this](const char* option, const char* value, const char* text) {
    fails({"place", graph, "-t", topology, option, value}, 2, text);
  };
  place("--pin", "b", "NODE=DEVICE");
  place("--pin", "zz=gpu:0", "no node 'zz'");
  place("--pin", "b=tpu:0", "no device 'tpu:0'");
  place("--pin", "6=gpu:0", "no node '6'");
  place("--forbid", "b=2", "no device '2'");
  place("--colocate", "a,zz", "no node 'zz'");
  place("--colocate", "a,", "no node ''");
  place("--pin", "op:Frobnicate=gpu:0", "no node that matches 'op:Frobnicate'");
  place("--forbid", "z*=gpu:0", "no node that matches 'z*'");
  place("--colocate", "a,op:", "no node that matches 'op:'");
}

TEST_CASE_FIXTURE(FailuresScene,
                  "no feasible placement ends with status 1 and says what is missing") {
  const std::string tight = add("tight.json", small_topology(6000));
  fails({"place", graph, "-t", tight, "-o", "out.json", "--json"}, 1, "KiB on");
  fails({"place", graph, "-t", tight, "--method", "heft", "--report", "t.html"}, 1, "KiB on");
  const std::string one = add("one.json", R"({"format_version": 1, "devices": [
      {"name": "gpu:0", "kind": "gpu", "memory_bytes": 9000}]})");
  fails({"place", graph, "-t", one}, 1, "gpu:0");
  fails({"place", graph, "-t", topology, "--pin", "b=gpu:0", "--forbid", "b=gpu:0"}, 1,
        "no feasible placement");
  fails({"place", graph, "-t", topology, "--pin", "a=gpu:0", "--pin", "f=gpu:1"}, 1,
        "'a' is pinned to 'gpu:0', and elsewhere nodes[");
}

TEST_CASE_FIXTURE(FailuresScene, "rules that exclude each other are named as they were given") {
  fails({"place", graph, "-t", topology, "--pin", "b=gpu:0", "--pin", "1=gpu:1"}, 1,
        "--pin 'b=gpu:0' and --pin '1=gpu:1' exclude each other for node 1 'b'");
  fails({"place", graph, "-t", topology, "--pin", "b=gpu:0", "--forbid", "op:Conv=gpu:0"}, 1,
        "--pin 'b=gpu:0' and --forbid 'op:Conv=gpu:0' exclude each other");
}

TEST_CASE_FIXTURE(FailuresScene, "what is wrong itself is said before what is missing") {
  fails({"generate", "nosuchworkload"}, 2, "no such workload");
  fails({"generate", "gpt2", "--size", "xxxl"}, 2, "--size xxxl");
  fails({"calibrate", graph, "-t", "8xk8", "--kind", "gpu", "-o", path("x.json")}, 3, "'8xk80'");
  const Run refused = run({"place", "--json=1"});
  CHECK(refused.status == 2);
  CHECK(nlohmann::json::parse(refused.out)["exit_status"] == 2);
}

TEST_CASE_FIXTURE(FailuresScene, "names that are nearly right are met with the right one") {
  fails({"place", graph, "-t", topology, "--policy", "defualt"}, 3, "did you mean 'default'?");
  fails({"convert", "2xk8", path("x.json")}, 3, "did you mean '2xk80'?");
  fails({"version"}, 2, "did you mean '--version'?");
  fails({"help", "place", "extra"}, 2, "'extra'");
}

TEST_CASE_FIXTURE(FailuresScene, "half an evaluation is no budget") {
  fails({"place", graph, "-t", topology, "--budget", "0.5"}, 2, "'0.5'");
  fails({"place", graph, "-t", topology, "--budget-evals", "0.5"}, 2, "'0.5'");
}

TEST_CASE_FIXTURE(FailuresScene, "files that cannot be used end with status 3 and are named") {
  const auto bad = [this](const std::string& file, const std::string& text) {
    fails({"place", file, "-t", topology, "-o", "out.json"}, 3, text);
    fails({"inspect", file, "--json"}, 3, file);
    fails({"convert", file, "out.json"}, 3, file);
  };
  bad(path("missing.json"), "missing.json");
  bad(path("."), path("."));
  bad(add("empty.json", ""), "empty.json");
  bad(add("spaces.json", "  \n"), "spaces.json");
  bad(add("garbage.json", std::string("\x00\x01\xff\xfePLxx garbage", 16)), "garbage.json");
  bad(add("magic.plg", std::string("\x10\x00\x00\x00PLGR\xff\xff\xff\xff\xff\xff\xff\xff", 16)),
      "magic.plg");
  bad(add("half.json", small_graph().substr(0, 200)), "half.json");
  bad(add("cycle.json", replaced(small_graph(), R"({"target": 2})",
                                 R"({"source": 5, "output": 4294967295, "target": 1})")),
      "cycle");
  bad(add("field.json", replaced(small_graph(), "\"op\": \"Add\"", "\"oops\": \"Add\"")), "oops");
  bad(add("version.json",
          replaced(small_graph(), "\"format_version\": 1", "\"format_version\": 2")),
      "format_version");
  bad(add("nan.json", replaced(small_graph(), "50.25", "NaN")), "nan.json");
  bad(add("infinite.json", replaced(small_graph(), "50.25", "1e999")), "infinite.json");
  bad(add("range.json", replaced(small_graph(), R"("source": 4)", R"("source": 40)")), "40");
}

TEST_CASE_FIXTURE(FailuresScene, "files of the wrong kind are refused") {
  fails({"place", topology, "-t", topology}, 3, "topology.json");
  fails({"place", graph, "-t", graph}, 3, "graph.json");
  fails({"simulate", graph, "-t", topology, "-p", graph}, 3, "graph.json");
}

TEST_CASE_FIXTURE(FailuresScene, "placements that do not match are refused") {
  const auto bad = [this](const char* name, const std::string& text, const std::string& expected) {
    fails({"simulate", graph, "-t", topology, "-p", add(name, text), "--json"}, 3, expected);
  };
  bad("short.json", R"({"format_version": 1, "devices": ["gpu:0"], "assignment": [0, 0]})",
      "short.json");
  bad("device.json", R"({"format_version": 1, "devices": ["tpu"], "assignment": [0,0,0,0,0,0]})",
      "tpu");
  bad("index.json", R"({"format_version": 1, "devices": ["gpu:0"], "assignment": [0,0,9,0,0,0]})",
      "9");
}

TEST_CASE_FIXTURE(FailuresScene,
                  "a placement on a device that cannot run a node is not simulated") {
  const std::string picky = add("picky.json", R"({"format_version": 1, "kinds": ["gpu", "cpu"],
      "nodes": [{"name": "anywhere", "cost_us": [1, 2]}, {"name": "host only",
      "cost_us": [-1, 5]}]})");
  const std::string mixed =
      add("mixed.json",
          replaced(small_topology(), R"("gpu:1", "kind": "gpu")", R"("cpu:0", "kind": "cpu")"));
  const std::string wrong = add("wrong.json", R"({"format_version": 1,
      "devices": ["gpu:0", "cpu:0"], "assignment": [1, 0]})");
  fails({"simulate", picky, "-t", mixed, "-p", wrong, "--json"}, 1, "'host only'");
}

TEST_CASE_FIXTURE(FailuresScene,
                  "outputs that cannot be written end with status 4, before any work") {
  for (const char* option : {"-o", "--report", "--trace"}) {
    fails({"place", graph, "-t", topology, option, "no/such/dir/out"}, 4, "no/such/dir/out");
    fails({"place", graph, "-t", topology, option, "."}, 4, "directory");
    const Run full = run({"place", graph, "-t", topology, option, "/dev/full"});  // known late
    CHECK(full.status == 4);
    CHECK_MESSAGE(full.err.find("cannot write to /dev/full") != std::string::npos, full.err);
    CHECK(run({"place", graph, "-t", topology, option, "/dev/null"}).status == 0);
  }
  CHECK(files() == before);
  fails({"generate", "layered", "-o", "no/such/dir/out"}, 4, "no/such/dir/out");
  fails({"convert", graph, "no/such/dir/out"}, 4, "no/such/dir/out");
  fails({"convert", graph, topology + "/out"}, 4, "topology.json is not a directory");
  fails({"place", graph, "-t", topology, "-o", "x.json", "--trace", "./x.json"}, 2, "two outputs");
}

TEST_CASE_FIXTURE(FailuresScene,
                  "an output that cannot be written leaves one JSON object: the error") {
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"place", graph, "-t", topology, "-o", "/dev/full"},
           {"place", graph, "-t", topology, "--trace", "/dev/full"},
           {"generate", "layered", "-o", "/dev/full"},
           {"convert", graph, "/dev/full"},
           {"detect", "-o", "/dev/full"}}) {
    std::vector<std::string> line = command;
    line.emplace_back("--json");
    CAPTURE(line[0]);
    const Run result = run(line);
    CHECK(result.status == 4);
    const json said = json::parse(result.out, nullptr, false);
    REQUIRE_MESSAGE(!said.is_discarded(), result.out);
    CHECK(said.at("error").get<std::string>().find("/dev/full") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(FailuresScene, "standard output takes one output, and no JSON beside it") {
  const char* const taken = "--json: standard output is taken";
  fails({"convert", graph, "-", "--json"}, 2, taken);
  fails({"place", graph, "-t", topology, "-o", "-", "--json"}, 2, taken);
  fails({"generate", "layered", "-o", "-", "--json"}, 2, taken);
  fails({"keygen", "-"}, 2, "-: expected a name");
}

TEST_CASE_FIXTURE(FailuresScene, "a file that may not grow as large as it has to is not written") {
  limit_files(4096);
  const Run result = run({"generate", "layered", "--nodes", "1000", "-o", "large.graph"});
  CHECK(result.status == 4);
  CHECK(result.out == "");  // nothing says that it is there
  CHECK_MESSAGE(result.err.find("large.graph: cannot write") != std::string::npos, result.err);
  CHECK(files() == before);
}

TEST_CASE_FIXTURE(FailuresScene, "a failure leaves the file that was there as it was") {
  const std::string tight = add("tight.json", small_topology(6000));
  const std::string kept = add("out.json", "precious");
  fails({"place", graph, "-t", tight, "-o", kept}, 1, "KiB on");
  fails({"convert", path("missing"), kept}, 3, "missing");
  fails({"generate", "layered", "--nodes", "0", "-o", kept}, 2, "--nodes");
  CHECK(read("out.json") == "precious");
}

TEST_CASE_FIXTURE(FailuresScene, "output that gets lost is an error, and then no file is written") {
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"place", graph, "-t", topology, "-o", "out.json", "--json"},
           {"inspect", graph},
           {"generate", "layered", "--nodes", "10", "-o", "out.json"},
           {"convert", graph, "out.plg", "--json"},
           {"--help"},
           {"generate", "--list"}}) {
    const Run result = run(command, "/dev/full");
    CHECK(result.status == 4);
    CHECK(result.err.find("standard output") != std::string::npos);
  }
  CHECK(files() == before);
}
