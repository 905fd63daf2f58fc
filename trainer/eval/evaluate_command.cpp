#include "trainer/eval/evaluate_command.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "runtime/policy/pairwise/features.h"
#include "trainer/base/config.h"
#include "trainer/base/files.h"
#include "trainer/base/parallel.h"
#include "trainer/base/progress.h"
#include "trainer/data/test_sets.h"
#include "trainer/eval/evaluate.h"
#include "trainer/eval/evaluate_report.h"
#include "trainer/eval/paper_table.h"
#include "trainer/eval/pareto.h"
#include "trainer/eval/starts.h"

namespace placeto::train {
namespace {

struct Arguments {
  std::vector<std::string> policies, sets = {"mixed", "large"};
  std::string json, csv, svg, cdf, effort, bars;
  TestSetOptions tests;
  EvaluateOptions what;
  uint32_t threads = 0;
  bool pareto = false, table = false, starts = false;
  ParetoOptions time;
  PaperOptions paper;
};

Status write_all(std::initializer_list<std::pair<std::string, std::string>> files) {
  for (const auto& [path, content] : files) {
    if (path.empty()) continue;
    if (Status s = write_whole(path, content); !s.ok()) return s;
  }
  return {};
}

bool on_terminal() {
  return isatty(STDOUT_FILENO) != 0;
}

Result<std::vector<NamedPolicy>> load_policies(const std::vector<std::string>& paths) {
  std::vector<NamedPolicy> policies;
  for (const std::string& path : paths) {
    auto policy = Policy::load_file(path, Policy::File::kRead, known_features());
    if (!policy.ok()) {
      const Status& status = policy.status();
      return status.code() == StatusCode::kIo ? Status::bad_input(status.message()) : status;
    }
    policies.push_back({std::filesystem::path(path).stem().string(), std::move(*policy)});
  }
  return policies;
}

// A policy of the published architecture is measured on graphs merged as those it was trained on.
uint32_t groups_trained_on(const Policy& policy) {
  if (policy.architecture() != Architecture::kPlaceto) return 0;
  const Result<Config> config = parse_config(policy.provenance().config, "policy");
  return config.ok() ? config->data.groups : 0;
}

std::optional<Graded> grade_one(const std::function<Instance()>& make,
                                const std::vector<NamedPolicy>& policies,
                                const EvaluateOptions& options) {
  const Instance instance = make();
  EvaluateOptions what = options;
  std::vector<Graded> graded;
  std::vector<std::string> names;
  for (const NamedPolicy& p : policies) {
    auto one = grade(instance, *p.policy, what);
    if (!one) return std::nullopt;
    graded.push_back(std::move(*one));
    names.push_back(p.name);
    // What does not depend on the policy is known by now.
    what.rnn_placements = 0;
    what.heuristics = what.baselines = what.unguided = false;
  }
  return graded.size() == 1 ? std::move(graded[0]) : combine(std::move(graded), names);
}

TestSetOptions tests_for(const Arguments& arguments, const std::vector<NamedPolicy>& policies) {
  TestSetOptions tests = arguments.tests;
  for (const NamedPolicy& p : policies) {
    if (tests.groups == 0) tests.groups = groups_trained_on(*p.policy);
  }
  return tests;
}

Result<std::vector<Graded>> grade_sets(const Arguments& arguments,
                                       const std::vector<NamedPolicy>& policies) {
  const TestSetOptions tests = tests_for(arguments, policies);
  std::vector<std::pair<std::string, std::function<Instance()>>> problems;
  for (const std::string& name : arguments.sets) {
    Result<TestSet> set = test_set(name, tests);
    if (!set.ok()) return set.status();
    for (auto& problem : set->problems) problems.emplace_back(name, std::move(problem));
  }
  std::vector<std::optional<Graded>> found(problems.size());
  const auto grade_problem = [&](uint32_t i) {
    found[i] = grade_one(problems[i].second, policies, arguments.what);
    if (found[i]) found[i]->set = problems[i].first;
  };
  ProgressLine progress;
  parallel_for(static_cast<uint32_t>(found.size()), arguments.threads, grade_problem,
               progress.callback());
  std::vector<Graded> graded;
  for (auto& g : found) {
    if (g) graded.push_back(std::move(*g));
  }
  return graded;
}

Status run_sets(const Arguments& arguments, const std::vector<NamedPolicy>& policies) {
  Result<std::vector<Graded>> graded = grade_sets(arguments, policies);
  if (!graded.ok()) return graded.status();
  if (graded->empty()) return Status::invalid("no problem has a placement that fits its memory");
  if (policies.size() == 1 && !(*graded)[0].unfit.empty()) {
    return Status::invalid((*graded)[0].unfit);
  }
  fmt::print("{}", report_table(*graded, on_terminal()));
  for (const Graded& g : *graded) {
    if (g.unfit.empty()) continue;
    fmt::print("left out where it does not fit: {}\n", g.unfit);
    break;
  }
  std::vector<std::string> bars = {"auto"};
  for (const NamedPolicy& p : policies) bars.push_back(policies.size() == 1 ? "policy" : p.name);
  const std::vector<std::string> shown = methods_to_show(*graded);
  return write_all({{arguments.json, report_json(*graded, policies[0].name)},
                    {arguments.csv, report_csv(*graded)},
                    {arguments.svg, cdf_svg(*graded, shown)},
                    {arguments.cdf, cdf_csv(*graded, shown)},
                    {arguments.effort, effort_svg(*graded)},
                    {arguments.bars, sets_svg(*graded, bars)}});
}

Status run_pareto(const Arguments& arguments, const Policy& policy) {
  ProgressLine progress;
  ParetoOptions options = arguments.time;
  options.on_progress = progress.callback();
  const std::vector<ParetoPoint> points = measure_pareto(policy, options);
  progress.clear();
  fmt::print("{}", pareto_table(points, on_terminal()));
  return write_all({{arguments.csv, pareto_csv(points)}, {arguments.svg, pareto_svg(points)}});
}

Status run_starts(const Arguments& arguments, const std::vector<NamedPolicy>& policies) {
  StartOptions options;
  if (arguments.what.passes > 0) options.passes = arguments.what.passes;
  options.rnn_placements = arguments.what.rnn_placements;
  options.threads = arguments.threads;
  std::vector<StartRow> rows;
  for (const std::string& name : arguments.sets) {
    Result<TestSet> set = test_set(name, tests_for(arguments, policies));
    if (!set.ok()) return set.status();
    ProgressLine progress;
    options.on_progress = progress.callback();
    const auto found = measure_starts(*set, policies, options);
    if (!found.ok()) return found.status();
    rows.insert(rows.end(), found->begin(), found->end());
  }
  fmt::print("makespan of merged graphs over the best heuristic's\n{}",
             starts_table(rows, on_terminal()));
  return write_all({{arguments.csv, starts_csv(rows)}});
}

Status run_table(const Arguments& arguments, const std::vector<NamedPolicy>& policies) {
  PaperOptions options = arguments.paper;
  options.rnn_placements = arguments.what.rnn_placements;
  if (arguments.tests.groups > 0) options.groups = arguments.tests.groups;
  ProgressLine progress;
  options.on_progress = progress.callback();
  const std::vector<PaperRow> rows = measure_paper(policies, options);
  progress.clear();
  fmt::print("milliseconds of a training step (over a single GPU)\n{}",
             paper_table(rows, on_terminal()));
  return write_all({{arguments.csv, paper_csv(rows)}});
}

Status run(const Arguments& arguments) {
  Result<std::vector<NamedPolicy>> policies = load_policies(arguments.policies);
  if (!policies.ok()) return policies.status();
  // Before measuring, which may take hours.
  for (const std::string* path : {&arguments.json, &arguments.csv, &arguments.svg, &arguments.cdf,
                                  &arguments.effort, &arguments.bars}) {
    if (path->empty()) continue;
    if (Status s = check_writable(*path); !s.ok()) return s;
  }
  if (arguments.pareto) return run_pareto(arguments, *(*policies)[0].policy);
  if (arguments.starts) return run_starts(arguments, *policies);
  if (arguments.table) return run_table(arguments, *policies);
  return run_sets(arguments, *policies);
}

}  // namespace

std::function<Status()> add_eval(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* eval = app.add_subcommand("eval", "Measures policies on fixed test sets");
  eval->add_option("POLICY", a->policies, "Policy files")->required();
  eval->add_option("--sets", a->sets,
                   "mixed, large, devices-12, devices-16, ring, bus, tree; cifar10, ptb, nmt, each "
                   "also with -seen, -slow, -fast");
  eval->add_option("--problems", a->tests.problems, "Problems of each set, at most");
  eval->add_option("--large", a->tests.large, "Random graphs of 1,000 nodes");
  eval->add_option("--devices", a->tests.devices, "GPUs for cifar10, ptb and nmt")
      ->check(CLI::Range(2, 64));
  eval->add_option("--groups", a->tests.groups,
                   "Merge operators of cifar10, ptb and nmt into at most so many nodes for a "
                   "policy of the published architecture and for the RNN placer; 0: as the policy "
                   "was trained");
  eval->add_option("--budgets", a->what.budgets, "Evaluations of the searches, ascending");
  eval->add_flag("--baselines", a->what.baselines, "Also random, expert, scotch, metis, anneal");
  eval->add_option("--rnn", a->what.rnn_placements,
                   "Also the RNN placer, trained on each graph with so many placements");
  eval->add_option("--long-searches", a->what.long_searches,
                   "Searches for the best known placement");
  eval->add_option("--long-evaluations", a->what.long_evaluations, "Length of each");
  eval->add_flag("--annealings", a->what.annealings,
                 "All of them multilevel annealing, not only every other one");
  eval->add_option("--passes", a->what.passes, "Passes of the policy; 0: as place makes them");
  eval->add_option("--threads", a->threads, "0: one per processor");
  eval->add_option("--json", a->json, "Write the results to this file");
  eval->add_option("--csv", a->csv, "One line per problem and method");
  eval->add_option("--svg", a->svg, "Figure: share of problems within a ratio of the best known");
  eval->add_option("--cdf", a->cdf, "The numbers of that figure");
  eval->add_option("--effort", a->effort, "Figure: ratio over placements evaluated");
  eval->add_option("--bars", a->bars, "Figure: ratio by test set");
  auto* pareto = eval->add_flag("--pareto", a->pareto,
                                "Time against quality, with the policy and without: --csv, --svg");
  eval->add_option("--sizes", a->time.nodes, "Nodes of the graphs of --pareto");
  eval->add_option("--pareto-problems", a->time.problems, "Graphs of each size of --pareto");
  eval->add_flag("--table", a->table, "The paper's table: Inception-V3, NMT, NASNet; --csv, --rnn")
      ->excludes(pareto);
  eval->add_flag("--starts", a->starts,
                 "Policies of the published architecture from the best heuristic, one device and "
                 "random devices; --passes, --rnn, --csv")
      ->excludes(pareto);
  eval->footer(R"(Examples:
  placeto-train eval run/best.plpo --problems 20
  placeto-train eval mine.plpo --sets mixed large ring --budgets 100 1000 --svg mine.svg
  placeto-train eval mine.plpo --pareto --sizes 100 1000 --csv pareto.csv --svg pareto.svg)");
  return [a] { return run(*a); };
}

Status compare_with_heuristics(const std::string& policy) {
  Arguments arguments;
  arguments.policies = {policy};
  arguments.sets = {"mixed"};
  arguments.tests.problems = 48;
  arguments.what.budgets = {100};
  arguments.what.long_searches = 1;
  arguments.what.long_evaluations = 3'000;
  fmt::print(
      "\nMakespan over the best known, geometric means over test problems; "
      "auto: the best heuristic\n");
  return run(arguments);
}

}  // namespace placeto::train
