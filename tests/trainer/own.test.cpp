#include "trainer/data/own.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include "runtime/graph/text.h"
#include "runtime/placer/placer.h"
#include "tests/trainer/support.h"
#include "tools/io/read.h"
#include "tools/io/write.h"
#include "tools/workloads/workload.h"
#include "trainer/algorithms/make_algorithm.h"
#include "trainer/base/files.h"
#include "trainer/data/families.h"
#include "trainer/data/source.h"
#include "trainer/data/test_sets.h"
#include "trainer/train/export.h"
#include "trainer/train/train.h"

using namespace placeto;
using namespace placeto::train;

namespace {

// Five graphs, one of them JSON, and two machines.
struct Files : test::TemporaryFolder {
  Files() {
    for (uint64_t i = 0; i < 5; ++i) {
      WorkloadOptions options;
      options.nodes = 20 + static_cast<uint32_t>(i);
      options.seed = 1 + i;
      const GraphSpec graph = *generate("layered", options);
      const std::string name = "net" + std::to_string(i) + (i == 4 ? ".json" : ".graph");
      REQUIRE(write_graph(file(name), graph).ok());
    }
    for (const uint32_t devices : {2u, 3u}) {
      const std::string name = "box" + std::to_string(devices) + ".topology";
      REQUIRE(write_topology(file(name), k80_topology(devices)).ok());
    }
  }
  std::vector<std::string> graphs() const { return {file("net*.graph"), file("net4.json")}; }
  std::vector<std::string> boxes() const { return {file("box*")}; }
  // Trains a small policy on them.
  Config config() const {
    Config c = test::small_config();
    c.data.graphs = graphs();
    c.data.topologies = boxes();
    return c;
  }
};

std::set<std::string> paths_of(const OwnProblems& problems) {
  std::set<std::string> paths;
  for (const OwnProblems::File& f : problems.graphs) paths.insert(f.path);
  return paths;
}

}  // namespace

TEST_CASE_FIXTURE(Files,
                  "patterns name graphs and topologies of either form, each pair a problem") {
  const Result<OwnProblems> own = read_own_problems(graphs(), boxes());
  REQUIRE_MESSAGE(own.ok(), own.status().message());
  CHECK(own->graphs.size() == 5);
  REQUIRE(own->count() == 10);
  CHECK(own->problem(0).problem->device_count() == 2);
  CHECK(own->problem(1).problem->device_count() == 3);
  CHECK(own->problem(9).family == "net4");
  CHECK(own->problem(9).problem->node_count() == 24);
}

TEST_CASE_FIXTURE(Files, "built-in topologies are found by name") {
  const Result<OwnProblems> own = read_own_problems({graphs()[0]}, {"2xk80"});
  REQUIRE_MESSAGE(own.ok(), own.status().message());
  CHECK(own->topologies[0].devices.size() == 2);
  CHECK(own_config_text({graphs()[0]}, {"2xk80"}).find("[\"2xk80\"]") != std::string::npos);
}

TEST_CASE_FIXTURE(Files, "a file that is missing or no graph is named") {
  const auto message = [&](const std::string& graph, const std::string& topology) {
    const Result<OwnProblems> own = read_own_problems({graph}, {topology});
    REQUIRE(!own.ok());
    CHECK(own.status().code() == StatusCode::kBadInput);
    return own.status().message();
  };
  CHECK(message(file("absent*.graph"), boxes()[0]).find("absent*.graph") != std::string::npos);
  CHECK(message(file("box2.topology"), boxes()[0]).find("box2.topology") != std::string::npos);
  CHECK(message(graphs()[0], file("net4.json")).find("net4.json") != std::string::npos);
}

TEST_CASE_FIXTURE(Files, "a name with brackets is a file's before it is a pattern") {
  std::filesystem::copy_file(file("net0.graph"), file("net[1].graph"));
  const Result<OwnProblems> own = read_own_problems({file("net[1].graph")}, boxes());
  REQUIRE_MESSAGE(own.ok(), own.status().message());
  CHECK(paths_of(*own) == std::set<std::string>{file("net[1].graph")});
}

TEST_CASE_FIXTURE(Files, "what nothing can be learned on is named before training") {
  const auto fails = [&](const TopologySpec& topology, const std::string& text) {
    REQUIRE(write_topology(file("other.topology"), topology).ok());
    const auto own = read_own_problems({graphs()[0]}, {boxes()[0], file("other.topology")});
    CHECK(own.status().code() == StatusCode::kBadInput);
    CHECK_MESSAGE(own.status().message().find(text) != std::string::npos, own.status().message());
  };
  fails(k80_topology(1), "other.topology: one device, expected two or more");
  TopologySpec tiny = k80_topology(2);
  for (DeviceSpec& device : tiny.devices) device.memory_bytes = 1000;
  fails(tiny, "other.topology: no placement fits in memory");
}

TEST_CASE_FIXTURE(Files, "a split holds out whole graphs, the same for the same seed, never all") {
  const OwnProblems all = *read_own_problems(graphs(), boxes());
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const OwnSplit split = split_by_graph(all, 0.4, seed);
    CHECK(split.held_out.graphs.size() == 2);
    std::set<std::string> paths = paths_of(split.train);
    CHECK(paths.size() == 3);
    paths.merge(paths_of(split.held_out));
    CHECK(paths == paths_of(all));
    CHECK(paths_of(split_by_graph(all, 0.4, seed).held_out) == paths_of(split.held_out));
  }
  CHECK(split_by_graph(all, 0.01, 1).held_out.graphs.size() == 1);
  CHECK(split_by_graph(all, 0.9, 1).train.graphs.size() == 1);
  CHECK(split_by_graph(all, 0, 1).held_out.graphs.empty());
}

TEST_CASE_FIXTURE(Files,
                  "a copy of a graph or topology counts once, under whatever name and form") {
  const GraphSpec graph = *read_graph_spec(file("net0.graph"), {});
  GraphSpec renamed = graph;
  renamed.name = "another";
  REQUIRE(write_graph(file("net0.json"), graph).ok());
  REQUIRE(write_graph(file("zoo.graph"), renamed).ok());
  Config c = config();
  c.data.graphs = {file("net*"), file("zoo.graph")};
  c.data.topologies = {file("box2.topology"), file("./box2.topology"), file("box3.topology")};
  const Result<ProblemSource> source = ProblemSource::open(c);
  REQUIRE_MESSAGE(source.ok(), source.status().message());
  const OwnSplit& split = *source->own();
  CHECK(split.train.topologies.size() == 2);
  CHECK(split.train.graphs.size() + split.held_out.graphs.size() == 5);
  const std::string text = source->describe();
  for (const char* copy : {"net0.json", "zoo.graph"}) {
    const std::string line = "\n" + file(copy) + " equals " + file("net0.graph");
    CHECK_MESSAGE(text.find(line + ": counted once") != std::string::npos, text);
  }
  CHECK_MESSAGE(text.find("box2.topology equals ") != std::string::npos, text);
  const Result<TestSet> set = own_test_set(c.data.graphs, c.data.topologies);
  REQUIRE(set.ok());
  CHECK(set->problems.size() == 10);
  CHECK(set->notes.size() == 3);
}

TEST_CASE_FIXTURE(Files, "both architectures train on files, and say what they hold out") {
  for (const bool published : {false, true}) {
    Config c = config();
    if (published) {
      const Config small = test::small_placeto_config("siblings");
      c.algorithm = small.algorithm;
      c.architecture = small.architecture;
      c.placeto = small.placeto;
      c.episodes = small.episodes;
      c.data.topologies = {file("box2.topology")};
    }
    c.iterations = 1;
    RunFolder folder(file(published ? "published" : "pairwise"));
    REQUIRE(folder.create("").ok());
    std::string notes;
    TrainOptions options;
    options.on_note = [&](const std::string& note) { notes += note; };
    const Status status = train::train(c, "", make_algorithm, folder, false, options);
    REQUIRE_MESSAGE(status.ok(), status.message());
    CHECK_MESSAGE(
        notes.find(published ? "5 graphs on 1 topology; 4 learned from, 1 held out: net"
                             : "5 graphs on 2 topologies; 4 learned from, 1 held out: net") !=
            std::string::npos,
        notes);
    const auto exported = export_run(c, "", make_algorithm, folder);
    REQUIRE(exported.ok());
    const std::string from = (*load_exported(*exported))->provenance().workloads.at(0);
    CHECK(from.starts_with("own graphs: net"));
    CHECK(from.find('/') == std::string::npos);
  }
  Config wrong = test::small_placeto_config("siblings");
  wrong.data.graphs = graphs();
  wrong.data.topologies = boxes();
  RunFolder folder(file("wrong"));
  REQUIRE(folder.create("").ok());
  CHECK(train::train(wrong, "", make_algorithm, folder, false, {})
            .message()
            .find("3 devices, expected 2") != std::string::npos);
}

TEST_CASE_FIXTURE(Files, "a configuration for one's own files begins with the policy that ships") {
  const std::string text = own_config_text(graphs(), boxes());
  const Result<Config> c = parse_config(text, "own");
  REQUIRE_MESSAGE(c.ok(), c.status().message());
  CHECK(c->data.graphs == graphs());
  CHECK(c->learn.start == "default");
  Config once = *c;
  once.iterations = 1;
  once.collect.problems = 2;
  once.learn.steps = 1;
  RunFolder folder(file("run"));
  REQUIRE(folder.create(text).ok());
  const Status status = train::train(once, text, make_algorithm, folder, false, {});
  REQUIRE_MESSAGE(status.ok(), status.message());
  const auto latest = export_run(once, text, make_algorithm, folder);
  REQUIRE(latest.ok());
  for (const std::string& bytes :
       {*read_text(folder.file("best.plpo")), std::string(latest->begin(), latest->end())}) {
    CHECK(bytes.find("net*.graph") != std::string::npos);
    CHECK(bytes.find(file("")) == std::string::npos);
  }
}

TEST_CASE_FIXTURE(Files,
                  "leaps bring what a long search found to one's own graphs, without a search") {
  Config c = test::small_leaps_config();
  c.data.graphs = graphs();
  c.data.topologies = {file("box3.topology")};
  c.data.held_out_share = 0;
  c.iterations = 25;
  c.collect.problems = 5;
  c.collect.expert_evaluations = 5'000;
  c.learn.embedding = 16;
  c.learn.leap = 32;
  c.learn.graph_hidden = {16};
  c.learn.states = 5;
  c.learn.decisions = 500;
  c.learn.steps = 60;
  c.check.every = 5;
  RunFolder folder(file("run"));
  REQUIRE(folder.create("").ok());
  const Status status = train::train(c, "", make_algorithm, folder, false, {});
  REQUIRE_MESSAGE(status.ok(), status.message());
  const auto policy = *load_exported(as_bytes(*read_text(folder.file("best.plpo"))));
  REQUIRE(policy->leap() != nullptr);
  const Result<ProblemSource> source = ProblemSource::open(c);
  REQUIRE(source.ok());
  double without = 0, with = 0, searched = 0;  // logarithms of makespans
  for (uint32_t i = 0; i < source->own()->train.count(); ++i) {
    const Instance instance = source->own()->train.problem(i);
    const auto log_us = [&](uint64_t evaluations, const Policy* by) {
      MethodOptions options;
      options.budget.evaluations = evaluations;
      return std::log(
          place_auto(*instance.problem, options, {.policy = by})->best.score.objective_us);
    };
    without += log_us(0, nullptr);
    with += log_us(0, policy.get());
    searched += log_us(c.collect.expert_evaluations, nullptr);
  }
  REQUIRE(searched < without);
  MESSAGE("of what the search gained: ", (without - with) / (without - searched));
  CHECK(without - with > 0.5 * (without - searched));
}

TEST_CASE_FIXTURE(Files, "a placeto run under staged execution says what its stages are") {
  for (const bool staged : {true, false}) {
    TopologySpec machine = k80_topology(2);
    if (staged) machine.execution = Execution::kStaged;
    REQUIRE(write_topology(file("machine"), machine).ok());
    Config c = test::small_placeto_config("reinforce");
    c.data.graphs = graphs();
    c.data.topologies = {file("machine")};
    c.iterations = 1;
    RunFolder folder(file(staged ? "staged" : "parallel"));
    REQUIRE(folder.create("").ok());
    std::string notes;
    TrainOptions options;
    options.on_note = [&](const std::string& note) { notes += note; };
    REQUIRE(train::train(c, "", make_algorithm, folder, false, options).ok());
    CHECK((notes.find("whose stages are made by rule") != std::string::npos) == staged);
  }
}

// `place` divides into stages at its end; what it is checked by has to do so, too.
TEST_CASE_FIXTURE(Files, "under staged execution checks are of what place does with the policy") {
  TopologySpec machine = k80_topology(3);
  machine.execution = Execution::kStaged;
  for (DeviceSpec& device : machine.devices) device.stage_us = device.cut_us = 20;
  REQUIRE(write_topology(file("staged.topology"), machine).ok());
  Config c = config();
  c.data.topologies = {file("staged.topology")};
  c.iterations = 1;
  RunFolder folder(file("run"));
  REQUIRE(folder.create("").ok());
  REQUIRE(train::train(c, "", make_algorithm, folder, false, {}).ok());
  const Result<std::string> bytes = read_text(folder.file("best.plpo"));
  REQUIRE(bytes.ok());
  const auto policy = *load_exported(as_bytes(*bytes));
  const Result<ProblemSource> source = ProblemSource::open(c);
  REQUIRE(source.ok());
  const auto log_mean = [&](uint64_t evaluations) {
    double sum = 0;
    for (uint32_t i = 0; i < source->held_out_count(); ++i) {
      const Instance instance = source->held_out(i);
      MethodOptions options;
      const double alone = place_auto(*instance.problem, options)->best.score.objective_us;
      options.budget.evaluations = evaluations;
      const auto placed = place_auto(*instance.problem, options, {.policy = policy.get()});
      sum += std::log(placed->best.score.objective_us / alone);
    }
    return sum / source->held_out_count();
  };
  const auto metrics = nlohmann::json::parse(*read_text(folder.file("metrics.jsonl")));
  CHECK(metrics["checked_greedy"].get<double>() == doctest::Approx(log_mean(0)));
  CHECK(metrics["checked_searched"].get<double>() == doctest::Approx(log_mean(300)));
}

TEST_CASE_FIXTURE(Files, "a run continues with the graphs that it began with, and no others") {
  Config c = config();
  c.iterations = 1;
  RunFolder folder(file("run"));
  REQUIRE(folder.create("").ok());
  REQUIRE(train::train(c, "", make_algorithm, folder, false, {}).ok());
  c.iterations = 2;
  const auto refused = [&](const std::string& text) {
    const Status status = train::train(c, "", make_algorithm, folder, true, {});
    CHECK(status.code() == StatusCode::kBadInput);
    CHECK_MESSAGE(
        status.message().find(folder.file("data.txt") + ": the run began with other") == 0,
        status.message());
    CHECK_MESSAGE(status.message().find(text) != std::string::npos, status.message());
  };
  std::filesystem::rename(file("net4.json"), file("other.json"));
  c.data.graphs = {file("net*.graph"), file("other.json")};
  refused(": graph net4.json is gone, graph other.json is new; expected");
  std::filesystem::rename(file("other.json"), file("net4.json"));
  c.data.graphs = graphs();
  c.data.topologies = {file("box2.topology")};
  refused(": topology ");
  refused(" is gone; expected");
  c.data.topologies = boxes();
  // Which are held out depends on how many there are, which is not what the user has done.
  std::filesystem::copy_file(file("net0.graph"), file("kept"));
  WorkloadOptions more;
  more.nodes = 31;
  REQUIRE(write_graph(file("net9.graph"), *generate("layered", more)).ok());
  refused(": graph net9.graph is new; expected");
  std::filesystem::rename(file("net9.graph"), file("net0.graph"));
  refused(": graph net0.graph has changed; expected");
  std::filesystem::rename(file("kept"), file("net0.graph"));
  const Status status = train::train(c, "", make_algorithm, folder, true, {});
  CHECK_MESSAGE(status.ok(), status.message());
}

TEST_CASE_FIXTURE(Files, "graphs that are too large to train on are refused, by the file's name") {
  GraphSpec large;
  large.nodes.resize(kMostOwnNodes + 1);
  REQUIRE(write_graph(file("large.graph"), large).ok());
  const Status alone = read_own_problems({file("large.graph")}, boxes()).status();
  CHECK(alone.code() == StatusCode::kBadInput);
  CHECK(alone.message() ==
        file("large.graph") + ": nodes: 100001 entries, expected at most 100000");
  large.nodes.pop_back();
  std::vector<std::string> many;
  for (uint64_t i = 0; i <= kMostOwnNodesTogether / kMostOwnNodes; ++i) {
    many.push_back(file("part" + std::to_string(i) + ".graph"));
    large.nodes[0].name = many.back();  // copies count once
    REQUIRE(write_graph(many.back(), large).ok());
  }
  const Status together = read_own_problems(many, {file("box2.topology")}).status();
  CHECK_MESSAGE(
      together.message().find("1100000 nodes, expected at most 1000000") != std::string::npos,
      together.message());
}

TEST_CASE_FIXTURE(Files, "a signal while graphs are read ends that, with nothing begun") {
  const std::atomic<bool> stop{true};
  CHECK(read_own_problems(graphs(), boxes(), &stop).status().code() == StatusCode::kStopped);
  Config c = config();
  RunFolder folder(file("run"));
  REQUIRE(folder.create("").ok());
  TrainOptions options;
  options.stop = &stop;
  CHECK(train::train(c, "", make_algorithm, folder, false, options).code() == StatusCode::kStopped);
  Config published = test::small_placeto_config("siblings");
  CHECK(train::train(published, "", make_algorithm, folder, false, options).code() ==
        StatusCode::kStopped);
}

// Ratios of times are what is learned from, and here all of them are 0.
TEST_CASE_FIXTURE(Files, "graphs that take no time make finite policies and metrics") {
  GraphSpec idle = *generate("layered", WorkloadOptions());
  idle.kinds.clear();
  for (NodeSpec& node : idle.nodes) {
    node.cost_us = {0};
    for (uint64_t& bytes : node.outputs) bytes = 0;
  }
  REQUIRE(write_graph(file("idle.graph"), idle).ok());
  TopologySpec pair = k80_topology(2);
  pair.default_link.gap_us = pair.op_gap_us = 0;
  REQUIRE(write_topology(file("idle.topology"), pair).ok());
  for (const std::string architecture : {"pairwise", "leaps", "reinforce", "siblings"}) {
    INFO(architecture);
    Config c = architecture == "pairwise" ? test::small_graph_config()
               : architecture == "leaps"  ? test::small_leaps_config()
                                          : test::small_placeto_config(architecture);
    c.data.graphs = {file("idle.graph")};
    c.data.topologies = {file("idle.topology")};
    c.check.every = 1;  // before there is one, its columns are empty
    RunFolder folder(file(architecture));
    REQUIRE(folder.create("").ok());
    const Status status = train::train(c, "", make_algorithm, folder, false, {});
    REQUIRE_MESSAGE(status.ok(), status.message());
    CHECK(export_run(c, "", make_algorithm, folder).ok());
    const std::string metrics = *read_text(folder.file("metrics.jsonl"));
    CHECK_MESSAGE(metrics.find("iteration") != std::string::npos, metrics);
    for (const char* none : {"nan", "inf", "null"}) {
      CHECK_MESSAGE(metrics.find(none) == std::string::npos, metrics);
    }
  }
}

TEST_CASE_FIXTURE(Files, "one's own files are a set to measure on") {
  const Result<TestSet> set = own_test_set(graphs(), boxes());
  REQUIRE(set.ok());
  CHECK(set->problems.size() == 10);
  CHECK(set->problems[3]().problem->device_count() == 3);
}
