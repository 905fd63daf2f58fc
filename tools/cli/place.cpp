// placeto place: the best placement found, and the candidates it was chosen from.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "runtime/placer/placer.h"
#include "runtime/placer/steps.h"
#include "runtime/search/polish.h"
#include "tools/cli/candidate_table.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/engine.h"
#include "tools/cli/explain.h"
#include "tools/cli/files.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/methods.h"
#include "tools/cli/outcome.h"
#include "tools/cli/problem_input.h"
#include "tools/cli/rules.h"
#include "tools/cli/signed_policy.h"
#include "tools/cli/times.h"
#include "tools/cli/topologies.h"
#include "tools/io/write.h"
#include "tools/report/status_line.h"

namespace placeto::cli {
namespace {

constexpr const char* kPlaceFooter = R"(What a placement was "placed by", beside the methods above:
{}
Examples:
  placeto place graph.json --topology 2xk80 -o placement.json
  placeto place graph.json --topology 2xk80 --budget-evals 1000 --report report.html
  placeto place graph.json --topology 4xk80 --method heft --json
  placeto place graph.json --topology 4xk80 --policy my.plpo --explain 'op:Conv*'
  placeto place graph.json --topology edge.json --pin input=cpu:0 --forbid 17=npu:0 \
      --colocate embed,unembed --memory-headroom 0.1
  placeto place graph.json --topology edge.json --pin 'op:Conv*=gpu:0' --forbid 'decoder.*=npu:0'

Nodes and devices are named, or given by index; nodes also by a pattern over their names, or with
op: over their operators (* any characters, ? one). A budget of evaluations gives the same answer on
every machine; a budget of milliseconds does not. With --engine, what a provider lacks is never
placed on it, and one device is kept unless leaving it is predicted to gain more than the engine's
tolerance (or --tolerance).

The first Ctrl-C, SIGTERM or SIGHUP ends the placing, whose best so far is printed and written, with
a note. After Ctrl-C that is what was asked for, with exit status 0; after the others the signal then
ends the program.)";

struct PlaceOptions {
  Common common;
  ModelOptions model;
  std::string graph, topology, out, explain;
  std::string policy = kDefaultPolicy;
  std::string public_key, signature, signed_name;
  MethodChoice method;
  bool gives_tolerance = false;  // itself, and not the engine
  RuleOptions rules;
  EngineOptions engine;
  Reports reports;
};

// What came of a placing, in the time there was.
struct Found {
  PlaceResult result;
  std::vector<CandidateRow> rows = {};
  std::vector<ReasonSpec> reasons = {};
  bool in_time = true;  // for reports, too
};

// The placement and how it was found.
PlacementSpec with_report(PlacementSpec placement, const PlaceResult& result,
                          std::span<const CandidateRow> rows) {
  for (const CandidateRow& row : rows) {
    placement.candidates.push_back(
        {row.method, row.makespan_us, row.feasible, row.bottleneck_us, row.peak_memory_bytes});
  }
  placement.lower_bound_us = result.bounds.best_us();
  placement.place_time_us = result.place_us;
  placement.bottleneck_us = result.timeline.bottleneck_us;
  placement.note = result.note;
  placement.proved = result.proved;
  placement.replicas_us = result.replicas_us;
  placement.sequential_us = result.sequential_us;
  return placement;
}

// Where the bound leaves room, a search mostly finds better: 1,000 evaluations 2 to 21% of 24
// problems, mostly training steps (tests/bench/results/search.md, "Several hosts").
std::string may_be_searched(const MethodChoice& method, const PlaceResult& result) {
  constexpr double kRoom = 1.05;
  const bool searched = method.name != kAuto || method.options.budget.limited();
  const double bound = result.bounds.best_us();
  if (searched || result.stopped || result.proved || bound == 0) return "";
  if (result.timeline.makespan_us <= kRoom * bound) return "";
  return "without a budget: --budget 1k (evaluations) or --budget 1s may find better\n";
}

std::string summary(const Problem& problem, const MethodChoice& method, const PlaceResult& result,
                    std::span<const CandidateRow> rows) {
  const double bound = result.bounds.best_us();
  std::string text = fmt::format(
      "placed by {}: makespan {}, lower bound {}, took {}\n", printable(result.best.method),
      format_us(result.timeline.makespan_us),
      bound > 0 || result.proved ? format_us(bound) : "not known", format_us(result.place_us));
  if (!result.note.empty()) text += "note: " + printable(result.note) + "\n";
  const bool for_throughput = !problem.is_for_latency();
  if (result.proved) {
    text +=
        fmt::format("proved optimal: no {}\n",
                    for_throughput ? "pipeline has a smaller bottleneck" : "placement is better");
  }
  if (!for_throughput) text += may_be_searched(method, result);
  if (!result.timeline.stages.empty()) {
    text += plural(result.timeline.stages.size(), "stage") + "\n";
  }
  if (for_throughput) {
    text += fmt::format("bottleneck {}\n", format_us(result.timeline.bottleneck_us));
    if (result.replicas_us > 0) {
      const double more = result.timeline.bottleneck_us / result.replicas_us - 1;
      text += fmt::format(
          "a copy of the model on every device: {} a run, {:.1f}% {} runs a second\n",
          format_us(result.replicas_us), 100 * std::fabs(more), more < 0 ? "fewer" : "more");
    }
    if (result.sequential_us > 0) {
      text += fmt::format("one run at a time, placed for latency: {} a run\n",
                          format_us(result.sequential_us));
    }
  }
  return heading(problem) + "\n" + candidate_table(problem, result.bounds, rows) + "\n" +
         fitted(text);
}

std::shared_ptr<const Policy> chosen_policy(const PlaceOptions& options) {
#ifdef PLACETO_HAVE_SODIUM
  if (!options.public_key.empty()) {
    return load_signed_policy(options.policy, options.signed_name, options.public_key,
                              options.signature);
  }
#endif
  return load_policy(options.policy);
}

// What is wanted and there was no time for.
std::string left_out(const PlaceOptions& options, std::span<const CandidateRow> rows,
                     size_t unexplained, bool in_time) {
  std::string text;
  const auto add = [&text](const std::string& what) { add_note(what, text); };
  const auto unsimulated = std::count_if(
      rows.begin(), rows.end(), [](const auto& row) { return row.peak_memory_bytes.empty(); });
  if (unsimulated > 0) {
    add("no time for the memory of " + plural(static_cast<size_t>(unsimulated), "candidate"));
  }
  if (unexplained > 0) add("no time to explain " + plural(unexplained, "more node"));
  const Reports& reports = options.reports;
  if (!in_time && !reports.page.empty()) add("no time for --report: see 'placeto report'");
  if (!in_time && !reports.trace.empty()) add("no time for --trace: see 'placeto simulate'");
  return text;
}

// The candidate that is predicted to be better than the one that was kept; null: none is.
const Candidate* better_than_kept(const PlaceResult& result) {
  const Candidate* least = &result.best;
  for (const Candidate& candidate : result.candidates) {
    if (candidate.score < least->score) least = &candidate;
  }
  return least->score.objective_us < result.best.score.objective_us ? least : nullptr;
}

// "within the engine's tolerance of 5% of brief (251.2 ms), with fewer stages; ..."; "" if nothing
// is better.
std::string why_kept(const PlaceOptions& options, const PlaceResult& result) {
  const Candidate* better = better_than_kept(result);
  const double tolerance = options.method.options.tolerance;
  if (better == nullptr || options.method.name != kAuto || tolerance <= 0) return "";
  return fmt::format(
      "{} is within the {}tolerance of {:.4g}% of {} ({}), {}; --tolerance 0 takes {}",
      result.best.method, options.gives_tolerance ? "" : "engine's ", 100 * tolerance,
      better->method, format_us(better->score.objective_us),
      result.timeline.stages.empty() ? "and simpler" : "with fewer stages", better->method);
}

// What else a reader cannot tell from "a search" being no candidate.
std::string search_in_vain(const MethodChoice& method, const PlaceResult& result) {
  const auto found_better = [&](const Step& step) {
    return step.by_budget &&
           std::ranges::count(result.candidates, step.name, &Candidate::method) > 0;
  };
  if (!result.searched || result.stopped) return "";
  if (std::ranges::any_of(auto_steps(), found_better)) return "";
  const Budget& budget = method.options.budget;
  std::string most;
  if (budget.evaluations > 0) most = plural(budget.evaluations, "evaluation");
  if (budget.milliseconds > 0) {
    most += (most.empty() ? "" : " or ") + format_us(1e3 * budget.milliseconds);
  }
  return "a search of " + most + " found nothing better";
}

std::string why_not_polished(const PlaceOptions& options, const Problem& problem,
                             const PlaceResult& result) {
  const MethodChoice& method = options.method;
  if (method.name != kAuto) return "only the method 'auto' ends where no move of one node gains";
  if (polish_pays(problem, method.options.budget.evaluations)) {
    const Candidate* better = better_than_kept(result);
    return better == nullptr ? "stopped before every move was tried"
                             : "kept within the tolerance of " + better->method;
  }
  return fmt::format(
      "over the size up to which every placement is polished (--budget-evals {} polishes it)",
      evaluations_to_polish(problem));
}

void check_usage(const PlaceOptions& options) {
  const bool own_policy = options.policy != "none" && options.policy != kDefaultPolicy;
  if (!own_policy && !options.public_key.empty()) {
    throw Failure(kBadUsage, "--public-key needs --policy FILE: a policy that is signed");
  }
  check_outputs({options.out, options.reports.page, options.reports.trace});
}

// What came through a pipe cannot be read again.
bool comes_through_pipe(const std::string& engine) {
  std::error_code error;
  return engine == "-" || std::filesystem::is_fifo(engine, error);
}

// What the reader should know of how it was placed.
std::vector<std::string> notes_on(const PlaceOptions& options, const Engine& engine) {
  std::vector<std::string> notes = engine.choice().notes.all();
  const MethodChoice& method = options.method;
  if (method.options.budget.limited() && !takes_budget(method.name)) {
    notes.push_back(fmt::format("the method '{}' takes no budget", method.name));
  }
  const bool places_by_policy = method.name == kAuto || method.name == kPolicyAlone;
  if (method.options.samples > 0 && !places_by_policy) {
    notes.push_back(fmt::format("--samples draws from a policy, not from '{}'", method.name));
  } else if (method.options.samples > 0 && method.policy == nullptr) {
    notes.push_back("--samples draws from a policy, and there is none");
  }
  if (options.gives_tolerance && method.name != kAuto) {
    notes.push_back(fmt::format("--tolerance is of '{}': '{}' has one placement to hand out", kAuto,
                                method.name));
  }
  if (comes_through_pipe(options.engine.name) && !options.out.empty()) {
    notes.push_back(
        "the engine came through a pipe and is not recorded: give it again, by --engine FILE, "
        "where the placement is simulated or reported");
  }
  return notes;
}

std::string why_stopped() {
  const std::string by = Watch::interrupted() ? fmt::format("by {} ", Interruption::name()) : "";
  return "stopped " + by + "before everything was tried";
}

Found find_placement(const PlaceOptions& options, const Problem& problem,
                     std::span<const uint32_t> explained, const Engine& engine, Watch& watch) {
  Result<PlaceResult> placed = run_method(problem, options.method, watch);
  if (placed.status().code() == StatusCode::kNotFound && options.method.name == kAuto) {
    require(Status(StatusCode::kNotFound,
                   placed.status().message() + "; a larger --budget may find a placement"));
  }
  Found found{.result = require(std::move(placed))};
  PlaceResult& result = found.result;
  found.rows = candidate_rows(problem, result, reports_fit(problem, 0) ? nullptr : &watch.stop());
  if (explained.size() > 1) watch.counts("explaining node", explained.size());
  const bool takes_time = explained.size() > 1 || !reports_fit(problem, 0);
  found.reasons = reasons_of(problem, result.best, explained, takes_time ? &watch : nullptr);
  watch.be_quiet();
  found.in_time = reports_fit(problem, watch.left_ms());
  std::vector<std::string> notes = notes_on(options, engine);
  notes.push_back(why_kept(options, result));
  notes.push_back(search_in_vain(options.method, result));
  if (result.stopped) notes.push_back(why_stopped());
  const size_t unexplained = explained.size() - found.reasons.size();
  notes.push_back(left_out(options, found.rows, unexplained, found.in_time));
  for (const std::string& note : notes) add_note(note, result.note);
  return found;
}

PlacementSpec describe(const PlaceOptions& options, const Problem& problem, const Found& found) {
  const Graph& graph = problem.graph();
  const Topology& topology = problem.topology();
  const Candidate& best = found.result.best;
  PlacementSpec placement = with_report(
      describe_placement(graph, topology, best.assignment, found.result.timeline, best.method),
      found.result, found.rows);
  const std::string unlike = note_on_numbers(graph, topology);  // said on standard error before
  add_note(unlike, placement.note);
  for (const std::string& dim : options.model.dims) {
    placement.dims.push_back(dim_text(dim_setting(dim)));
  }
  if (!comes_through_pipe(options.engine.name)) placement.engine = options.engine.name;
  return placement;
}

void show(const PlaceOptions& options, const Problem& problem, const Found& found,
          const PlacementSpec& placement) {
  const std::string may_gain = options.explain.empty() || found.result.one_move_optimal
                                   ? ""
                                   : why_not_polished(options, problem, found.result) +
                                         ", so that a move listed here may be an improvement";
  if (options.common.json) {
    PlacementSpec report = placement;
    report.reasons = found.reasons;
    add_note(may_gain, report.note);
    print_json(require(to_json(report), kInternalError));
    return;
  }
  print(summary(problem, options.method, found.result, found.rows));
  if (options.explain.empty()) return;
  const std::string& method = found.result.best.method;
  if (const std::string what = what_found(method); !what.empty()) {
    print(fitted(fmt::format("\n{}: {}\n", printable(method), what)));
  }
  if (!may_gain.empty()) print(fitted("\nnote: " + may_gain + "\n"));
  print("\n" + explanation(problem, found.reasons));
}

void write_files(const PlaceOptions& options, const Problem& problem, const Found& found,
                 PlacementSpec placement, Watch& watch) {
  placement.place_time_us = 0;  // equal inputs make equal files
  OutputFiles files;
  if (!options.out.empty()) {
    Result<std::string> content = encoded(placement, encoding_for(options.out));
    if (!content.ok()) require(content.status().at(options.out), kInternalError);
    files.add(options.out, *std::move(content));
    if (!reports_fit(problem, 0)) std::exchange(files, {}).write();  // not lost with a long report
  }
  if (found.in_time) {
    watch.stop_listening();
    StatusLine line;
    if (!reports_fit(problem, 0) && !options.reports.page.empty())
      line.show("writing the report ...");
    const PlaceResult& result = found.result;
    ReportPlacement shown;
    shown.method = result.best.method;
    shown.assignment = result.best.assignment;
    shown.proved = result.proved;
    shown.candidates = found.rows;
    shown.replicas_us = result.replicas_us;
    shown.note = result.note;
    add_reports(files, options.reports, problem, result.bounds, result.timeline, std::move(shown));
  }
  files.write();
}

void run_place(PlaceOptions& options) {
  check_usage(options);
  const Graph graph = load_graph(options.graph, options.model);
  Engine engine(options.engine);
  const Topology topology = engine.load(options.topology);
  check_cost_kinds(options.model.costs, graph, {&topology});
  note_times(options.graph, graph, options.topology, topology);
  Rules rules = resolve_rules(options.rules, graph, topology);
  engine.restrict(graph, topology, rules);
  double& tolerance = options.method.options.tolerance;
  options.gives_tolerance = tolerance >= 0;
  if (tolerance < 0) tolerance = engine.choice().tolerance;
  options.method.policy = chosen_policy(options);
  options.method.stop_on_interrupt = true;
  Watch watch = watch_for(options.method);  // what it reads is read
  const Problem problem = engine.explaining([&] {
    return build_problem(options.graph, graph, options.topology, topology, rules, &watch.stop());
  });
  const std::vector<uint32_t> explained = nodes_to_explain(options.explain, graph, topology);
  const Found found = find_placement(options, problem, explained, engine, watch);
  const PlacementSpec placement = describe(options, problem, found);
  show(options, problem, found, placement);
  write_files(options, problem, found, placement, watch);
}

}  // namespace

void add_place(Program& program) {
  Command& command = program.add("place", "Place a graph on a topology");
  auto options = std::make_shared<PlaceOptions>();
  command.argument("GRAPH", options->graph, "Graph file, or ONNX model").required();
  add_topology(command, options->topology).required();
  command.option("-o,--output", "FILE", options->out, "Placement file to write").writes();
  command.option("-m,--method", "NAME", options->method.name, method_help())
      .proposes_words(method_names())
      .checked_by(method_problem);
  add_policy_option(command, options->policy);
#ifdef PLACETO_HAVE_SODIUM
  command.option("-k,--public-key", "FILE", options->public_key,
                 "Use the policy only if the owner of this key signed it");
  command
      .option("--signature", "FILE", options->signature,
              "The policy's signature, POLICY.sig if not given")
      .only_with("--public-key");
  command
      .option("--name", "NAME", options->signed_name,
              "Name under which the policy was signed, that of the file if not given")
      .proposes_words({})
      .only_with("--public-key");
#endif
  command
      .option("--explain", "NODES", options->explain,
              "Say for nodes, or for 'all', what the second-best device would cost")
      .proposes_words({"all"});
  add_reports(command, options->reports);
  add_common(command, options->common);
  add_method_options(command, options->method.options);
  add_deadline_option(command, options->method);
  add_rules(command, options->rules);
  add_engine(command, options->engine);
  options->method.options.tolerance = -1;  // until it is given: the engine's, or 0
  add_model_options(command, options->model);
  command.footer(fmt::format(kPlaceFooter, step_help()));
  command.action([options] { run_place(*options); });
}

}  // namespace placeto::cli
