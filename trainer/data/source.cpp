#include "trainer/data/source.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "trainer/data/inventory.h"

namespace placeto::train {

static std::string names_of(const OwnProblems& problems) {
  std::string names;
  for (const OwnProblems::File& file : problems.graphs) {
    names += (names.empty() ? "" : ", ") + std::filesystem::path(file.path).filename().string();
  }
  return names;
}

Result<ProblemSource> ProblemSource::open(const Config& config, const std::atomic<bool>* stop) {
  ProblemSource source(config);
  if (config.data.graphs.empty()) return source;
  for (const auto* patterns : {&config.data.graphs, &config.data.topologies}) {
    const bool are_topologies = patterns == &config.data.topologies;
    const Status found = own_files(*patterns, are_topologies).status();
    if (!found.ok()) {
      return found.at(config.where(are_topologies ? "data.topologies" : "data.graphs"));
    }
  }
  const Result<OwnProblems> all =
      read_own_problems(config.data.graphs, config.data.topologies, stop);
  if (!all.ok()) return all.status();
  source.own_ = std::make_shared<const OwnSplit>(
      split_by_graph(*all, config.data.held_out_share, config.seed));
  return source;
}

ProblemSource ProblemSource::of(const Config& config, OwnProblems problems) {
  ProblemSource source(config);
  source.own_ = std::make_shared<const OwnSplit>(OwnSplit{std::move(problems), {}});
  return source;
}

Instance ProblemSource::draw(uint64_t seed) const {
  if (own_ == nullptr) return draw_problem(config_->data, seed);
  return own_->train.problem(Random(seed).below(own_->train.count()));
}

Instance ProblemSource::held_out(uint32_t i) const {
  if (own_ == nullptr) {
    return draw_problem(config_->data, problem_seed(Split::kValidation, config_->seed, i));
  }
  return own_->held_out.count() > 0 ? own_->held_out.problem(i) : own_->train.problem(i);
}

uint32_t ProblemSource::held_out_count() const {
  if (own_ == nullptr) return config_->check.problems;
  const uint32_t there = own_->held_out.count() > 0 ? own_->held_out.count() : own_->train.count();
  return std::min(config_->check.problems, there);
}

std::string ProblemSource::describe() const {
  if (own_ == nullptr) return "";
  const std::string out = names_of(own_->held_out);
  const size_t learned = own_->train.graphs.size(), topologies = own_->train.topologies.size();
  const size_t held_out = own_->held_out.graphs.size(), graphs = learned + held_out;
  std::string text = fmt::format("{} {} on {} {}; ", graphs, graphs == 1 ? "graph" : "graphs",
                                 topologies, topologies == 1 ? "topology" : "topologies");
  text += held_out == 0 ? "none held out: checks are on what is learned from"
                        : fmt::format("{} learned from, {} held out: {}", learned, held_out, out);
  for (const std::string& copy : own_->train.copies) text += "\n" + copy;
  return text;
}

std::string ProblemSource::inventory() const {
  return own_ == nullptr ? "" : inventory_of(*own_);
}

}  // namespace placeto::train
