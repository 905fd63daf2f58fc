// What measured stages teach, and which contender is handed out.
#include <doctest/doctest.h>

#include <vector>

#include "tools/tune/feedback.h"
#include "tools/tune/outputs.h"
#include "tools/tune/spread_whole.h"
#include "tools/tune/tune.h"

namespace placeto {
namespace {

using Costs = std::vector<std::vector<double>>;

TEST_CASE("stages that took what was predicted teach nothing") {
  const Costs costs{{10, 20, 30}};
  const std::vector<StageObservation> stages{{0, {0, 1}, 5, 35}, {0, {2}, 5, 35}};
  const Feedback feedback = learn(costs, stages);
  CHECK(feedback.stage_excess_us[0] == doctest::Approx(0));
  for (const double factor : feedback.factor[0]) CHECK(factor == doctest::Approx(1));
}

TEST_CASE("what every stage takes beyond its nodes becomes the price of a stage") {
  const Costs costs{{10, 20, 30}};
  const std::vector<StageObservation> stages{{0, {0, 1}, 5, 42}, {0, {2}, 5, 42}};
  const Feedback feedback = learn(costs, stages);
  CHECK(feedback.stage_excess_us[0] == doctest::Approx(7));
  for (const double factor : feedback.factor[0]) CHECK(factor == doctest::Approx(1));
}

TEST_CASE("what stages of one kind of device take beyond their nodes is no price of the others") {
  const Costs costs{{10, 20, 30}, {1, 2, 3}, {1, 1, 1}};
  const std::vector<StageObservation> stages{{0, {0, 1}, 5, 35}, {1, {2}, 5, 608}};
  const Feedback feedback = learn(costs, stages);
  CHECK(feedback.stage_excess_us[0] == doctest::Approx(0));
  CHECK(feedback.stage_excess_us[1] == doctest::Approx(600));
  CHECK(feedback.stage_excess_us[2] == 0);
  CHECK(feedback.factor[1] == std::vector<double>{1, 1, 1});
}

TEST_CASE("nodes of a stage that took longer cost more, the others less: the whole is measured") {
  const Costs costs{{10, 10, 10, -1}};
  const std::vector<StageObservation> stages{{0, {0}, 0, 15}, {0, {1}, 0, 5}};
  const Feedback feedback = learn(costs, stages);
  CHECK(feedback.stage_excess_us[0] == doctest::Approx(0));
  const auto& factor = feedback.factor[0];
  CHECK(factor[0] > 1.2);
  CHECK(factor[1] < 0.8);
  CHECK(factor[0] / factor[1] == doctest::Approx(3));
  CHECK(10 * (factor[0] + factor[1] + factor[2]) == doctest::Approx(30));
}

TEST_CASE("one step changes no time by more than twice, and other kinds not at all") {
  const Costs costs{{10, 10}, {40, 40}};
  const std::vector<StageObservation> stages{{0, {0}, 0, 1000}, {0, {1}, 0, 1}};
  const Feedback feedback = learn(costs, stages);
  CHECK(feedback.factor[0][0] / feedback.factor[0][1] <= 4.001);
  CHECK(feedback.factor[1][0] == 1);
}

TEST_CASE("fitted to a run, every stage takes what it was measured to") {
  const Costs costs{{10, 30, -1, 0, 0, 7}, {1, 1, 1, 1, 1, 1}};
  const std::vector<StageObservation> stages{{0, {0, 1}, 5, 25}, {0, {3, 4}, 1, 9}, {1, {2}, 8, 3}};
  const Costs fitted = fit(costs, stages);
  CHECK(fitted[0] == std::vector<double>{5, 15, -1, 4, 4, 7});
  CHECK(fitted[1] == std::vector<double>{1, 1, 0, 1, 1, 1});
}

//   0 - 1 - 2, 3 alone; the last two make outputs, and 1 cannot run there.
Graph short_graph() {
  GraphSpec spec;
  for (const char* name : {"a", "b", "c", "d"}) {
    NodeSpec node;
    node.name = name;
    node.outputs = {64};
    spec.nodes.push_back(std::move(node));
  }
  spec.edges = {{0, 0, 1}, {1, 0, 2}};
  return *Graph::build(std::move(spec));
}

TEST_CASE(
    "a run beside the processor is its nodes, its session, and the ways of what it is given") {
  std::vector<std::optional<double>> us{1, -1, 2, 1};
  spread_whole(short_graph(), {1000, 100, 60, {{2, 30}, {3, 10}}}, us);
  CHECK(*us[0] == doctest::Approx(200 + 30));  // nodes share 800 as 1, 2 and 1
  CHECK(*us[1] == -1);
  CHECK(*us[2] == doctest::Approx(400 + 30));
  CHECK(*us[3] == doctest::Approx(200 + 30 + 10));
  CHECK(*us[0] + *us[2] + *us[3] + 100 == doctest::Approx(1000));
}

TEST_CASE("ways that would take more than a whole run leave its nodes a tenth") {
  std::vector<std::optional<double>> us{1, 1, 2, 0};
  spread_whole(short_graph(), {1000, 1000, 600, {{2, 200}}}, us);
  CHECK(*us[1] == doctest::Approx(25));
  CHECK(*us[0] + *us[1] + *us[2] + *us[3] + 500 == doctest::Approx(1000));
}

Contender placed(const char* name, uint32_t stages, double over_whole) {
  Contender c;
  c.name = name;
  c.stages = stages;
  c.devices = stages > 1 ? 2 : 1;
  c.over_whole = over_whole;
  return c;
}

Contender other(Contender::Way way, const char* name, uint32_t threads, double over_whole) {
  Contender c;
  c.way = way;
  c.name = name;
  c.threads = threads;
  c.over_whole = over_whole;
  return c;
}

TEST_CASE("the fastest is handed out, and among equals the simplest") {
  std::vector<Contender> contenders{placed("3 stages", 3, 0.80), placed("one device", 1, 1.0),
                                    placed("9 stages", 9, 0.795)};
  CHECK(choose(contenders, 0.02) == 0);
  CHECK(choose(contenders, 0) == 2);
  contenders.push_back(placed("3 other stages", 3, 0.796));  // as simple, and faster
  CHECK(choose(contenders, 0.02) == 3);
  contenders.pop_back();
  contenders.push_back(other(Contender::Way::kThreads, "two threads", 2, 0.6));
  CHECK(choose(contenders, 0.02) == 3);
  contenders.push_back(other(Contender::Way::kEngine, "the engine by itself", 0, 0.605));
  CHECK(choose(contenders, 0.02) == 4);
}

TEST_CASE("the engine with a provider is called that beside the engine by itself") {
  std::vector<Contender> contenders{other(Contender::Way::kEngine, "the engine by itself", 0, 0.6),
                                    other(Contender::Way::kEngine, "the engine with cuda", 1, 0.9)};
  const std::string why = explain_choice(contenders, 0, 0.02, "cpu");
  CHECK(why.find("the engine with cuda takes 0.90") != std::string::npos);
}

TEST_CASE("the choice is never slower than one device or the engine, up to the tolerance") {
  for (int i = 0; i < 50; ++i) {
    const double a = 0.5 + 0.02 * (i * 7 % 50), b = 0.5 + 0.02 * (i * 13 % 50),
                 c = 0.5 + 0.02 * (i * 29 % 50);
    const std::vector<Contender> contenders{
        placed("4 stages", 4, a), placed("one device", 1, b),
        other(Contender::Way::kEngine, "the engine by itself", 0, c)};
    const double chosen = contenders[choose(contenders, 0.02)].over_whole;
    CHECK(chosen <= 1.02 * b);
    CHECK(chosen <= 1.02 * c);
  }
}

TEST_CASE("one sentence says what won, by how much, and over what") {
  const std::vector<Contender> contenders{
      placed("3 stages on 2 devices", 3, 0.87), placed("one device", 1, 1.0),
      other(Contender::Way::kThreads, "one device, 2 threads", 2, 0.61)};
  CHECK(explain_choice(contenders, 2, 0.02, "cpu") ==
        "one device, 2 threads: 0.61 of the whole model on one thread; one device takes 1.00, the "
        "best division takes 0.87.");
  CHECK(
      explain_choice(contenders, 2, 0.02, "cuda")
          .starts_with("one device, 2 threads: 0.61 of the whole model on one thread with cuda;"));
}

TEST_CASE("where something faster was measured, the sentence says by which rule it did not win") {
  std::vector<Contender> contenders{placed("9 stages", 9, 0.795),
                                    other(Contender::Way::kReplicas, "2 replicas", 1, 0.8),
                                    other(Contender::Way::kThreads, "2 threads", 2, 1.11)};
  CHECK(explain_choice(contenders, 1, 0.02, "cpu") ==
        "2 replicas: 0.80 of the whole model on one thread; the best division takes 0.80, the best "
        "other of threads and replicas takes 1.11. What is within 2% of the fastest (9 stages, "
        "0.795) counts as equal, and of that the way with the fewest stages, devices, replicas and "
        "threads is handed out.");
  contenders[0].output = OutputDeviation{"y", 0.5, 0.01};  // what deviates is no rival
  CHECK(explain_choice(contenders, 1, 0.02, "cpu").find("within") == std::string::npos);
}

// Contenders whose one output deviates so far, by at most 0.01 where nothing is wrong; none: not
// compared.
std::vector<std::unique_ptr<Runnable>> contenders_of(
    std::vector<std::optional<double>> deviations) {
  std::vector<std::unique_ptr<Runnable>> contenders;
  for (const std::optional<double>& deviation : deviations) {
    contenders.push_back(std::make_unique<Runnable>());
    if (deviation) contenders.back()->info.output = OutputDeviation{"y", *deviation, 0.01};
  }
  return contenders;
}

TEST_CASE("what gives other outputs than the model is not handed out, unless everything does") {
  std::vector<std::string> notes;
  using Indices = std::vector<size_t>;
  CHECK(without_deviating(contenders_of({0.0, 0.01, std::nullopt}), notes) == Indices{0, 1, 2});
  CHECK(notes.empty());
  CHECK(without_deviating(contenders_of({0.5, 0.0, 0.2}), notes) == Indices{1});
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] ==
        "2 of 3 ways deviate from the model's outputs and are not handed out: 'y' by up to 0.5, "
        "expected at most 0.01 (--tolerance)");
  CHECK(without_deviating(contenders_of({0.5, 0.2}), notes) == Indices{0, 1});
  REQUIRE(notes.size() == 2);
  CHECK(notes[1].starts_with("2 of 2 ways deviate from the model's outputs: 'y'"));
}

}  // namespace
}  // namespace placeto
