// placeto-grouping: what merging chains and tiny operators before the hierarchy changes, on graphs
// from files and on the generated networks: how many groups are left, how long placements are, and
// how long placing takes, each with the merging against without.
//
// But for the times the table is the same on every machine.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/groups/hierarchy.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/pairwise/features.h"
#include "tests/bench/cases.h"
#include "tools/io/read.h"
#include "tools/workloads/workload.h"

namespace {

using namespace placeto;
using namespace placeto::bench;

constexpr const char* kUsage =
    R"(Usage: placeto-grouping --topology FILE [--policy FILE] [--networks] [GRAPH...]

Placements with chains and tiny operators merged, against without (--grouping none).
  --topology  the devices
  --policy    place with this policy, too
  --networks  the generated networks, besides the graphs of the files
)";

constexpr uint64_t kEvaluations = 1000;
constexpr int kRepetitions = 3;  // the fastest counts

struct Arguments {
  std::string topology, policy;
  bool networks = false;
  std::vector<std::string> graphs;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--help" || word == "-h") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (word == "--networks") {
      arguments.networks = true;
    } else if (word == "--topology" && i + 1 < argc) {
      arguments.topology = argv[++i];
    } else if (word == "--policy" && i + 1 < argc) {
      arguments.policy = argv[++i];
    } else if (word.starts_with("-")) {
      std::fputs(kUsage, stderr);
      std::exit(2);
    } else {
      arguments.graphs.emplace_back(word);
    }
  }
  if (!arguments.topology.empty() && (arguments.networks || !arguments.graphs.empty())) {
    return arguments;
  }
  std::fputs(kUsage, stderr);
  std::exit(2);
}

struct Outcome {
  double makespan_us = 0, ms = 0;
};

Outcome place(const Problem& problem, Grouping grouping, uint64_t evaluations,
              const Policy* policy) {
  MethodOptions options;
  options.grouping = grouping;
  options.budget.evaluations = evaluations;
  Outcome outcome;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    outcome.makespan_us =
        require(place_auto(problem, options, {.policy = policy})).best.score.objective_us;
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    outcome.ms = i == 0 ? time.count() : std::min(outcome.ms, time.count());
  }
  return outcome;
}

// Geometric means of with over without.
struct Ratios {
  double log_makespan = 0, log_time = 0, worst = 0;
  int count = 0;

  void add(const Outcome& with, const Outcome& without) {
    const double ratio = with.makespan_us / without.makespan_us;
    log_makespan += std::log(ratio);
    log_time += std::log(with.ms / without.ms);
    worst = std::max(worst, ratio);
    ++count;
  }
  void print() const {
    std::printf(" %.3f (worst %.3f) | %.2f |", std::exp(log_makespan / count), worst,
                std::exp(log_time / count));
  }
};

struct Totals {
  Ratios heuristics, search;
  double log_groups = 0;
};

void print_row(const std::string& name, const Problem& problem, const Policy* policy,
               Totals& totals) {
  const uint32_t before = Hierarchy(problem, nullptr, Grouping::kNone).group_count(0);
  const uint32_t after = Hierarchy(problem).group_count(0);
  totals.log_groups += std::log(static_cast<double>(after) / before);
  std::printf("| %s | %u | %u | %u |", name.c_str(), problem.graph().node_count(), before, after);
  for (const auto& [evaluations, ratios] :
       {std::pair{uint64_t{0}, &totals.heuristics}, {kEvaluations, &totals.search}}) {
    const Outcome without = place(problem, Grouping::kNone, evaluations, policy);
    const Outcome with = place(problem, Grouping::kAutomatic, evaluations, policy);
    ratios->add(with, without);
    std::printf(" %.3f | %.1f to %.1f ms |", with.makespan_us / without.makespan_us, without.ms,
                with.ms);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void print_problem(const std::string& name, const Graph& graph, const Topology& topology,
                   const Policy* policy, Totals& totals) {
  const Problem problem = require(Problem::build(graph, topology));
  print_row(name, problem, policy, totals);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const Topology topology = require(read_topology(arguments.topology));
  std::shared_ptr<const Policy> policy;
  if (!arguments.policy.empty()) policy = require(read_policy(arguments.policy));
  Totals totals;
  std::printf(
      "| graph | nodes | groups | merged | makespan | time | with 1,000 | time |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const std::string& path : arguments.graphs) {
    const Graph graph = require(read_graph(path));
    print_problem(std::filesystem::path(path).stem().string(), graph, topology, policy.get(),
                  totals);
  }
  for (const WorkloadInfo& workload : workloads()) {
    if (!arguments.networks || workload.ccr) continue;  // random graphs have a ratio
    const Graph graph = require(Graph::build(require(generate(workload.name))));
    print_problem(std::string(workload.name), graph, topology, policy.get(), totals);
  }
  std::printf("| geometric mean | | | %.2f |",
              std::exp(totals.log_groups / totals.heuristics.count));
  totals.heuristics.print();
  totals.search.print();
  std::printf("\n");
}
