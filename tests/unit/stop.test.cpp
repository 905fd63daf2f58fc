#include "runtime/base/stop.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "runtime/base/random.h"
#include "runtime/base/stoppable_sort.h"
#include "runtime/groups/hierarchy.h"
#include "runtime/heuristics/heuristics.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/pairwise/features.h"
#include "runtime/policy/pairwise/move_features.h"
#include "runtime/policy/published/reach.h"
#include "tests/support/examples.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_policies.h"

namespace placeto {
namespace {

// Says yes at the look of that number, and counts the looks.
struct Countdown {
  uint64_t stop_at = ~uint64_t{0};
  uint64_t looks = 0;

  static bool ask(void* self) {
    auto* countdown = static_cast<Countdown*>(self);
    return ++countdown->looks >= countdown->stop_at;
  }
  Stop stop(uint64_t work_per_look) { return Stop(&ask, this, work_per_look); }
};

// What must hold of a placing that was stopped at any moment.
void check_outcome(const Problem& problem, const Result<PlaceResult>& placed) {
  if (!placed.ok()) {
    const StatusCode code = placed.status().code();
    CHECK((code == StatusCode::kStopped || code == StatusCode::kInfeasible));
    return;
  }
  const Candidate& best = placed->best;
  CHECK(obeys_rules(problem, best.assignment));
  CHECK(best.score.feasible());
  Evaluator evaluator(problem);
  CHECK(evaluator.evaluate(best.assignment, best.division) == best.score);
  if (placed->simulated) {
    CHECK(placed->timeline.start_us.size() == problem.node_count());
    CHECK(placed->timeline.peak_memory_bytes.size() == problem.device_count());
  } else {
    CHECK(placed->stopped);
    CHECK(placed->timeline.makespan_us == best.score.objective_us);
    CHECK(placed->bounds.best_us() == 0);
  }
}

// Numbers 1 to 100, then ever wider steps: the first looks are in the parts that all graphs share.
uint64_t next_look(uint64_t look) {
  return look + 1 + (look < 100 ? 0 : look / 12);
}

struct Case {
  const Policy* policy = nullptr;
  uint64_t evaluations = 0;
};

// Places again and again, stopped at one look after the other. Returns how many of those gave a
// placement.
uint32_t stop_everywhere(const Problem& problem, const Case& c, uint64_t work_per_look) {
  uint32_t answered = 0;
  for (uint64_t look = 1;; look = next_look(look)) {
    Countdown countdown{look};
    Stop stop = countdown.stop(work_per_look);
    MethodOptions options;
    options.budget.evaluations = c.evaluations;
    options.stop = &stop;
    options.passes = 2;
    options.samples = 1;
    const Result<PlaceResult> placed = place_auto(problem, options, {.policy = c.policy});
    check_outcome(problem, placed);
    answered += placed.ok();
    if (countdown.looks < look) {
      CHECK(!stop.stopped());
      if (placed.ok()) CHECK(!placed->stopped);
      return answered;
    }
    if (placed.ok()) CHECK(placed->stopped);
  }
}

test::Instance small_tight_instance(uint32_t rules, Random& random) {
  const test::RandomShape shape{.most_nodes = 12, .restrictions = true};
  Rules caller;
  if (random.below(3) == 0) caller.objective = Objective::kThroughput;
  return test::random_instance(shape, rules, random, {60, 400}, caller);
}

// A ladder: two chains with rungs.
GraphSpec ladder(uint32_t rungs) {
  GraphSpec graph;
  graph.nodes.resize(size_t{2} * rungs);
  for (uint32_t v = 0; v < 2 * rungs; ++v) {
    graph.nodes[v].name = "n" + std::to_string(v);
    graph.nodes[v].cost_us = {10.0 + v % 7};
    graph.nodes[v].outputs = {1000 + v % 13 * 100};
    if (v >= 2) graph.edges.push_back({v - 2, 0, v});
    if (v % 2 == 1 && v >= 3) graph.edges.push_back({v - 3, 0, v});
  }
  return graph;
}

TopologySpec four_devices() {
  TopologySpec topology;
  topology.default_link = {100, 0, 1};
  for (uint32_t d = 0; d < 4; ++d) {
    topology.devices.emplace_back();
    topology.devices.back().name = "gpu:" + std::to_string(d);
    topology.devices.back().kind = "gpu";
  }
  return topology;
}

}  // namespace

TEST_CASE(
    "a stop listens to its flag, its deadline and its callback, and does not change its mind") {
  std::atomic<bool> flag{false};
  Stop by_flag(&flag);
  CHECK(!by_flag.requested());
  flag = true;
  CHECK(!by_flag.stopped());  // nobody looked
  CHECK(by_flag.requested());
  flag = false;
  CHECK(by_flag.requested());

  Stop by_time(nullptr, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  CHECK(by_time.requested());
  for (double endless : {0.0, -1.0, 1e300}) CHECK(!Stop(nullptr, endless).requested());

  Countdown countdown{3};
  Stop by_callback = countdown.stop(10);
  CHECK(!by_callback.spend(9));
  CHECK(countdown.looks == 0);
  CHECK(!by_callback.spend(1));  // 10
  CHECK(countdown.looks == 1);
  CHECK(!by_callback.spend(1'000'000));
  CHECK(!by_callback.spend(9));
  CHECK(by_callback.spend(1));
  CHECK(countdown.looks == 3);
  CHECK(!spend(nullptr, 1'000'000));

  Countdown at_once{1};
  Stop with_head_start = at_once.stop(10);
  with_head_start.head_start(100);
  CHECK(!with_head_start.spend(99));
  CHECK(at_once.looks == 0);
  CHECK(with_head_start.spend(1));
}

TEST_CASE("what a head start cannot be enough for is looked at from the beginning") {
  Countdown small{1}, large{1};
  Stop of_small = small.stop(10), of_large = large.stop(10);
  of_small.head_start_for(4'000);
  CHECK(!of_small.spend(Stop::kHeadStart - 1));
  of_large.head_start_for(200'000);
  CHECK(of_large.spend(10));
}

TEST_CASE("a long span is looked through in pieces, and no further once stopped") {
  std::vector<uint32_t> items(20'000);
  std::iota(items.begin(), items.end(), 0u);
  for (const uint64_t stop_at : {~uint64_t{0}, uint64_t{1}, uint64_t{3}}) {
    for (const bool by_index : {false, true}) {
      Countdown countdown{stop_at};
      Stop stop = countdown.stop(Stop::kWorkPerLook);
      uint32_t visited = 0;
      const auto visit = [&](uint32_t i) { CHECK(i == visited++); };
      if (by_index) {
        in_pieces(0, 20'000, &stop, visit);
      } else {
        for (uint32_t i : watched(items, &stop)) visit(i);
      }
      CHECK((visited == items.size()) == !stop.stopped());
      CHECK(visited >= std::min<uint64_t>(stop_at, 4) * Stop::kWorkPerLook);
      CHECK(countdown.looks == std::min<uint64_t>(stop_at, 4));
    }
  }
  Countdown countdown;
  Stop stop = countdown.stop(Stop::kWorkPerLook);
  uint32_t visited = 0;
  for (uint32_t i : watched(std::span<const uint32_t>(items).first(4'000), &stop))
    visited += i < items.size();
  for (uint32_t i : watched(std::span<const uint32_t>(), &stop)) visited += i < items.size();
  for (uint32_t i : watched(items, nullptr, 100)) visited += i < items.size();
  CHECK(visited == 24'000);
  CHECK(countdown.looks == 0);
  // Where each takes much, pieces are small.
  for (uint32_t i : watched(std::span<const uint32_t>(items).first(4'000), &stop, 1000))
    visited += i;
  CHECK(countdown.looks == 799);
}

TEST_CASE("a sort that can be stopped sorts like the standard one") {
  Random random(7);
  for (size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{4097}, size_t{30'000}}) {
    std::vector<std::pair<uint32_t, uint32_t>> values;  // key, and where it was
    for (uint32_t i = 0; i < size; ++i) values.emplace_back(random.below(1 + i / 3), i);
    auto expected = values;
    const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(expected.begin(), expected.end(), less);
    Countdown countdown;
    Stop stop = countdown.stop(5000);
    stoppable_sort(values.begin(), values.end(), less, &stop);
    CHECK(values == expected);
    CHECK(countdown.looks >= size / 5000);
  }
}

static PolicySpec leaping_with_embedding() {
  PolicySpec spec = test::small_leaping_policy();
  spec.dimensions.embedding = 4;
  spec.dimensions.rounds = 1;
  spec.dimensions.encoder_hidden = spec.dimensions.message_hidden = {4};
  for (const Feature& feature : kNodeFeatureList) {
    spec.node_features.push_back({std::string(feature.name), 0, 1});
  }
  test::draw_weights(spec, 12);
  return spec;
}

TEST_CASE(
    "stopped at any moment, a placing returns a placement that fits or says that there is none") {
  const auto pairwise = test::load_policy(test::small_leaping_policy());
  const auto embedding = test::load_policy(leaping_with_embedding());
  uint32_t answered = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    Random random(500 + rules);
    test::Instance instance;
    while (!instance.problem) instance = small_tight_instance(rules, random);
    const Problem& problem = *instance.problem;
    CAPTURE(rules);
    std::shared_ptr<const Policy> policy = pairwise;
    if (rules % 2 == 1) policy = embedding;
    if (rules % 3 == 1) policy = nullptr;
    if (rules % 3 == 2) {
      policy = test::load_policy(
          test::small_placeto_policy(problem.device_count(), test::Looks::kAtLoads));
    }
    answered += stop_everywhere(problem, {policy.get(), 20}, 1);
  }
  CHECK(answered > 500);
}

TEST_CASE("stopped while it chooses among many devices, a policy has no candidates") {
  const test::Instance instance = test::build_instance(ladder(10), test::equal_devices(40));
  const Problem& problem = *instance.problem;
  const Hierarchy hierarchy(problem);
  uint32_t stops = 0;
  for (Countdown countdown{1};; countdown = {countdown.stop_at + 1}) {
    Stop stop = countdown.stop(1);
    MoveEvaluator evaluator(problem, &stop);
    evaluator.rebase(Assignment(problem.node_count(), 0));
    PlacementState state(problem);
    state.refresh(evaluator);
    MoveFeatures features(problem, hierarchy);
    features.begin(state, 0, 0);
    if (!stop.stopped()) {
      CHECK(features.candidates().size() == MoveFeatures::kMostCandidates);
      break;
    }
    REQUIRE(features.candidates().empty());
    ++stops;
  }
  CHECK(stops > 40);
}

TEST_CASE("the table of who depends on whom can be stopped wherever it looks") {
  const test::Instance instance = test::build_instance(ladder(1000), test::equal_devices(2));
  const Graph& graph = instance.problem->graph();
  uint32_t stops = 0;
  for (Countdown countdown{1};; countdown = {countdown.stop_at + 1}) {
    Stop stop = countdown.stop(2'000);
    const PublishedReach reach(graph, &stop);
    if (!stop.stopped()) break;
    CHECK(countdown.looks == countdown.stop_at);  // and it did not go on
    ++stops;
  }
  CHECK(stops > 20);
}

TEST_CASE("stopped while it places a graph that takes long, it comes back without the timeline") {
  const test::Instance instance = test::build_instance(ladder(2500), four_devices());
  const auto policy = test::load_policy(test::small_pairwise_policy());
  const uint32_t answered = stop_everywhere(*instance.problem, {policy.get(), 20}, 20'000);
  CHECK(answered > 20);

  // In the middle of the first evaluation there is nothing, after it a placement.
  bool left_out = false;
  for (uint64_t look = 1; look < 40; ++look) {
    Countdown countdown{look};
    Stop stop = countdown.stop(2'000);
    MethodOptions options;
    options.stop = &stop;
    const Result<PlaceResult> placed = place_auto(*instance.problem, options);
    if (placed.ok()) left_out |= !placed->simulated;
    if (look == 1) CHECK(placed.status().code() == StatusCode::kStopped);
  }
  CHECK(left_out);
}

// One node that 5,000 others read, all of which one reads.
TEST_CASE("stopped in the middle of one node's neighbours, it comes back in order, too") {
  GraphSpec graph = ladder(test::examples(2501));
  graph.edges.clear();
  const uint32_t last = static_cast<uint32_t>(graph.nodes.size()) - 1;
  for (uint32_t v = 1; v < last; ++v) {
    graph.edges.push_back({0, 0, v});
    graph.edges.push_back({v, 0, last});
  }
  for (const uint32_t rules : {0u, 6u, 16u}) {
    CAPTURE(rules);
    TopologySpec topology = four_devices();
    test::set_rules(rules, topology);
    const test::Instance instance = test::build_instance(graph, topology);
    CHECK(stop_everywhere(*instance.problem, {nullptr, 3}, 1'000) > 10);
  }
}

TEST_CASE("a move that is evaluated can be stopped wherever it looks") {
  GraphSpec graph = ladder(300);
  graph.edges.clear();
  Random random(3);
  for (uint32_t v = 60; v < graph.nodes.size(); ++v) {  // ten layers, so that many wait
    for (const uint32_t back : {1u, 31u}) {
      graph.edges.push_back({v / 60 * 60 - back - random.below(30), 0, v});
    }
  }
  const test::Instance instance = test::build_instance(graph, four_devices());
  REQUIRE(instance.problem);
  const Problem& problem = *instance.problem;
  const Assignment base = test::random_assignment(problem, random);
  MoveEvaluator whole(problem);
  whole.rebase(base);
  uint32_t stops = 0;
  for (uint32_t node = 5; node < problem.node_count(); node += 60) {
    const Change change{node, (base[node] + 1) % 4};
    const Score score = whole.evaluate({&change, 1});
    for (uint64_t look = 1;; ++look) {
      Countdown countdown;
      Stop stop = countdown.stop(1);
      MoveEvaluator evaluator(problem, &stop);
      evaluator.rebase(base);
      countdown.stop_at = countdown.looks + look;
      const Score found = evaluator.evaluate({&change, 1});
      if (!stop.stopped()) {
        CHECK(found == score);
        break;
      }
      ++stops;
      evaluator.accept();  // as a search would: nothing may be touched that is half made
    }
  }
  CHECK(stops > 100);
}

TEST_CASE("stopped at its last looks, after the placement is known, a placing says so") {
  const test::Instance instance = test::build_instance(ladder(2500), four_devices());
  const auto place = [&](Countdown& countdown) {
    Stop stop = countdown.stop(500);
    MethodOptions options;
    options.stop = &stop;
    return place_with(*instance.problem, heft_method(), options);
  };
  Countdown never;
  const Result<PlaceResult> whole = place(never);
  REQUIRE(whole.ok());
  CHECK(!whole->stopped);
  CHECK(whole->bounds.best_us() > 0);
  for (uint64_t look = never.looks; look > never.looks - 40; --look) {
    Countdown countdown{look};
    const Result<PlaceResult> placed = place(countdown);
    check_outcome(*instance.problem, placed);
    REQUIRE(placed.ok());
    CHECK(placed->stopped);
    CHECK(placed->best.assignment == whole->best.assignment);
  }
}

TEST_CASE("a search with the largest budget that there is ends when it is stopped") {
  const test::Instance instance = test::build_instance(ladder(100), four_devices());
  for (const std::string_view method : {"auto", "anneal"}) {
    CAPTURE(method);
    Countdown countdown{3'000};
    Stop stop = countdown.stop(500);
    MethodOptions options;
    options.budget.evaluations = ~uint64_t{0};
    options.stop = &stop;
    const Result<PlaceResult> placed = place(*instance.problem, method, options);
    REQUIRE(placed.ok());
    CHECK(placed->stopped);
  }
}

TEST_CASE("a policy alone, stopped before it placed, gives what it would have started from") {
  const test::Instance instance = test::build_instance(ladder(200), four_devices());
  const auto policy = test::load_policy(test::small_pairwise_policy());
  uint32_t answered = 0;
  for (uint64_t look = 10; look < 400; look += 30) {
    Countdown countdown{look};
    Stop stop = countdown.stop(500);
    MethodOptions options;
    options.stop = &stop;
    const Result<PlaceResult> placed =
        place(*instance.problem, kPolicyAlone, options, {policy.get()});
    check_outcome(*instance.problem, placed);
    answered += placed.ok() && placed->stopped;
  }
  CHECK(answered > 5);
}

TEST_CASE("a problem that is not compiled in time says so") {
  Result<Graph> graph = Graph::build(ladder(200));
  Result<Topology> topology = Topology::build(four_devices());
  REQUIRE(graph.ok());
  REQUIRE(topology.ok());
  Rules rules;
  for (uint32_t v = 0; v < 20; ++v) rules.pins.push_back({v, v % 4});
  rules.colocate = {{30, 31, 32}};
  uint32_t looks = 0;
  for (uint64_t look = 1;; ++look) {
    Countdown countdown{look};
    Stop stop = countdown.stop(16);
    const Result<Problem> problem = Problem::build(*graph, *topology, rules, {}, &stop);
    if (problem.ok()) break;
    ++looks;
    CHECK(problem.status().code() == StatusCode::kStopped);
  }
  CHECK(looks > 50);
}

TEST_CASE("a stop that never comes changes no placement") {
  for (uint32_t rules : {0u, 2u, 5u, 8u}) {
    Random random(900 + rules);
    const test::Instance instance = test::random_instance({.most_nodes = 60}, rules, random);
    REQUIRE(instance.problem);
    MethodOptions options;
    options.budget.evaluations = 50;
    const Result<PlaceResult> without = place_auto(*instance.problem, options);
    Stop stop;
    options.stop = &stop;
    const Result<PlaceResult> with = place_auto(*instance.problem, options);
    REQUIRE(without.ok());
    REQUIRE(with.ok());
    CHECK(with->best.assignment == without->best.assignment);
    CHECK(with->best.score == without->best.score);
    CHECK(!with->stopped);
  }
}

}  // namespace placeto
