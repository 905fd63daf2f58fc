#include "trainer/eval/evaluate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "runtime/cost/evaluator.h"
#include "runtime/heuristics/heuristics.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/guide.h"
#include "runtime/search/search.h"
#include "tests/support/random_problem.h"
#include "tools/io/shipped.h"
#include "tools/workloads/workload.h"
#include "trainer/data/families.h"
#include "trainer/data/merge.h"
#include "trainer/data/test_sets.h"
#include "trainer/eval/evaluate_report.h"
#include "trainer/eval/expert.h"
#include "trainer/eval/named_policy.h"
#include "trainer/eval/paper_table.h"
#include "trainer/pairwise/learner.h"
#include "trainer/train/export.h"

using namespace placeto;
using namespace placeto::train;

namespace {

std::shared_ptr<const Policy> untrained() {
  LearnConfig config;
  config.hidden = {8};
  Config all;
  all.learn = config;
  const Result<std::vector<uint8_t>> bytes =
      export_policy(PairwiseLearner(config, 1).policy(), all, "", 0);
  REQUIRE(bytes.ok());
  const auto policy = load_exported(*bytes);
  REQUIRE(policy.ok());
  return *policy;
}

const Way kAutoAlone{Approach::kAuto}, kPasses{Approach::kPolicy};

Way passes_of(const char* policy) {
  return {Approach::kPolicy, "", 0, policy};
}

std::shared_ptr<const Policy> shipped_policy() {
  const auto policy = load_exported(shipped::default_policy());
  REQUIRE(policy.ok());
  return *policy;
}

// A random graph that runs in stages, on a machine where stages and cuts have prices.
Instance staged_problem(uint64_t seed) {
  WorkloadOptions graph;
  graph.nodes = 40;
  graph.seed = seed;
  graph.ccr = 1;
  TopologySpec machine = k80_topology(4);
  machine.execution = Execution::kStaged;
  for (DeviceSpec& device : machine.devices) {
    device.stage_us = 20;
    device.cut_us = 5;
  }
  Result<Instance> made = make_instance("layered", *generate("layered", graph), machine);
  REQUIRE_MESSAGE(made.ok(), made.status().message());
  return std::move(*made);
}

double placed_us(const Problem& problem, uint64_t evaluations, const Policy* policy,
                 uint64_t seed = 1) {
  MethodOptions options;
  options.budget.evaluations = evaluations;
  options.seed = seed;
  const Result<PlaceResult> placed = place_auto(problem, options, {.policy = policy});
  REQUIRE(placed.ok());
  return placed->best.score.objective_us;
}

Graded made_up(const std::string& set, double a, double b) {
  Graded g;
  g.set = g.family = set;
  g.topology = "k80s";
  g.ccr = 1;
  g.outcomes = {
      {kAutoAlone, a, 1, 0}, {kPasses, b, 2, 10}, {{Approach::kSearch, "", 10}, a, 1, 10}};
  g.best_known_us = std::min(a, b);
  return g;
}

}  // namespace

TEST_CASE("every test set there is gives problems, the same each time") {
  TestSetOptions options;
  options.problems = options.large = 2;
  for (const char* name : {"mixed", "large", "devices-12", "devices-16", "ring", "bus", "tree",
                           "cifar10", "ptb-seen", "nmt-slow", "nmt-fast"}) {
    CAPTURE(name);
    const Result<TestSet> set = test_set(name, options);
    REQUIRE(set.ok());
    REQUIRE(set->problems.size() == 2);
    const Instance a = set->problems[1](), b = set->problems[1]();
    CHECK(a.problem->node_count() == b.problem->node_count());
    CHECK(a.problem->upward_rank()[0] == b.problem->upward_rank()[0]);
  }
  CHECK(test_set("nmt-ring", options).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE(
    "a run is measured on devices as it learned on, and on graphs that it did not learn from") {
  Config config;
  config.architecture = "placeto";
  config.data.set = "ptb";
  config.data.devices = 4;
  config.data.merged_nodes = 30;
  const TestSet ptb = unseen_by(config, 48);
  CHECK(ptb.name == "ptb");
  CHECK(ptb.problems.size() == kFamilyGraphs);
  const Instance first = ptb.problems[0]();
  CHECK(first.problem->device_count() == 4);
  CHECK(first.problem->node_count() <= 30);
  config.data.only = 17;  // the first of the unseen half
  const TestSet others = unseen_by(config, 48);
  CHECK(others.problems.size() == kFamilyGraphs - 1);
  const Instance second = ptb.problems[1](), now_first = others.problems[0]();
  CHECK(now_first.problem->upward_rank()[0] == second.problem->upward_rank()[0]);
  config.data.only = 0;
  config.data.set = "mixed";
  config.data.devices = 3;
  for (const auto& make : unseen_by(config, 6).problems) {
    CHECK(make().problem->device_count() == 3);
  }
  CHECK(unseen_by(Config{}, 6).problems.size() == 6);
}

TEST_CASE("wirings that training never has are what they are called") {
  TestSetOptions options;
  options.problems = 1;
  const Instance ring = test_set("ring", options)->problems[0]();
  CHECK(ring.topology->link(0, 3).bandwidth_bytes_per_us * 3 ==
        doctest::Approx(ring.topology->link(0, 1).bandwidth_bytes_per_us));
  CHECK(ring.topology->link(0, 5).bandwidth_bytes_per_us ==
        ring.topology->link(0, 1).bandwidth_bytes_per_us);
  const Instance bus = test_set("bus", options)->problems[0]();
  CHECK(bus.topology->spec().transfer == Transfer::kUnicast);  // a broadcast shares nothing
  CHECK(bus.topology->channel(0, 1) == bus.topology->channel(4, 2));
  const Instance tree = test_set("tree", options)->problems[0]();
  CHECK(tree.topology->channel(0, 2) == tree.topology->channel(1, 5));
  CHECK(tree.topology->channel(0, 2) != tree.topology->channel(2, 0));
  CHECK(test_set("devices-16", options)->problems[0]().problem->device_count() == 16);
}

TEST_CASE("the paper's table says how many placements were sampled, on each network") {
  const auto row = [](const char* network, uint64_t sampled, double us) {
    PaperRow made{.network = network, .devices = 2, .cpu_us = 9, .single_us = 4, .graded = {}};
    made.graded.outcomes = {{{Approach::kSampled, "trained", 2}, 4, 0, 2, 1},
                            {{Approach::kSampled, "trained", sampled}, us, 0, sampled, 7}};
    return made;
  };
  const std::vector<PaperRow> rows = {row("a", 480, 3000), row("b", 600, 2000)};
  const std::string table = paper_table(rows), csv = paper_csv(rows);
  CHECK_MESSAGE(table.find("trained 480 to 600") != std::string::npos, table);
  CHECK_MESSAGE(table.find("3.0 (750.00) after 7") != std::string::npos, table);
  CHECK_MESSAGE(csv.find("a,2,trained 480,3000,") != std::string::npos, csv);
  CHECK_MESSAGE(csv.find("b,2,trained 600,2000,") != std::string::npos, csv);
  CHECK(paper_table({rows.data(), 1}).find("trained 480 ") != std::string::npos);
}

TEST_CASE("all baselines are graded with the makespans that their placements have") {
  const Instance merged = family_problem("nmt", Half::kUnseen, 1, {.devices = 2, .groups = 24});
  EvaluateOptions options;
  options.budgets = {20};
  options.long_searches = 0;
  options.baselines = true;
  options.rnn_placements = options.hierarchical_placements = 20;
  options.trained_placements = 100;
  const auto policy = untrained();
  const auto graded = grade(merged, *policy, options);
  REQUIRE(graded);
  CHECK(graded->unfit.empty());
  const std::vector<std::string> expected = {"auto",
                                             "single",
                                             "heft",
                                             "etf",
                                             "iterate",
                                             "random",
                                             "expert",
                                             "anneal",
                                             "rnn 20",
                                             "policy",
                                             "hierarchical 20",
                                             "trained",
                                             "search 20",
                                             "policy + search 20"};
  size_t found = 0;
  for (const Outcome& o : graded->outcomes) {
    CAPTURE(o.way.label());
    // In whole iterations.
    const bool trained = o.way.method == "trained" && o.way.length >= options.trained_placements;
    const std::string label = trained ? "trained" : o.way.label();
    if (std::count(expected.begin(), expected.end(), label) == 0) continue;
    CHECK((!trained || o.evaluations == o.way.length));
    CHECK(std::isfinite(graded->ratio(o.way)));
    ++found;
  }
  CHECK(found == expected.size());
  CHECK(graded->makespan_us(kPasses) <= graded->makespan_us(kAutoAlone));
  // Placed once more, and simulated whole.
  const Problem& operators = *merged.merged->operators.problem;
  const auto simulated = [&](const Assignment& assignment) {
    return Evaluator(operators).timeline(assignment).makespan_us;
  };
  const auto place = [&](const Method& method, const MethodOptions& with) {
    CAPTURE(method.name());
    const Result<Candidate> placed = method.place(operators, with);
    REQUIRE(placed.ok());
    return simulated(placed->assignment);
  };
  for (const Method* method :
       {&single_method(), &heft_method(), &etf_method(), &iterate_method()}) {
    CHECK(graded->makespan_us({Approach::kHeuristic, std::string(method->name())}) ==
          doctest::Approx(place(*method, {})));
  }
  CHECK(graded->makespan_us({Approach::kBaseline, "random"}) ==
        doctest::Approx(place(random_method(), {})));
  CHECK(graded->makespan_us({Approach::kBaseline, "expert"}) ==
        doctest::Approx(place(expert_method(), {})));
  MethodOptions annealing;
  annealing.budget.evaluations = 20;
  CHECK(graded->makespan_us({Approach::kBaseline, "anneal", 0}) ==
        doctest::Approx(place(anneal_method(), annealing)));
  const MethodOptions by_default;
  Workbench bench(operators, by_default);
  const auto guide = make_policy_guide(*policy, bench, KernelChoice::kPortable);
  REQUIRE(guide.ok());
  const Candidate start = place_auto(operators, {})->best;
  CHECK(graded->makespan_us(kAutoAlone) == doctest::Approx(simulated(start.assignment)));
  const Candidate passes = (*guide)->place(start, {}, bench.move_evaluator());
  CHECK(graded->makespan_us(kPasses) == doctest::Approx(simulated(passes.assignment)));
}

TEST_CASE("all long searches can be annealings, which begin where the heuristics end") {
  const Instance problem = family_problem("nmt", Half::kUnseen, 1, {.devices = 2, .groups = 0});
  EvaluateOptions options;
  options.budgets = {};
  options.long_searches = 2;
  options.long_evaluations = 30;
  const auto last = [&](bool annealings) {
    options.annealings = annealings;
    const auto graded = grade(problem, *untrained(), options);
    REQUIRE(graded);
    return graded->outcomes.back();
  };
  const Outcome search = last(false), annealing = last(true);
  CHECK(search.way == Way{Approach::kLongSearch, "", 2});
  CHECK(search.evaluations > 30);  // those of the policy's passes, too
  CHECK(annealing.way == search.way);
  CHECK(annealing.evaluations == 30);
}

// Its last steps divide into stages, which passes and searches by themselves do not.
TEST_CASE("under staged execution every way of placing is all that place does") {
  EvaluateOptions options;
  options.budgets = {50, 200};
  options.long_evaluations = 300;
  const auto policy = shipped_policy();
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Instance instance = staged_problem(seed);
    const Problem& problem = *instance.problem;
    const auto graded = grade(instance, *policy, options);
    REQUIRE(graded);
    const auto us = [&](Approach approach, uint64_t length) {
      return graded->makespan_us({approach, "", length});
    };
    CHECK(us(Approach::kAuto, 0) == placed_us(problem, 0, nullptr));
    CHECK(us(Approach::kPolicy, 0) == placed_us(problem, 0, policy.get()));
    for (const uint64_t budget : options.budgets) {
      CHECK(us(Approach::kSearch, budget) == placed_us(problem, budget, nullptr));
      CHECK(us(Approach::kSearch, budget) <= us(Approach::kAuto, 0));
      CHECK(us(Approach::kPolicyThenSearch, budget) == placed_us(problem, budget, policy.get()));
      CHECK(us(Approach::kPolicyThenSearch, budget) <= us(Approach::kPolicy, 0));
    }
    CHECK(us(Approach::kLongSearch, 1) == placed_us(problem, 300, nullptr, 100));
    CHECK(us(Approach::kLongSearch, 2) == placed_us(problem, 300, policy.get(), 101));
  }
}

TEST_CASE("the expert gives each layer of a recurrent network a device of its own") {
  const Instance nmt = family_problem("nmt", Half::kSeen, 2, {.devices = 4, .groups = 0});
  const Result<Candidate> placed = expert_method().place(*nmt.problem, {});
  REQUIRE(placed.ok());
  CHECK(obeys_rules(*nmt.problem, placed->assignment));
  for (uint32_t v = 0; v < nmt.problem->node_count(); ++v) {
    const std::string& name = nmt.graph->node(v).name;
    if (name.starts_with("decoder/0/")) CHECK(placed->assignment[v] == 0);
    if (name.starts_with("decoder/1/")) {
      CHECK(placed->assignment[v] == 1);
    }
  }
}

TEST_CASE("the expert knows layers by the names of our workloads alone") {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"encoder/0/a", "encoder/4294967295/b"},
        {"encoder/0/a", "decoder/2/b"},
        {"/encoder/layer.7/op/MatMul", "/decoder/x"},
        {"encoder/", "decoder/1"}}) {
    GraphSpec spec;
    for (const std::string& name : names) {
      spec.nodes.emplace_back();
      spec.nodes.back().name = name;
      spec.nodes.back().outputs = {4};
      spec.nodes.back().cost_us = {1};
    }
    const Graph graph = *Graph::build(std::move(spec));
    const Topology topology = *Topology::build(test::equal_devices(2));
    const Problem problem = *Problem::build(graph, topology, {});
    const Result<Candidate> placed = expert_method().place(problem, {});
    const Result<Candidate> cut = contiguous_method().place(problem, {});
    REQUIRE(placed.ok());
    REQUIRE(cut.ok());
    CHECK(obeys_rules(problem, placed->assignment));
    const bool has_layers = names[0] == "encoder/0/a";
    if (!has_layers) CHECK(placed->assignment == cut->assignment);
  }
}

TEST_CASE("names that hold commas, quotes or no UTF-8 are reported all the same") {
  Graded graded = made_up("own", 110, 100);
  graded.family = "a,\"b";
  CHECK(report_csv({&graded, 1}).find("0,own,\"a,\"\"b\",") != std::string::npos);
  graded.family = "caf\xe9";
  CHECK(report_json({&graded, 1}, {}).find("caf\xef\xbf\xbd") != std::string::npos);
}

TEST_CASE("results of several policies on one problem become one") {
  const Graded all = combine({made_up("a", 110, 100), made_up("a", 110, 95)}, {"one", "two"});
  CHECK(all.best_known_us == 95);
  CHECK(all.makespan_us(passes_of("one")) == 100);
  CHECK(all.makespan_us(passes_of("two")) == 95);
  CHECK(all.outcomes.size() == 4);
}

TEST_CASE("policies have names of their own, though several files have one") {
  using Strings = std::vector<std::string>;
  const auto names = [](const Strings& paths) { return *names_of(paths); };
  CHECK(names({"a/single.plpo", "auto.plpo"}) == Strings{"a/single", "auto.plpo"});
  CHECK(names({"expert.plpo", "metis.plpo"}) == Strings{"expert.plpo", "metis.plpo"});
  CHECK(names({"run/best.plpo", "default"}) == Strings{"best", "default"});
  CHECK(names({"a/best.plpo", "b/best.plpo", "c.plpo"}) == Strings{"a/best", "b/best", "c"});
  CHECK(names({"best.plpo", "a/best.plpo"}) == Strings{"best", "a/best"});
  CHECK(names({"default", "default.plpo"}) == Strings{"default", "default.plpo"});
  CHECK(names({"x.old", "x.plpo", "d/x.old.plpo"}) == Strings{"x.old", "x", "d/x.old"});
  for (const Strings& twice : {Strings{"a.plpo", "b.plpo", "a.plpo"}, Strings{"a.plpo", "./a.plpo"},
                               Strings{"default", "default"}}) {
    const auto refused = names_of(twice);
    CHECK(refused.status().code() == StatusCode::kInvalidArgument);
    CHECK(refused.status().message() == twice.back() + ": given twice, expected each policy once");
  }
}

TEST_CASE("how many evaluations a way took is left open where nobody counted them") {
  std::vector<Graded> graded = {made_up("a", 121, 100), made_up("a", 100, 100)};
  for (Graded& g : graded) {
    g.outcomes.push_back({{Approach::kTimedSearch, "", 50}, 100, 50, std::nullopt});
  }
  graded[1].outcomes[1].evaluations.reset();  // of one problem alone it is known: 10
  const std::string table = report_table(graded), csv = report_csv(graded);
  const auto row = [&](const std::string& label) {
    const std::string from = table.substr(table.find("\n" + label) + 1);
    return from.substr(0, from.find('\n'));
  };
  CHECK_MESSAGE(row("search, as long as training").ends_with(" -  50.00"), table);
  CHECK_MESSAGE(row("policy").ends_with(" 10   2.00"), table);
  CHECK_MESSAGE(csv.find("policy,100,100,,2,k80s\n") != std::string::npos, csv);
  CHECK(effort_svg(graded).find("nan") == std::string::npos);
}

TEST_CASE("reports hold the geometric means and the distribution") {
  const std::vector<Graded> graded = {made_up("a", 121, 100), made_up("a", 100, 100),
                                      made_up("b", 100, 150)};
  const std::string table = report_table(graded);
  CHECK(table.find("1.100") != std::string::npos);
  CHECK(table.find("1.500") != std::string::npos);
  const std::vector<Way> ways = {kAutoAlone, kPasses};
  CHECK(cdf_csv(graded, ways).find("auto,1.21,1.0000\n") != std::string::npos);
  CHECK(cdf_csv(graded, ways).find("policy,1,0.6667\n") != std::string::npos);
  for (const std::string& svg :
       {cdf_svg(graded, ways), effort_svg(graded), sets_svg(graded, ways)}) {
    CHECK(svg.starts_with("<svg"));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
    CHECK(svg.find(">policy<") != std::string::npos);
  }
}
