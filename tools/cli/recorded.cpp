#include "tools/cli/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "runtime/cost/rounding.h"
#include "runtime/graph/text.h"
#include "tools/cli/common.h"
#include "tools/export/placed.h"

namespace placeto::cli {

void take_up_dims(const PlacementSpec& placement, const std::string& file, ModelOptions& options) {
  options.recorded.clear();
  for (const std::string& text : placement.dims) {
    auto dim = parse_dim_setting(text);
    if (!dim.ok()) require(dim.status().at(file));
    options.recorded.push_back(std::move(*dim));
    options.recorded.back().may_be_absent = true;
  }
}

// Whoever wrote the placement chose that path: nothing is opened that waits, as a pipe does, or
// does something when it is opened, as a device may. What is not there has a message of its own.
static void expect_regular(const std::string& engine) {
  if (EngineDescription::is_built_in(engine)) return;
  std::error_code error;
  const auto found = std::filesystem::status(engine, error);
  if (!std::filesystem::exists(found) || std::filesystem::is_regular_file(found)) return;
  throw Failure(kBadInputFile, engine + ": expected a built-in engine or a regular file");
}

Engine engine_of(const PlacementSpec& placement, const std::string& file,
                 const std::string& given) {
  if (given == "none" || (given.empty() && placement.engine == "-")) return Engine({});
  if (!given.empty()) return Engine({given, {}});
  try {
    expect_regular(placement.engine);
    return Engine({placement.engine, {}});
  } catch (const Failure& failure) {
    throw Failure(failure.status, std::string(failure.what()) + "; it is the engine that " + file +
                                      " was placed for, --engine names another, or none");
  }
}

Assignment assignment_of(const PlacementSpec& placement, const std::string& file,
                         const Graph& graph, const std::string& graph_path,
                         const Topology& topology) {
  auto assignment = resolve_placement(placement, graph, topology);
  if (assignment.ok()) return *std::move(assignment);
  Status status = assignment.status().at(file);
  const bool fits = placement.assignment.size() == graph.node_count();
  if (const std::string other = of_other_graph(placement, graph.name()); !fits && !other.empty()) {
    status = Status(status.code(), other).at(file);
  } else if (!fits && is_onnx_input(graph_path)) {
    status = {status.code(), status.message() +
                                 "; a placement does not keep what --set said of the model, the "
                                 "same is needed here"};
  }
  require(status);
  return {};
}

// Whether the caller asks for another one than the placement records.
static bool is_other_engine(const PlacementSpec& placement, const std::string& given) {
  const std::string name = given == "none" ? "-" : given;
  return !given.empty() && !placement.engine.empty() && name != placement.engine;
}

// Whether a number that is given is not recorded, though some are; under another name it may be.
static bool are_other_dims(const ModelOptions& options) {
  return !options.recorded.empty() && std::ranges::any_of(options.dims, [&](const auto& text) {
    const DimSetting given = dim_setting(text);
    return std::ranges::none_of(options.recorded, [&](const DimSetting& recorded) {
      const bool may_be_it = recorded.name == given.name || given.name == "*" ||
                             recorded.name == "*" || given.name.ends_with(']') ||
                             recorded.name.ends_with(']');
      return may_be_it && recorded.value == given.value;
    });
  });
}

std::string note_unlike_recorded(const PlacementSpec& placement, const std::string& file,
                                 const Graph& graph, const std::string& given_engine,
                                 const ModelOptions& options, double makespan_us) {
  constexpr double kAlike = 1e-6;
  const double recorded = placement.makespan_us;
  const bool is_like = std::abs(makespan_us - recorded) <= kAlike * recorded;
  std::string text;
  if (const std::string other = of_other_graph(placement, graph.name()); !other.empty()) {
    text = fmt::format("{} {}", file, other);
  } else if (recorded > 0 && !is_like && !is_other_engine(placement, given_engine) &&
             !are_other_dims(options)) {
    text = fmt::format(
        "{} records a makespan of {}, and this one is {}: run times, prices or dimensions are "
        "others than it was placed with (--profile, --costs, --dim, the graph, the topology)",
        file, format_us(recorded), format_us(makespan_us));
  }
  if (!text.empty()) note(text);
  return text;
}

RecordedProof proof_of(const PlacementSpec& placement, const Problem& problem,
                       const Timeline& timeline) {
  // Equal inputs give equal answers everywhere.
  const auto is_recorded = [](double us, double recorded) {
    return std::abs(us - recorded) <= kRounding * recorded;  // what is not recorded is 0
  };
  const double bound_us = placement.lower_bound_us;
  const bool meets_bound = is_recorded(timeline.makespan_us, bound_us);
  if (!is_recorded(timeline.makespan_us, placement.makespan_us) ||
      !is_recorded(timeline.bottleneck_us, placement.bottleneck_us) ||
      (bound_us > timeline.makespan_us && !meets_bound)) {
    return {};
  }
  // It does not record by which objective it was placed: a proof that meets the bound is of the
  // makespan, another of the bottleneck.
  return {bound_us, placement.proved && meets_bound == problem.is_for_latency()};
}

bool tells_more(const RecordedProof& proof, const LowerBounds& bounds) {
  return proof.proved || proof.bound_us > bounds.best_us();
}

std::string proof_text(const RecordedProof& proof, const std::string& file) {
  return fmt::format("{}, as {} records of the rules that it was placed with",
                     proof.proved ? "proved optimal" : "lower bound", file);
}

}  // namespace placeto::cli
