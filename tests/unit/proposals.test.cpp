// What a search proposes: moves of groups, and windows.
#include <doctest/doctest.h>

#include <set>

#include "runtime/search/group_moves.h"
#include "runtime/search/window_pass.h"
#include "tests/support/random_problem.h"

namespace placeto {
namespace {

// Every change moves a node elsewhere, once, and what comes of them obeys the rules.
void check_changes(const Problem& problem, const Assignment& base,
                   const std::vector<Change>& changes) {
  Assignment changed = base;
  std::set<uint32_t> nodes;
  for (const Change& change : changes) {
    CHECK(nodes.insert(change.node).second);
    CHECK(base[change.node] != change.device);
    changed[change.node] = change.device;
  }
  CHECK(obeys_rules(problem, changed));
}

class PrefersADevice final : public ProposalRanker {
 public:
  explicit PrefersADevice(uint32_t device) : device_(device) {}
  uint32_t proposals() const override { return 8; }
  void refresh(const MoveEvaluator&) override { ++refreshed; }
  float score(uint32_t, uint32_t, uint32_t device, float) override {
    return device == device_ ? 1 : 0;
  }
  int refreshed = 0;

 private:
  uint32_t device_;
};

}  // namespace

TEST_CASE("moves of groups change something and obey the rules, whatever the share of the budget") {
  Random random(61);
  int proposals = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 5; ++i) {
      const test::Instance instance =
          test::random_instance({.most_nodes = 40, .restrictions = true}, rules, random);
      if (!instance.problem) continue;
      CAPTURE(rules);
      const Problem& problem = *instance.problem;
      const Assignment base = test::random_assignment(problem, random);
      const Hierarchy hierarchy(problem);
      MoveEvaluator evaluator(problem);
      evaluator.rebase(base);
      GroupMoves moves(hierarchy, evaluator, nullptr);
      moves.base_changed();
      std::vector<Change> changes;
      for (const double used : {0.0, 0.3, 0.6, 0.99}) {
        moves.propose(used, random, changes);
        check_changes(problem, base, changes);
        proposals += changes.empty() ? 0 : 1;
      }
    }
  }
  CHECK(proposals > 100);
}

TEST_CASE("with a ranker, the move that it prefers is proposed more often than without") {
  Random random(62);
  const test::RandomShape shape{.most_nodes = 60};
  TopologySpec topology = test::equal_devices(4);
  GraphSpec graph = test::random_graph(shape, random);
  while (graph.nodes.size() < 30) graph = test::random_graph(shape, random);
  graph.kinds.clear();
  for (NodeSpec& node : graph.nodes) node.cost_us.resize(1);
  const test::Instance instance = test::build_instance(std::move(graph), std::move(topology));
  REQUIRE(instance.problem);
  const Hierarchy hierarchy(*instance.problem);
  MoveEvaluator evaluator(*instance.problem);
  evaluator.rebase(test::random_assignment(*instance.problem, random));
  const auto moves_to_3 = [&](ProposalRanker* ranker) {
    GroupMoves moves(hierarchy, evaluator, ranker);
    moves.base_changed();
    std::vector<Change> changes;
    int count = 0;
    for (int i = 0; i < 300; ++i) {
      moves.propose(0.5, random, changes);
      count += !changes.empty() && changes[0].device == 3 ? 1 : 0;
    }
    return count;
  };
  PrefersADevice ranker(3);
  CHECK(moves_to_3(&ranker) > 1.5 * moves_to_3(nullptr));
  CHECK(ranker.refreshed > 0);
}

TEST_CASE("a window moves whole groups within the rules, and some windows shorten the run") {
  Random random(63);
  int proposals = 0, improvements = 0;
  for (uint32_t rules = 0; rules < test::kRuleSets; ++rules) {
    for (int i = 0; i < 5; ++i) {
      const test::Instance instance =
          test::random_instance({.most_nodes = 60, .restrictions = true}, rules, random);
      if (!instance.problem) continue;
      CAPTURE(rules);
      const Problem& problem = *instance.problem;
      const Assignment base = test::random_assignment(problem, random);
      MoveEvaluator evaluator(problem);
      const Score before = evaluator.rebase(base);
      CurrentRun run(evaluator);
      WindowPass window(run);
      std::vector<Change> changes;
      for (int k = 0; k < 10; ++k) {
        window.propose(random, changes);
        check_changes(problem, base, changes);
        CHECK(window.share() > 0);
        if (changes.empty()) continue;
        ++proposals;
        improvements += evaluator.evaluate(changes) < before ? 1 : 0;
      }
    }
  }
  CHECK(proposals > 50);
  CHECK(improvements > 10);
}

}  // namespace placeto
