// placeto-quality: how close placements come to the best known ones, on random graphs.
//
// "Best known" is the best placement of everything run on a graph, including several long searches
// from different seeds; so a ratio of 1 means "nothing better was found", not "optimal". Searches
// count evaluations: apart from the times, the table is the same on every machine.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/placer/methods.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/guide.h"
#include "tests/bench/cases.h"
#include "tests/bench/quality_graphs.h"
#include "tools/report/table.h"

namespace {

using namespace placeto;
using namespace placeto::bench;

constexpr const char* kUsage =
    R"(Usage: placeto-quality [small|large] [--graphs N] [--searches N] [--evaluations N] [--seed N]
                       [--policy FILE]

Geometric mean of makespan over the best known one on random graphs.
  small          graphs of 40 to 160 nodes (default)
  large          graphs of 800 to 1,600 nodes
  --graphs       how many (default 60 small, 16 large)
  --searches     long searches for the best known placement of each graph (default 5 small, 2 large)
  --evaluations  placements that each of them evaluates (default 100,000)
  --seed         of the graphs (default 1)
  --policy       also place with this policy
)";

struct Options {
  Sizes sizes{40, 160};
  uint32_t graphs = 60, searches = 5;
  uint64_t evaluations = 100'000, seed = 1;
  std::shared_ptr<const Policy> policy;
};

[[noreturn]] void fail_usage() {
  std::fputs(kUsage, stderr);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options o;
  int next = 1;
  if (next < argc && argv[next][0] != '-') {
    const std::string_view set = argv[next++];
    if (set == "large") {
      o.sizes = {800, 1'600};
      o.graphs = 16;
      o.searches = 2;
    } else if (set != "small") {
      fail_usage();
    }
  }
  for (; next < argc; next += 2) {
    const std::string_view name = argv[next];
    if (name == "--help" || name == "-h") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (name == "--policy" && next + 1 < argc) {
      o.policy = require(Policy::load_file(argv[next + 1], Policy::File::kRead, known_features()));
      continue;
    }
    char* end = nullptr;
    const uint64_t value = next + 1 < argc ? std::strtoull(argv[next + 1], &end, 10) : 0;
    if (end == nullptr || *end != '\0' || value == 0 || value > 1'000'000'000) fail_usage();
    if (name == "--graphs") {
      o.graphs = static_cast<uint32_t>(value);
    } else if (name == "--searches") {
      o.searches = static_cast<uint32_t>(value);
    } else if (name == "--evaluations") {
      o.evaluations = value;
    } else if (name == "--seed") {
      o.seed = value;
    } else {
      fail_usage();
    }
  }
  return o;
}

struct Outcome {
  double makespan_us = 0;
  double time_ms = 0;
};

// One row of the table: an outcome for each graph.
struct Row {
  std::string method;
  std::vector<Outcome> outcomes;
};

template <class Place>
Outcome timed(Place place) {
  const auto start = std::chrono::steady_clock::now();
  const double makespan = place();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  return {makespan, time.count()};
}

double auto_makespan(const Problem& problem, uint64_t evaluations, uint64_t seed = 1,
                     const Policy* policy = nullptr) {
  MethodOptions options;
  options.budget.evaluations = evaluations;
  options.seed = seed;
  return require(place_auto(problem, options, {.policy = policy})).best.score.objective_us;
}

// What is compared, in the order of the table, on one graph.
std::vector<std::pair<std::string, Outcome>> run_methods(const Problem& problem,
                                                         const Policy* policy) {
  std::vector<std::pair<std::string, Outcome>> results;
  Outcome three{kNever, 0};
  for (const Method* method : builtin_methods()) {
    if (!method->in_auto()) continue;
    const std::string name(method->name());
    const Outcome outcome =
        timed([&] { return require(method->place(problem, {})).score.objective_us; });
    results.emplace_back(name, outcome);
    if (name != "single" && name != "heft" && name != "etf") continue;
    three.makespan_us = std::min(three.makespan_us, outcome.makespan_us);
    three.time_ms += outcome.time_ms;
  }
  results.emplace_back("best of single, heft, etf", three);
  results.emplace_back("auto", timed([&] { return auto_makespan(problem, 0); }));
  for (const uint64_t evaluations : {300u, 1'000u, 3'000u}) {
    results.emplace_back("auto, " + format_count(evaluations) + " evaluations",
                         timed([&] { return auto_makespan(problem, evaluations); }));
  }
  if (policy == nullptr) return results;
  for (const uint64_t evaluations : {0u, 300u, 1'000u, 3'000u}) {
    results.emplace_back("the same with the policy, " + format_count(evaluations),
                         timed([&] { return auto_makespan(problem, evaluations, 1, policy); }));
  }
  return results;
}

// Geometric mean, over the graphs whose ratio of communication to computation is in [from, to).
double mean_ratio(const Row& row, std::span<const double> best, std::span<const double> ccr,
                  double from, double to) {
  double sum = 0;
  int count = 0;
  for (size_t i = 0; i < best.size(); ++i) {
    if (ccr[i] < from || ccr[i] >= to) continue;
    sum += std::log(row.outcomes[i].makespan_us / best[i]);
    ++count;
  }
  return count == 0 ? NAN : std::exp(sum / count);
}

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return std::isnan(value) ? "-" : text;
}

void print_table(const std::vector<Row>& rows, std::span<const double> best,
                 std::span<const double> ccr) {
  Table table({{"method"},
               {"mean", Align::kRight},
               {"ratio < 1", Align::kRight},
               {"ratio >= 1", Align::kRight},
               {"worst", Align::kRight},
               {"median ms", Align::kRight}});
  for (const Row& row : rows) {
    double worst = 0;
    std::vector<double> times;
    for (size_t i = 0; i < best.size(); ++i) {
      worst = std::max(worst, row.outcomes[i].makespan_us / best[i]);
      times.push_back(row.outcomes[i].time_ms);
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    table.add_row({row.method, fixed(mean_ratio(row, best, ccr, 0, INFINITY), 3),
                   fixed(mean_ratio(row, best, ccr, 0, 1), 3),
                   fixed(mean_ratio(row, best, ccr, 1, INFINITY), 3), fixed(worst, 2),
                   fixed(times[times.size() / 2], 2)});
  }
  std::fputs(table.render().c_str(), stdout);
}

void show_progress(uint32_t done, uint32_t all) {
  if (!isatty(STDERR_FILENO)) return;
  std::fprintf(stderr, "\r%u of %u graphs%s", done, all, done == all ? "\n" : "");
}

void measure(const Options& o) {
  std::vector<Row> rows;
  std::vector<double> best, ccr;
  Random random(o.seed);
  for (uint32_t g = 0; g < o.graphs; ++g) {
    show_progress(g, o.graphs);
    QualityGraph graph = quality_graph(g, o.sizes, random);
    const Case c(std::move(graph.spec), k80_devices(graph.devices));
    auto results = run_methods(c.problem, o.policy.get());
    if (rows.empty()) rows.resize(results.size());
    double least = INFINITY;
    for (size_t i = 0; i < results.size(); ++i) {
      rows[i].method = results[i].first;
      rows[i].outcomes.push_back(results[i].second);
      least = std::min(least, results[i].second.makespan_us);
    }
    for (uint64_t seed = 1; seed <= o.searches; ++seed) {
      least = std::min(least, auto_makespan(c.problem, o.evaluations, seed));
    }
    best.push_back(least);
    ccr.push_back(graph.ccr);
  }
  show_progress(o.graphs, o.graphs);
  std::printf("%u graphs of %u to %u nodes, seed %llu; best known: %u searches of %s evaluations\n",
              o.graphs, o.sizes.min_nodes, o.sizes.max_nodes,
              static_cast<unsigned long long>(o.seed), o.searches,
              format_count(o.evaluations).c_str());
  print_table(rows, best, ccr);
}

}  // namespace

int main(int argc, char** argv) {
  measure(parse(argc, argv));
  return 0;
}
