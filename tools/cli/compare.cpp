// placeto compare: every method on every graph and topology.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <limits>
#include <memory>
#include <optional>

#include "runtime/cost/bounds.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/engine.h"
#include "tools/cli/graph_input.h"
#include "tools/cli/methods.h"
#include "tools/cli/outcome.h"
#include "tools/cli/problem_input.h"
#include "tools/cli/rules.h"
#include "tools/cli/times.h"
#include "tools/io/shipped.h"
#include "tools/report/status_line.h"

namespace placeto::cli {
namespace {

constexpr const char* kCompareExamples = R"(Examples:
  placeto compare inception.json nmt.json --topology 2xk80 4xk80
  placeto compare graph.json -t 4xk80 --methods single,heft,auto --json
  placeto compare graph.json -t 4xk80 --budget-evals 1000
  placeto compare graph.json -t host.json --engine onnxruntime --objective throughput

A method that finds nothing that fits is shown as infeasible and left out of its mean.)";

struct CompareOptions {
  Common common;
  ModelOptions model;
  std::vector<std::string> graphs, topologies, methods;
  std::string policy_name = kDefaultPolicy;
  Objective objective = Objective::kLatency;
  EngineOptions engine;
  MethodChoice method;  // whichever is compared

  bool for_throughput() const { return objective == Objective::kThroughput; }
};

// What one method did on one problem; not feasible: nothing it found fits.
struct Outcome {
  std::string method;  // as asked for
  std::string chosen;  // what won inside it, e.g. "single gpu:1"
  double makespan_us = std::numeric_limits<double>::infinity();
  double bottleneck_us = std::numeric_limits<double>::infinity();
  double cost_us = std::numeric_limits<double>::infinity();  // the one that is compared
  double place_us = 0;
  double bound_us = 0;  // no makespan is shorter
  bool feasible = false, stopped = false;
};

struct Case {
  std::string graph, topology, heading, note;
  double lower_bound_us = 0, best_us = std::numeric_limits<double>::infinity();
  std::vector<Outcome> outcomes;
  std::string lacks = {};  // lines on what the engine's providers lack
};

struct Input {
  std::string path;
  bool takes_options;  // of models
  std::optional<Graph> graph;
  std::optional<Topology> topology;
};

Outcome measure(const Problem& problem, const std::string& method, double tolerance,
                const CompareOptions& options) {
  Outcome outcome;
  outcome.method = method;
  MethodChoice choice = options.method;
  choice.name = method;
  if (choice.options.tolerance < 0) choice.options.tolerance = tolerance;
  auto result = run_method(problem, choice);
  if (!result.ok()) {
    const StatusCode code = result.status().code();
    const bool nothing_fits = code == StatusCode::kInfeasible || code == StatusCode::kNotFound ||
                              code == StatusCode::kStopped;
    if (!nothing_fits) require(result.status());
    outcome.stopped = code == StatusCode::kStopped;
    return outcome;
  }
  outcome.chosen = result->best.method;
  outcome.makespan_us = result->timeline.makespan_us;
  outcome.bottleneck_us = result->timeline.bottleneck_us;
  outcome.cost_us = options.for_throughput() ? outcome.bottleneck_us : outcome.makespan_us;
  outcome.place_us = result->place_us;
  outcome.feasible = true;
  outcome.bound_us = result->bounds.best_us();
  return outcome;
}

// Which run it is, and how long the rest will take.
class Progress {
 public:
  Progress(const Common& common, size_t total) : line_(!common.json), total_(total) {}

  void next(const std::string& what) {
    std::string text = fmt::format("{}/{} {}", done_ + 1, total_, what);
    if (done_ > 0) {
      const std::chrono::duration<double, std::milli> spent = Clock::now() - begin_;
      const double each_ms = spent.count() / static_cast<double>(done_);
      text += ", " + rough_time(each_ms * static_cast<double>(total_ - done_)) + " left";
    }
    ++done_;
    line_.show(text);
  }
  void clear() { line_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  StatusLine line_;
  size_t total_, done_ = 0;
  Clock::time_point begin_ = Clock::now();
};

Case run_case(const CompareOptions& options, const Input& graph, const Input& topology,
              Progress& progress) {
  Engine engine(options.engine);
  Rules rules;
  rules.objective = options.objective;
  engine.restrict(*graph.graph, *topology.topology, rules);
  const Problem problem = engine.explaining([&] {
    return build_problem(graph.path, *graph.graph, topology.path, *topology.topology, rules);
  });
  Case result{graph.path,
              topology.path,
              heading(problem),
              note_on_numbers(*graph.graph, *topology.topology),
              lower_bounds(problem).best_us(),
              std::numeric_limits<double>::infinity(),
              {}};
  for (const std::string& lacked : engine.choice().notes.all()) {
    result.note += (result.note.empty() ? "" : "; ") + lacked;
    result.lacks += fitted("note: " + printable(lacked) + "\n");
  }
  for (const std::string& method : options.methods) {
    if (Watch::interrupted()) break;
    progress.next(graph.path + " on " + topology.path + ": " + method);
    result.outcomes.push_back(measure(problem, method, engine.choice().tolerance, options));
    const Outcome& outcome = result.outcomes.back();
    result.best_us = std::min(result.best_us, outcome.cost_us);
    result.lower_bound_us = std::max(result.lower_bound_us, outcome.bound_us);
  }
  return result;
}

// Geometric mean of makespan, or bottleneck, over the best of all methods, where the method found a
// placement.
struct Mean {
  double log_sum = 0, worst = 0;
  size_t feasible = 0, best = 0;
  double ratio() const {
    return feasible == 0 ? std::nan("") : std::exp(log_sum / static_cast<double>(feasible));
  }
};

double ratio_to_best(const Case& c, const Outcome& outcome) {
  return c.best_us > 0 ? outcome.cost_us / c.best_us : 1;
}

std::vector<Mean> means(const CompareOptions& options, const std::vector<Case>& cases) {
  std::vector<Mean> result(options.methods.size());
  for (const Case& c : cases) {
    for (size_t m = 0; m < result.size(); ++m) {
      if (!c.outcomes[m].feasible) continue;
      const double ratio = ratio_to_best(c, c.outcomes[m]);
      result[m].log_sum += std::log(ratio);
      result[m].worst = std::max(result[m].worst, ratio);
      result[m].best += ratio == 1 ? 1 : 0;
      ++result[m].feasible;
    }
  }
  return result;
}

Json describe(const Case& c) {
  Json methods = Json::array();
  for (const Outcome& o : c.outcomes) {
    methods.push_back({{"method", o.method},
                       {"chosen", o.chosen},
                       {"feasible", o.feasible},
                       {"stopped", o.stopped},
                       {"makespan_us", o.feasible ? Json(o.makespan_us) : Json(nullptr)},
                       {"bottleneck_us", o.feasible ? Json(o.bottleneck_us) : Json(nullptr)},
                       {"ratio_to_best", o.feasible ? Json(ratio_to_best(c, o)) : Json(nullptr)},
                       {"place_time_us", o.place_us}});
  }
  return {{"graph", c.graph},
          {"topology", c.topology},
          {"lower_bound_us", c.lower_bound_us},
          {"note", c.note},
          {"methods", std::move(methods)}};
}

Json describe(const CompareOptions& options, const std::vector<Case>& cases) {
  Json object{{"cases", Json::array()}, {"summary", Json::array()}};
  for (const Case& c : cases) object["cases"].push_back(describe(c));
  const auto mean = means(options, cases);
  for (size_t m = 0; m < mean.size(); ++m) {
    const bool any = mean[m].feasible != 0;
    object["summary"].push_back(
        {{"method", options.methods[m]},
         {"mean_ratio_to_best", any ? Json(mean[m].ratio()) : Json(nullptr)},
         {"worst_ratio_to_best", any ? Json(mean[m].worst) : Json(nullptr)},
         {"cases_best", mean[m].best},
         {"cases_feasible", mean[m].feasible},
         {"cases", cases.size()}});
  }
  return object;
}

std::string summarize(const CompareOptions& options, const Case& c) {
  Table table({{"", Align::kLeft},
               {"method", Align::kLeft},
               {"makespan", Align::kRight},
               {options.for_throughput() ? "bottleneck" : "/ bound", Align::kRight},
               {"/ best", Align::kRight},
               {"took", Align::kRight},
               {"found by", Align::kLeft}});
  for (const Outcome& o : c.outcomes) {
    if (!o.feasible) {
      table.add_row({"", o.method, o.stopped ? "stopped" : "infeasible", "-", "-", "-", ""},
                    Emphasis::kBad);
      continue;
    }
    const bool best = o.cost_us == c.best_us;
    const std::string bound =  // which is of the makespan
        c.lower_bound_us > 0 ? fmt::format("{:.3f}", o.makespan_us / c.lower_bound_us) : "-";
    table.add_row({best ? "*" : "", o.method, format_us(o.makespan_us),
                   options.for_throughput() ? format_us(o.bottleneck_us) : bound,
                   fmt::format("{:.3f}", ratio_to_best(c, o)), format_us(o.place_us),
                   o.chosen == o.method ? "" : o.chosen},
                  best ? Emphasis::kGood : Emphasis::kNone);
  }
  return c.heading + table.render() + c.lacks + "\n";
}

std::string summarize(const CompareOptions& options, const std::vector<Case>& cases) {
  std::string text;
  for (const Case& c : cases) text += summarize(options, c);
  Table table({{"method", Align::kLeft},
               {"mean / best", Align::kRight},
               {"worst / best", Align::kRight},
               {"best in", Align::kRight},
               {"feasible in", Align::kRight}});
  const auto mean = means(options, cases);
  for (size_t m = 0; m < mean.size(); ++m) {
    const bool any = mean[m].feasible != 0;
    table.add_row({options.methods[m], any ? fmt::format("{:.3f}", mean[m].ratio()) : "-",
                   any ? fmt::format("{:.3f}", mean[m].worst) : "-", format_count(mean[m].best),
                   fmt::format("{} of {}", mean[m].feasible, cases.size())});
  }
  return text + fmt::format("Over {} (geometric mean):\n", plural(cases.size(), "case")) +
         table.render();
}

void run_compare(CompareOptions options) {
  options.method.policy = load_policy(options.policy_name);
  options.method.stop_on_interrupt = true;
  if (options.methods.empty()) {
    options.methods = method_names();
    if (options.method.policy == nullptr) std::erase(options.methods, "policy");
  }
  // Graph and Topology are read once; a Problem refers to them, so they stay where they are.
  std::deque<Input> graphs, topologies;
  const Engine engine(options.engine);
  // Options of models go to the inputs that are models.
  const bool any_model = std::ranges::any_of(options.graphs, is_onnx_input);
  for (const std::string& path : options.graphs) {
    const bool takes = !any_model || is_onnx_input(path);
    graphs.push_back(
        {path, takes, load_graph(path, takes ? options.model : ModelOptions()), std::nullopt});
  }
  for (const std::string& path : options.topologies) {
    topologies.push_back({path, false, std::nullopt, engine.load(path)});
  }
  std::vector<const Topology*> all;
  for (const Input& topology : topologies) all.push_back(&*topology.topology);
  for (const Input& graph : graphs) {
    if (graph.takes_options) check_cost_kinds(options.model.costs, *graph.graph, all);
    for (const Input& topology : topologies) {
      note_times(graph.path, *graph.graph, topology.path, *topology.topology);
    }
  }
  std::vector<Case> cases;
  {
    Progress progress(options.common, graphs.size() * topologies.size() * options.methods.size());
    for (const Input& graph : graphs) {
      for (const Input& topology : topologies) {
        if (Watch::interrupted()) break;
        Case result = run_case(options, graph, topology, progress);
        if (!Watch::interrupted()) cases.push_back(std::move(result));
      }
    }
  }
  const std::string cut_short =
      Watch::interrupted() ? "interrupted: only the cases before are shown" : "";
  if (!cut_short.empty()) note(cut_short);
  if (options.common.json) {
    Json object = describe(options, cases);
    object["note"] = cut_short;
    print_json(object);
  } else {
    print(summarize(options, cases));
  }
  if (cut_short.empty()) return;
  print_due();
  std::fflush(stdout);
  Interruption::obey();  // what is lacking is lacking
}

}  // namespace

void add_compare(Program& program) {
  Command& command = program.add("compare", "Compare methods over graphs and topologies");
  auto options = std::make_shared<CompareOptions>();
  command.arguments("GRAPH", options->graphs, "Graph files, or ONNX models").required();
  Option& topologies =
      command.list("-t,--topology", "TOPOLOGY", options->topologies,
                   "Topology files, or names of built-in topologies; several after one -t");
  topologies.required().proposes(shipped::topology_names());
  topologies.takes_list = true;
  command
      .comma_list("--methods", "A,B,...", options->methods,
                  "Methods, separated by commas (default: all)")
      .proposes_words(method_names())
      .checked_by(method_problem);
  add_policy_option(command, options->policy_name);
  add_common(command, options->common);
  add_objective(command, options->objective, "What is compared: makespans, or bottlenecks");
  add_engine(command, options->engine);
  add_method_options(command, options->method.options);
  options->method.options.tolerance = -1;  // until it is given: the engine's, or 0
  add_deadline_option(command, options->method);
  add_model_options(command, options->model);
  command.footer(kCompareExamples);
  command.action([options] { run_compare(*options); });
}

}  // namespace placeto::cli
