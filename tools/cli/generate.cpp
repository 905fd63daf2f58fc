// placeto generate: graphs of well-known networks and random families.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/report/status_line.h"
#include "tools/workloads/workload.h"

namespace placeto::cli {
namespace {

constexpr const char* kGenerateExamples = R"(Examples:
  placeto generate --list
  placeto generate inception_v3 -o inception.json
  placeto generate gpt2 --size medium --batch 4 --training -o gpt2.plg
  placeto generate layered --nodes 1000 --ccr 2 --seed 7 -o random.json

The file is JSON if its name ends in .json or it is -, binary otherwise. --list says which options a
workload takes, with their defaults.)";

struct GenerateOptions {
  Common common;
  bool list = false, training = false;
  std::string workload, out, optimizer, size;
  std::map<std::string, uint64_t> counts;  // whole-number options by name
  uint64_t seed = 0;
  double ccr = 0;
};

WorkloadOptions workload_options(const GenerateOptions& options) {
  WorkloadOptions result;
  for (const WorkloadInfo& workload : workloads()) {
    for (const OptionInfo& option : workload.options) {
      const auto given = options.counts.find(std::string(option.name));
      if (given != options.counts.end()) {
        result.*option.value = static_cast<uint32_t>(given->second);
      }
    }
  }
  result.training = options.training;
  if (options.optimizer == "momentum") result.optimizer = Optimizer::kMomentum;
  if (options.optimizer == "sgd") result.optimizer = Optimizer::kSgd;
  result.seed = options.seed;
  result.ccr = options.ccr;
  result.size = options.size;
  return result;
}

// "--batch 1, --training, --size small|medium": what a workload takes.
std::string option_summary(const WorkloadInfo& workload) {
  std::vector<std::string> parts;
  for (const OptionInfo& option : workload.options) {
    parts.push_back(fmt::format("--{} {}", option.name, option.fallback));
  }
  if (!workload.sizes.empty()) {
    parts.push_back(fmt::format("--size {}", fmt::join(workload.sizes, "|")));
  }
  if (workload.ccr) parts.push_back(fmt::format("--ccr {}", kDefaultCcr));
  if (workload.seed) parts.emplace_back("--seed 0");
  if (workload.training) parts.emplace_back("--training");
  return fmt::format("{}", fmt::join(parts, ", "));
}

Json describe_workloads() {
  Json list = Json::array();
  for (const WorkloadInfo& workload : workloads()) {
    Json options = Json::array();
    for (const OptionInfo& option : workload.options) {
      options.push_back({{"name", option.name},
                         {"default", option.fallback},
                         {"min", option.min},
                         {"max", option.max}});
    }
    list.push_back(
        {{"name", workload.name},
         {"summary", workload.summary},
         {"options", std::move(options)},
         {"sizes", std::vector<std::string>(workload.sizes.begin(), workload.sizes.end())},
         {"training", workload.training},
         {"seed", workload.seed},
         {"ccr", workload.ccr}});
  }
  return {{"workloads", std::move(list)}};
}

void list_workloads(const Common& common) {
  if (common.json) return print_json(describe_workloads());
  Table table({{"workload", Align::kLeft}, {"what it is", Align::kLeft, true}});
  for (const WorkloadInfo& workload : workloads()) {
    table.add_row({std::string(workload.name), std::string(workload.summary)}, Emphasis::kStrong);
    table.add_row({"", option_summary(workload)}, Emphasis::kFaint);
  }
  print(table.render());
}

// The whole-number options of the workload as they were used: "batch" -> 32.
std::vector<std::pair<std::string, uint64_t>> used_counts(const GenerateOptions& options) {
  std::vector<std::pair<std::string, uint64_t>> used;
  for (const WorkloadInfo& workload : workloads()) {
    if (workload.name != options.workload) continue;
    for (const OptionInfo& option : workload.options) {
      const auto given = options.counts.find(std::string(option.name));
      used.emplace_back(option.name,
                        given == options.counts.end() ? option.fallback : given->second);
    }
  }
  return used;
}

// "inception_v3 with batch 1"
std::string with_counts(const std::string& name, const GenerateOptions& options) {
  std::vector<std::string> parts;
  for (const auto& [what, count] : used_counts(options)) {
    parts.push_back(fmt::format("{} {}", what, count));
  }
  return printable(name) + (parts.empty() ? "" : fmt::format(" with {}", fmt::join(parts, ", ")));
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const WorkloadInfo& workload : workloads()) names.emplace_back(workload.name);
  return names;
}

std::vector<std::string> sizes_of(const WorkloadInfo& workload) {
  return {workload.sizes.begin(), workload.sizes.end()};
}

// What is wrong is named as it was written, before generate() says it in other words.
const WorkloadInfo& known_workload(const std::string& name) {
  for (const WorkloadInfo& workload : workloads()) {
    if (workload.name == name) return workload;
  }
  const auto names = workload_names();
  const std::string close = suggestion(name, names);
  throw Failure(kBadUsage, fmt::format("{}: no such workload{}", name.substr(0, 64),
                                       close.empty() ? fmt::format(", expected one of {}",
                                                                   fmt::join(names, ", "))
                                                     : close));
}

void check_counts(const WorkloadInfo& workload, const GenerateOptions& options) {
  for (const auto& [name, count] : options.counts) {
    const auto& all = workload.options;
    const auto option = std::ranges::find(all, name, &OptionInfo::name);
    if (option == all.end()) {
      throw Failure(kBadUsage, fmt::format("--{}: {} takes no such option, expected only {}", name,
                                           workload.name, option_summary(workload)));
    }
    if (count < option->min || count > option->max) {
      throw Failure(kBadUsage, fmt::format("--{} {}: expected {} to {} for {}", name, count,
                                           option->min, option->max, workload.name));
    }
  }
}

void check_options(const WorkloadInfo& workload, const GenerateOptions& options) {
  check_counts(workload, options);
  const auto refuse = [&](bool is_given, bool is_taken, const char* option) {
    if (!is_given || is_taken) return;
    throw Failure(kBadUsage, fmt::format("{}: {} takes no such option, expected only {}", option,
                                         workload.name, option_summary(workload)));
  };
  refuse(options.training, workload.training, "--training");
  refuse(options.seed != 0, workload.seed, "--seed");
  refuse(options.ccr != 0, workload.ccr, "--ccr");
  refuse(!options.size.empty(), !workload.sizes.empty(), "--size");
  const auto sizes = sizes_of(workload);
  if (options.size.empty() || std::find(sizes.begin(), sizes.end(), options.size) != sizes.end()) {
    return;
  }
  throw Failure(kBadUsage,
                fmt::format("--size {}: {} has the sizes {}{}", options.size, workload.name,
                            fmt::join(sizes, ", "), suggestion(options.size, sizes)));
}

void run_generate(const GenerateOptions& options) {
  if (options.list) return list_workloads(options.common);
  if (options.workload.empty()) throw Failure(kBadUsage, "generate: no workload; try --list");
  check_options(known_workload(options.workload), options);
  if (options.out.empty()) throw Failure(kBadUsage, "generate: no output file; give -o GRAPH");
  check_outputs({options.out});
  StatusLine line("generating " + options.workload + " ...");
  const GraphSpec spec = require(generate(options.workload, workload_options(options)));
  line.clear();
  if (options.common.json) {
    const auto used = used_counts(options);
    print_json(Json{{"name", spec.name},
                    {"file", options.out},
                    {"nodes", spec.nodes.size()},
                    {"edges", spec.edges.size()},
                    {"options", std::map<std::string, uint64_t>(used.begin(), used.end())}});
  } else {
    print_done(fmt::format("{}: {} ({}, {})\n", printable(options.out),
                           with_counts(spec.name, options), plural(spec.nodes.size(), "node"),
                           plural(spec.edges.size(), "edge")));
  }
  write_spec(options.out, spec);
}

std::string meaning(const std::string& size) {
  static const std::map<std::string, const char*> kMeanings = {
      {"batch", "Inputs at a time"},        {"length", "Length of a sequence"},
      {"hidden", "Width of hidden layers"}, {"vocabulary", "Words of the vocabulary"},
      {"width", "Nodes side by side"},      {"degree", "Edges of a node, on average"}};
  const auto known = kMeanings.find(size);
  return known == kMeanings.end() ? "Number of " + size : known->second;
}

// Every whole-number option of any workload, once; check_counts() says where one does not apply, or
// what its range is.
void add_count_options(Command& command, const std::shared_ptr<GenerateOptions>& options) {
  std::map<std::string, std::vector<std::string>> takers;
  std::map<std::string, std::pair<uint32_t, uint32_t>> ranges;
  for (const WorkloadInfo& workload : workloads()) {
    for (const OptionInfo& option : workload.options) {
      takers[std::string(option.name)].emplace_back(workload.name);
      auto& range =
          ranges.try_emplace(std::string(option.name), option.min, option.max).first->second;
      range = {std::min(range.first, option.min), std::max(range.second, option.max)};
    }
  }
  command.heading("Sizes");
  for (const auto& [size, names] : takers) {
    const auto set = [options, name = size,
                      range = ranges.at(size)](const std::string& text) -> std::string {
      uint64_t value = 0;
      if (!parse_large_count(text, value)) {
        return fmt::format("'{}' is not a whole number from {} to {}", text, range.first,
                           range.second);
      }
      options->counts[name] = value;
      return "";
    };
    const std::string of = names.size() > 4 ? "" : fmt::format(" ({})", fmt::join(names, ", "));
    command.custom("--" + size, "N", meaning(size) + of, set).proposes_words({});
  }
}

// The sizes that any workload has.
std::vector<std::string> all_sizes() {
  std::vector<std::string> all;
  for (const WorkloadInfo& workload : workloads()) {
    for (const std::string& size : sizes_of(workload)) {
      if (std::find(all.begin(), all.end(), size) == all.end()) all.push_back(size);
    }
  }
  return all;
}

}  // namespace

void add_generate(Program& program) {
  Command& command = program.add("generate", "Make the graph of a workload");
  auto options = std::make_shared<GenerateOptions>();
  command.argument("WORKLOAD", options->workload, "Name of the workload")
      .proposes_words(workload_names());
  command.flag("--list", options->list, "List the workloads and their options")
      .not_with({"WORKLOAD", "--output"});
  command.option("-o,--output", "FILE", options->out, "Graph file to write").writes();
  command.flag("--training", options->training, "A training step, not inference");
  command
      .option("--optimizer", "adam|momentum|sgd", options->optimizer,
              "Of the training step (default adam)")
      .one_of({"adam", "momentum", "sgd"})
      .only_with("--training");
  command.option("--size", "NAME", options->size, "Named variant").proposes_words(all_sizes());
  command.count("--seed", options->seed, "Of random graphs and architectures");
  command.number("--ccr", options->ccr, "Communication-to-computation ratio of random graphs",
                 kMinCcr, kMaxCcr);
  add_common(command, options->common);
  add_count_options(command, options);
  command.footer(kGenerateExamples);
  command.action([options] { run_generate(*options); });
}

}  // namespace placeto::cli
