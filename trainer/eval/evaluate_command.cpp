#include "trainer/eval/evaluate_command.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "trainer/base/config_keys.h"
#include "trainer/base/files.h"
#include "trainer/base/parallel.h"
#include "trainer/base/progress.h"
#include "trainer/data/own.h"
#include "trainer/data/source.h"
#include "trainer/data/test_sets.h"
#include "trainer/eval/equal_time.h"
#include "trainer/eval/evaluate.h"
#include "trainer/eval/evaluate_report.h"
#include "trainer/eval/fit.h"
#include "trainer/eval/measured.h"
#include "trainer/eval/named_policy.h"
#include "trainer/eval/set_arguments.h"

namespace placeto::train {
namespace {

constexpr std::string_view kStopping =
    "\nstopping once what is being measured is done; once more to stop at once\n";

// eval: every way of placing on every problem.
struct EvalArguments {
  std::vector<std::string> policies;
  SetArguments on{.sets = {"mixed", "large"}, .graphs = {}, .topologies = {}, .tests = {}};
  EvaluateOptions what;
  uint32_t threads = 0;
  std::string json, csv, svg, cdf, effort, bars;
  bool equal_time = false;

  // Those that an interrupted one leaves among them.
  std::vector<std::string> outputs() const {
    std::vector<std::string> all = {json, csv, svg, cdf, effort, bars};
    for (const std::string& path : {json, csv}) all.push_back(partial(path));
    return all;
  }
};

// No problem begins once it is asked for, and then not all are there.
struct Stopping {
  const std::atomic<bool>* asked;
  std::atomic<bool> came{false};

  bool look() {
    if (*asked) came = true;
    return came;
  }
};

std::optional<Graded> grade_one(const std::function<Instance()>& make,
                                const std::vector<NamedPolicy>& policies,
                                const EvaluateOptions& options, Stopping* stopping) {
  const Instance instance = make();
  EvaluateOptions what = options;
  std::vector<Graded> graded;
  std::vector<std::string> names;
  for (const NamedPolicy& p : policies) {
    if (stopping != nullptr && stopping->look()) return std::nullopt;
    std::optional<Graded> one = grade(instance, *p.policy, what);
    if (!one) return std::nullopt;
    graded.push_back(std::move(*one));
    names.push_back(p.name);
    // What does not depend on the policy is known by now.
    what.rnn_placements = 0;
    what.search_seconds = 0;
    what.heuristics = what.baselines = what.unguided = false;
  }
  return graded.size() == 1 ? std::move(graded[0]) : combine(std::move(graded), names);
}

// Under staged execution a policy is measured by all of what `place` does with it (outcome.h), and
// so are policies that leap, and those that are measured with them.
Status check_passes(const std::vector<TestSet>& sets, bool whole, uint32_t threads) {
  if (whole) {
    return Status::invalid(
        "--passes: a policy that leaps makes as many as place has it make, expected 0, or other "
        "policies");
  }
  const auto check = [](const Problem& problem) {
    if (!problem.is_staged()) return Status();
    return Status::invalid(
        "--passes: under staged execution a policy makes as many as place has it make, expected "
        "0, or another topology");
  };
  for (const TestSet& set : sets) {
    if (Status s = check_each(set, threads, check); !s.ok()) return s;
  }
  return {};
}

// All problems but those on which no placement was found that fits memory, at least one; fewer if
// it was stopped. A single policy fits one of them, too; of several, each is left out where it does
// not fit.
Result<std::vector<Graded>> grade_all(const std::vector<TestSet>& sets,
                                      const std::vector<NamedPolicy>& policies,
                                      EvaluateOptions what, uint32_t threads,
                                      Stopping* stopping = nullptr) {
  what.whole = std::ranges::any_of(
      policies, [](const NamedPolicy& p) { return p.policy->leap() != nullptr; });
  if (what.passes > 0) {
    if (Status s = check_passes(sets, what.whole, threads); !s.ok()) return s;
  }
  if (policies.size() == 1) {
    if (Status s = check_fits_any(*policies[0].policy, sets); !s.ok()) return s;
  }
  std::vector<std::pair<const TestSet*, uint32_t>> problems;
  for (const TestSet& set : sets) {
    for (uint32_t i = 0; i < set.problems.size(); ++i) problems.emplace_back(&set, i);
  }
  ProgressLine progress;
  std::vector<Graded> graded = parallel_collect<Graded>(
      static_cast<uint32_t>(problems.size()), threads,
      [&](uint32_t i) {
        const auto [set, number] = problems[i];
        std::optional<Graded> one = grade_one(set->problems[number], policies, what, stopping);
        if (one) one->set = set->name;
        return one;
      },
      progress.callback());
  if (graded.empty() && (stopping == nullptr || !stopping->came)) return none_fits(sets);
  return graded;
}

// What it was trained on says so, or what it began with may have been.
bool may_know_networks(const Policy& policy) {
  const Result<Config> config = parse_config(policy.provenance().config, "policy", Unread::kLeft);
  if (!config.ok() || !config->learn.start.empty()) return true;
  return config->data.graphs.empty() && config->data.set == "mixed" &&
         config->data.network_share > 0;
}

// Of the problems of `mixed`, those that are networks.
struct Networks {
  std::set<std::string> names;
  size_t problems = 0;

  void add(std::string_view set, double ccr, const std::string& family) {
    if (set != "mixed" || ccr != 0) return;
    names.insert(family);
    ++problems;
  }
};

// They are no news to some policies: training draws the same ones, for other devices.
std::string note_on(const Networks& networks, const std::vector<NamedPolicy>& policies) {
  const auto knows = [](const NamedPolicy& p) { return may_know_networks(*p.policy); };
  if (networks.problems == 0 || std::ranges::none_of(policies, knows)) return "";
  return fmt::format(
      "not held out: {} of mixed are networks that training draws, too, for other "
      "devices: {}\n",
      networks.problems, fmt::join(networks.names, ", "));
}

// The table, a line on networks that were trained on, one on problems that are left out, and one on
// policies that do not fit some of the problems.
std::string text_of(const std::vector<TestSet>& sets, const std::vector<Graded>& graded,
                    const std::vector<NamedPolicy>& policies) {
  Networks networks;
  for (const Graded& g : graded) networks.add(g.set, g.ccr, g.family);
  std::string text =
      report_table(graded) + note_on(networks, policies) + note_on_memory(sets, graded.size());
  const auto left_out = [](const Graded& g) { return !g.unfit.empty(); };
  const auto first = std::find_if(graded.begin(), graded.end(), left_out);
  if (first == graded.end()) return text;
  return text + fmt::format("left out where it does not fit, {} of {} problems: {}\n",
                            std::count_if(graded.begin(), graded.end(), left_out), graded.size(),
                            first->unfit);
}

Status run_equal_time(const EvalArguments& a, const std::vector<NamedPolicy>& policies) {
  EvalArguments fresh = a;
  fresh.on.tests.fresh = true;
  Result<std::vector<TestSet>> sets = fresh.on.open(policies);
  if (!sets.ok()) return sets.status();
  EqualTimeOptions options;
  if (a.threads > 0) options.threads = a.threads;
  ProgressLine progress;
  options.on_progress = progress.callback();
  const Interruption signals(kStopping);
  options.stop = signals.flag();
  size_t done = 0;
  const auto rows = measure_equal_time(*sets, *policies[0].policy, options, &done);
  if (!rows.ok()) return rows.status();
  if (done < sets->size()) {
    progress.clear();
    return leave_partial(signals, done, sets->size(), "sets",
                         {{a.csv, equal_time_csv(*rows)}, {a.json, equal_time_json(*rows)}});
  }
  if (rows->empty()) return none_fits(*sets);
  progress.clear();
  size_t measured = 0;
  for (const EqualTimeRow& row : *rows) measured += row.problems;
  measured /= options.budgets.size();  // a set has a row for each
  Networks networks;
  for (const TestSet& set : *sets) {
    for (const auto& problem : set.problems) {
      if (set.name != "mixed") break;
      const Instance instance = problem();
      networks.add(set.name, instance.ccr, instance.family);
    }
  }
  return deliver(
      fmt::format("makespan with the policy over makespan without it, geometric means\n{}{}{}",
                  equal_time_table(*rows), note_on(networks, {{policies[0]}}),
                  note_on_memory(*sets, measured)),
      {{a.csv, equal_time_csv(*rows)}, {a.json, equal_time_json(*rows)}});
}

Status run_eval(const EvalArguments& a) {
  const Result<std::vector<NamedPolicy>> policies = load_policies(a.policies);
  if (!policies.ok()) return policies.status();
  if (!std::is_sorted(a.what.budgets.begin(), a.what.budgets.end(), std::less_equal<>())) {
    return Status::invalid("--budgets: expected them ascending, each once");
  }
  if (a.equal_time && policies->size() > 1) {
    return Status::invalid(
        fmt::format("--equal-time: {} policies, expected one at a time", policies->size()));
  }
  const auto inputs = a.on.inputs(a.policies);
  if (!inputs.ok()) return inputs.status();
  if (Status s = check_outputs(a.outputs(), *inputs); !s.ok()) return s;
  if (a.equal_time) return run_equal_time(a, *policies);
  const Result<std::vector<TestSet>> sets = a.on.open(*policies);
  if (!sets.ok()) return sets.status();
  const Interruption signals(kStopping);
  Stopping stopping{signals.flag()};
  const auto measured = grade_all(*sets, *policies, a.what, a.threads, &stopping);
  if (!measured.ok()) return measured.status();
  const std::vector<Graded>& graded = *measured;
  std::vector<std::string> names;
  for (const NamedPolicy& p : *policies) names.push_back(p.name);
  if (stopping.came) {
    return leave_partial(
        signals, graded.size(), count_problems(*sets), "problems",
        {{a.json, graded.empty() ? "" : report_json(graded, names)}, {a.csv, report_csv(graded)}});
  }
  std::vector<Way> bars = {{Approach::kAuto}};
  for (const NamedPolicy& p : *policies) {
    bars.push_back({Approach::kPolicy, "", 0, policies->size() == 1 ? "" : p.name});
  }
  const std::vector<Way> shown = ways_to_show(graded);
  return deliver(text_of(*sets, graded, *policies), {{a.json, report_json(graded, names)},
                                                     {a.csv, report_csv(graded)},
                                                     {a.svg, cdf_svg(graded, shown)},
                                                     {a.cdf, cdf_csv(graded, shown)},
                                                     {a.effort, effort_svg(graded)},
                                                     {a.bars, sets_svg(graded, bars)}});
}

}  // namespace

void add_eval(cli::Program& program, Status& status) {
  const auto arguments = std::make_shared<EvalArguments>();
  EvalArguments& a = *arguments;
  cli::Command& eval = program.add("eval", "Measure policies on fixed test sets, or one's own");
  eval.arguments("POLICY", a.policies,
                 "Policy files, or 'default', which ships; called by the file's name, or by the "
                 "path where several have it")
      .required();
  a.on.add_to(eval);
  eval.flag("--equal-time", a.equal_time,
            "What one policy is worth in equal processor time, on problems that no other "
            "measurement has: --sets, --graphs, --problems, --csv, --json; one thread unless "
            "--threads asks for more")
      .not_with({"--budgets", "--baselines", "--rnn", "--long-searches", "--long-evaluations",
                 "--annealings", "--passes", "--svg", "--cdf", "--effort", "--bars"});
  eval.counts("--budgets", a.what.budgets, "Evaluations of the searches, ascending", 1);
  eval.flag("--baselines", a.what.baselines, "Also random, expert, scotch, metis, anneal");
  eval.count("--rnn", a.what.rnn_placements,
             "Also the RNN placer, trained on each graph with so many placements");
  eval.count("--long-searches", a.what.long_searches, "Searches for the best known placement");
  eval.count("--long-evaluations", a.what.long_evaluations, "Length of each", 1);
  eval.flag("--annealings", a.what.annealings,
            "All of them multilevel annealing, not only every other one");
  eval.count("--passes", a.what.passes,
             "Passes of the policy; 0: as place makes them (policies that leap: always)");
  eval.count("--threads", a.threads, "0: one per processor");
  eval.option("--json", "FILE", a.json, "Write the results to this file");
  eval.option("--csv", "FILE", a.csv, "One line per problem and method");
  eval.option("--svg", "FILE", a.svg, "Figure: share of problems within a ratio of the best known");
  eval.option("--cdf", "FILE", a.cdf, "The numbers of that figure");
  eval.option("--effort", "FILE", a.effort, "Figure: ratio over placements evaluated");
  eval.option("--bars", "FILE", a.bars, "Figure: ratio by test set");
  eval.footer(R"(Examples:
  placeto-train eval run/best.plpo --problems 20
  placeto-train eval mine.plpo --sets mixed large ring --budgets 100 1000 --svg mine.svg
  placeto-train eval default run/best.plpo --graphs 'nets/*.onnx' --topologies box.json
  placeto-train eval default --equal-time --sets mixed --problems 200

SIGINT (Ctrl-C), SIGTERM and SIGHUP stop it once the problems that are being measured are done. Those
that are, or with --equal-time the sets, are then in FILE.partial for --csv and --json, nothing else is
written, and the signal ends the program. A second one ends it at once.)");
  eval.action([arguments, &status] { status = run_eval(*arguments); });
}

// What the comparison after training is on. `own`: null without graphs of one's own.
static std::string over_what(const Config& config, const OwnSplit* own) {
  if (own != nullptr) {
    if (own->held_out.count() == 0) return "the problems learned from, since none is held out";
    const bool chosen_on_learned =
        config.architecture == "placeto" || find_algorithm(config.algorithm)->teaches_leaps;
    return std::string("the problems learned from, and those held out") +
           (chosen_on_learned ? "" : ", on which the best policy was chosen");
  }
  if (config.data.set != "mixed") {
    return fmt::format("problems of {} not learned from", config.data.set);
  }
  return config.architecture == "placeto"
             ? "problems drawn as those learned from, and not among them"
             : "the fixed test set mixed, whatever [data] says";
}

// A best policy that no step of the optimizer has changed is the one that training began with.
static std::string note_on_best(const Config& config, const Policy& best) {
  if (config.learn.start.empty() || best.provenance().steps > 0) return "";
  return fmt::format(
      "training found nothing better: the best policy is the one it began with, {}\n",
      config.learn.start == kShips ? "the shipped one" : config.learn.start);
}

Status compare_after_training(const Config& config, const std::string& policy,
                              double training_seconds) {
  EvaluateOptions what;
  what.budgets = {100};
  what.long_searches = 1;
  what.long_evaluations = 3'000;
  const Result<ProblemSource> problems = ProblemSource::open(config);
  if (!problems.ok()) return problems.status();
  const OwnSplit* own = problems->own();
  std::vector<TestSet> sets;
  if (own == nullptr) {
    sets.push_back(unseen_by(config, 48));
  } else {
    size_t count = 0;
    for (const auto& [name, part] :
         {std::pair{"learned", &own->train}, {"held out", &own->held_out}}) {
      TestSet set{name, {}};
      for (uint32_t i = 0; i < std::min(part->count(), config.check.problems); ++i) {
        set.problems.push_back([part, i] { return part->problem(i); });
      }
      count += set.problems.size();
      if (!set.problems.empty()) sets.push_back(std::move(set));
    }
    what.search_seconds = training_seconds / double(count);
  }
  std::vector<std::string> names = {policy};
  if (own != nullptr) names.insert(names.begin(), kShips);
  const Result<std::vector<NamedPolicy>> policies = load_policies(names);
  if (!policies.ok()) return policies.status();
  const auto graded = grade_all(sets, *policies, what, config.threads);
  if (!graded.ok()) return graded.status();
  return deliver(
      fmt::format(
          "\nMakespan over the best known, geometric means over {}; auto: what place "
          "finds without a policy and a budget\n{}",
          over_what(config, own),
          text_of(sets, *graded, *policies) + note_on_best(config, *policies->back().policy)),
      {});
}

}  // namespace placeto::train
