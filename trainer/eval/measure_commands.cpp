#include "trainer/eval/measure_commands.h"

#include <memory>

#include <fmt/format.h>

#include "trainer/base/family_names.h"
#include "trainer/base/files.h"
#include "trainer/base/progress.h"
#include "trainer/data/own.h"
#include "trainer/eval/evaluate_command.h"
#include "trainer/eval/measured.h"
#include "trainer/eval/named_policy.h"
#include "trainer/eval/paper_table.h"
#include "trainer/eval/pareto.h"
#include "trainer/eval/set_arguments.h"
#include "trainer/eval/starts.h"

namespace placeto::train {
namespace {

struct ParetoArguments {
  std::string policy, csv, svg;
  ParetoOptions what;
};

Status run_pareto(const ParetoArguments& a) {
  const Result<NamedPolicy> policy = load_policy(a.policy);
  if (!policy.ok()) return policy.status();
  const std::vector<std::string> outputs = {a.csv, a.svg};
  if (Status s = check_outputs(outputs, *SetArguments().inputs({a.policy})); !s.ok()) return s;
  ProgressLine progress;
  ParetoOptions options = a.what;
  options.on_progress = progress.callback();
  const auto points = measure_pareto(*policy->policy, options);
  if (!points.ok()) return points.status().at(policy->name);
  progress.clear();
  return deliver(pareto_table(*points),
                 {{a.csv, pareto_csv(*points)}, {a.svg, pareto_svg(*points)}});
}

void add_pareto(cli::Program& program, Status& status) {
  const auto arguments = std::make_shared<ParetoArguments>();
  ParetoArguments& a = *arguments;
  cli::Command& pareto = program.add(
      "pareto", "Measure time against quality, with a policy and without, on random graphs");
  pareto.argument("POLICY", a.policy, "Policy file, or 'default'").required();
  pareto.counts("--sizes", a.what.nodes, "Nodes of the graphs", 1, kMostOwnNodes);
  pareto.count("--problems", a.what.problems, "Graphs of each size", 1);
  pareto.option("--csv", "FILE", a.csv, "One line per size, budget and way");
  pareto.option("--svg", "FILE", a.svg, "Figure");
  pareto.action([arguments, &status] { status = run_pareto(*arguments); });
}

struct StartsArguments {
  std::vector<std::string> policies;
  SetArguments on{.sets = with_families({}), .graphs = {}, .topologies = {}, .tests = {}};
  StartOptions what;
  std::string csv;
};

Status run_starts(const StartsArguments& a) {
  const Result<std::vector<NamedPolicy>> policies = load_policies(a.policies);
  if (!policies.ok()) return policies.status();
  const auto inputs = a.on.inputs(a.policies);
  if (!inputs.ok()) return inputs.status();
  if (Status s = check_outputs({&a.csv, 1}, *inputs); !s.ok()) return s;
  const Result<std::vector<TestSet>> sets = a.on.open(*policies);
  if (!sets.ok()) return sets.status();
  StartOptions options = a.what;
  ProgressLine progress;
  options.on_progress = progress.callback();
  const Result<std::vector<StartRow>> rows = measure_starts(*sets, *policies, options);
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return none_fits(*sets);
  progress.clear();
  size_t measured = 0;
  for (const StartRow& row : *rows) measured += row.graphs;
  measured /= policies->size();  // a set has a row for each
  return deliver(fmt::format("makespan of merged graphs over the best heuristic's\n{}{}",
                             starts_table(*rows), note_on_memory(*sets, measured)),
                 {{a.csv, starts_csv(*rows)}});
}

void add_starts(cli::Program& program, Status& status) {
  const auto arguments = std::make_shared<StartsArguments>();
  StartsArguments& a = *arguments;
  cli::Command& starts = program.add(
      "starts",
      "Measure policies of the published architecture from the best heuristic, one device and "
      "random devices");
  starts.arguments("POLICY", a.policies, "Policy files").required();
  a.on.add_to(starts);
  starts.count("--passes", a.what.passes, "Of the policy");
  starts.count("--rnn", a.what.rnn_placements,
               "Also the RNN placer, trained on each graph with so many placements");
  starts.count("--threads", a.what.threads, "0: one per processor");
  starts.option("--csv", "FILE", a.csv, "One line per set, policy and start");
  starts.action([arguments, &status] { status = run_starts(*arguments); });
}

struct TableArguments {
  std::vector<std::string> policies;
  PaperOptions what;
  std::string csv;
};

Status run_table(const TableArguments& a) {
  const Result<std::vector<NamedPolicy>> policies = load_policies(a.policies);
  if (!policies.ok()) return policies.status();
  if (Status s = check_outputs({&a.csv, 1}, *SetArguments().inputs(a.policies)); !s.ok()) return s;
  ProgressLine progress;
  PaperOptions options = a.what;
  options.on_progress = progress.callback();
  const std::vector<PaperRow> rows = measure_paper(*policies, options);
  progress.clear();
  return deliver(
      fmt::format("milliseconds of a training step (over a single GPU)\n{}", paper_table(rows)),
      {{a.csv, paper_csv(rows)}});
}

void add_table(cli::Program& program, Status& status) {
  const auto arguments = std::make_shared<TableArguments>();
  TableArguments& a = *arguments;
  cli::Command& table =
      program.add("table", "Measure the networks of the paper's table: Inception-V3, NMT, NASNet");
  table.arguments("POLICY", a.policies, "Policy files").required();
  table.option("--network", "NAME", a.what.network, "This network alone").one_of(paper_networks());
  table.count("--groups", a.what.groups,
              "Nodes that policies of the published architecture and the RNN placer place, at most "
              "(default: 250, of NMT 600)");
  table.count("--rnn", a.what.rnn_placements, "Placements of the RNN placer; 0: leave it out");
  table.count("--hierarchical", a.what.hierarchical_placements,
              "Placements of the hierarchical placer; 0: leave it out");
  table.count(
      "--trained", a.what.trained_placements,
      "Placements of the published method, trained on each network itself in whole iterations, so "
      "that the table may have more; 0: leave it out");
  table.count("--seed", a.what.sampling_seed, "Of those three");
  table.option("--csv", "FILE", a.csv, "One line per network, GPUs and way");
  table.action([arguments, &status] { status = run_table(*arguments); });
}

}  // namespace

void add_measurements(cli::Program& program, Status& status) {
  add_eval(program, status);
  add_pareto(program, status);
  add_starts(program, status);
  add_table(program, status);
}

}  // namespace placeto::train
