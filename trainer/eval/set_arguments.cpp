#include "trainer/eval/set_arguments.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include <fmt/format.h>

#include "tools/io/shipped.h"
#include "trainer/base/config.h"
#include "trainer/base/family_names.h"
#include "trainer/data/own.h"

namespace placeto::train {

void SetArguments::add_to(cli::Command& command) {
  command
      .list("--sets", "SET", sets,
            fmt::format("{} (default {})", test_sets_text(), fmt::join(sets, " ")))
      .several();
  command
      .list("--graphs", "FILE", graphs,
            "Instead of sets: graphs of one's own (*.graph, *.json, *.onnx), as files or "
            "patterns, each on all --topologies")
      .several()
      .only_with("--topologies")
      .not_with({"--sets", "--problems", "--large", "--devices", "--groups"});
  command.list("--topologies", "FILE", topologies, "Topology files or patterns, with --graphs")
      .several()
      .only_with("--graphs");
  command.count("--problems", tests.problems, "Problems of each set, at most", 1);
  command.count("--large", tests.large, "Random graphs of 1,000 nodes");
  command.count("--devices", tests.devices, "GPUs for " + families_text(" and "), 2, 64);
  command.count("--groups", tests.groups,
                "Merge operators of " + families_text(" and ") +
                    " into at most so many nodes for a policy of the published architecture and "
                    "for the RNN placer; 0: as the policy was trained");
}

Result<std::vector<std::string>> SetArguments::inputs(
    const std::vector<std::string>& policies) const {
  std::vector<std::string> files = policies;
  std::erase(files, kShips);
  for (const auto* patterns : {&graphs, &topologies}) {
    if (graphs.empty()) break;
    const auto found = own_files(*patterns, patterns == &topologies);
    if (!found.ok()) return found.status();
    std::copy_if(found->begin(), found->end(), std::back_inserter(files),
                 [](const std::string& file) { return !shipped::is_topology(file); });
  }
  return files;
}

Result<std::vector<TestSet>> SetArguments::open(const std::vector<NamedPolicy>& policies) const {
  TestSetOptions options = tests;
  for (const NamedPolicy& p : policies) {
    if (tests.groups > 0 || p.policy->architecture() != Architecture::kPlaceto) continue;
    const Result<Config> config =
        parse_config(p.policy->provenance().config, "policy", Unread::kLeft);
    if (!config.ok()) continue;
    const uint32_t trained = config->data.merged_nodes;
    if (options.groups == 0) options.groups = trained;
    if (trained != options.groups && graphs.empty()) {
      fmt::print(stderr,
                 "{} was trained on graphs merged into {} groups and is measured on {} where sets "
                 "are merged, as the first policy was trained; --groups sets this\n",
                 p.name, trained, options.groups);
    }
  }
  std::vector<TestSet> all;
  if (!graphs.empty()) {
    Result<TestSet> own = own_test_set(graphs, topologies);
    if (!own.ok()) return own.status();
    for (const std::string& note : own->notes) fmt::print(stderr, "{}\n", note);
    all.push_back(std::move(*own));
    return all;
  }
  for (const std::string& name : sets) {
    Result<TestSet> set = test_set(name, options);
    if (!set.ok()) return set.status();
    all.push_back(std::move(*set));
  }
  if (std::ranges::all_of(all, [](const TestSet& set) { return set.problems.empty(); })) {
    return Status::invalid("--large: 0 leaves no problem of --sets large, expected 1 or more");
  }
  return all;
}

}  // namespace placeto::train
