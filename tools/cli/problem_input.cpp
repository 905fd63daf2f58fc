#include "tools/cli/problem_input.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "runtime/cost/evaluator.h"
#include "runtime/cost/rule_conflict.h"
#include "tools/cli/common.h"

namespace placeto::cli {
namespace {

// The rule that the first node breaks that is where it may not be; "" if there is none.
std::string broken_rule(const Problem& problem, std::span<const uint32_t> assignment) {
  if (obeys_rules(problem, assignment)) return "";
  const Graph& graph = problem.graph();
  const auto device = [&](uint32_t v) { return problem.topology().device(assignment[v]).name; };
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    const uint32_t group = problem.group_of(v), first = problem.members(group).front();
    if (assignment[first] != assignment[v]) {
      return fmt::format(
          "node {} '{}' is on device '{}', and node {} '{}', which it is colocated "
          "with, on '{}'",
          v, graph.node(v).name, device(v), first, graph.node(first).name, device(first));
    }
    if (!problem.allowed(group, assignment[v])) {
      return fmt::format("node {} '{}' may not run on device '{}'", v, graph.node(v).name,
                         device(v));
    }
  }
  return "it has not one device for each node";
}

}  // namespace

Problem build_problem(const std::string& graph_path, const Graph& graph,
                      const std::string& topology_path, const Topology& topology,
                      const Rules& rules, Stop* stop) {
  auto problem = Problem::build(graph, topology, rules, {}, stop);
  if (problem.ok()) return std::move(*problem);
  const std::string where = graph_path + " on " + topology_path;
  const Status& status = problem.status();
  if (status.code() == StatusCode::kBadInput) {
    // The files may be fine, and the caller's own rules leave no device.
    const Blame blame = find_blame(graph, topology, rules, {}, nullptr);
    throw Failure(blame.rules ? kNoFeasiblePlacement : kBadInputFile,
                  where + ": " + (blame.rules ? "no feasible placement: " : "") + status.message() +
                      blame.conflict);
  }
  throw Failure(exit_status(status), where + ": " + status.message(), status_word(status));
}

void check_runnable(const Problem& problem, std::span<const uint32_t> assignment) {
  for (uint32_t v = 0; v < assignment.size(); ++v) {
    if (std::isfinite(problem.run_us(v, assignment[v]))) continue;
    const DeviceSpec& device = problem.topology().device(assignment[v]);
    throw Failure(kNoFeasiblePlacement,
                  fmt::format("the placement puts node {} '{}' on device '{}', whose kind '{}' "
                              "cannot run it",
                              v, problem.graph().node(v).name, device.name, device.kind));
  }
}

std::vector<std::string> violations(const Problem& problem, std::span<const uint32_t> assignment,
                                    const Timeline& timeline) {
  std::vector<std::string> found;
  if (std::string broken = broken_rule(problem, assignment); !broken.empty()) {
    found.push_back(std::move(broken));
  }
  const auto over = memory_shortfall(problem, timeline.peak_memory_bytes);
  for (uint32_t d = 0; d < over.size(); ++d) {
    if (over[d] == 0) continue;
    found.push_back(fmt::format("device '{}' lacks {} of memory", problem.topology().device(d).name,
                                format_bytes(over[d])));
  }
  return found;
}

}  // namespace placeto::cli
