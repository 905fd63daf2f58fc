#include "trainer/data/test_sets.h"

#include <algorithm>

#include "tools/options/options.h"
#include "trainer/data/families.h"
#include "trainer/data/merge.h"
#include "trainer/data/own.h"

namespace placeto::train {
namespace {

// Numbers of the first test problems of each set. Those of lower numbers have been used to choose
// constants of the placer, so they are no test any more.
constexpr uint64_t kFirstMixed = 10'000, kFirstLarge = 1'010'000, kFirstWired = 2'000'000;
constexpr uint32_t kWiredDevices = 6;
// Added to the numbers of fresh problems.
constexpr uint32_t kFirstFresh = 500'000;

DataConfig test_data() {
  DataConfig data;
  data.max_nodes = 200;
  data.large_share = 0;
  return data;
}

Instance mixed_problem(uint32_t i) {
  return draw_problem(test_data(), problem_seed(Split::kTest, 0, kFirstMixed + i));
}

Instance large_problem(uint32_t i) {
  DataConfig data = test_data();
  data.large_share = 1;
  data.network_share = 0;
  return draw_problem(data, problem_seed(Split::kTest, 0, kFirstLarge + i));
}

LinkSpec link_between(const TopologySpec& topology, uint32_t a, uint32_t b, double factor,
                      std::string channel) {
  LinkSpec link{topology.devices[a].name, topology.devices[b].name, topology.default_link,
                std::move(channel)};
  link.parameters.bandwidth_bytes_per_us *= factor;
  return link;
}

void wire(TopologySpec& topology, std::string_view wiring) {
  // A broadcast has no channel but its device's egress.
  if (wiring == "bus" || wiring == "tree") topology.transfer = Transfer::kUnicast;
  const auto n = static_cast<uint32_t>(topology.devices.size());
  for (uint32_t a = 0; a < n; ++a) {
    for (uint32_t b = 0; b < n; ++b) {
      if (a == b) continue;
      const uint32_t apart = a < b ? b - a : a - b;
      if (wiring == "ring") {
        topology.links.push_back(
            link_between(topology, a, b, 1.0 / std::min(apart, n - apart), ""));
      } else if (wiring == "bus") {
        topology.links.push_back(link_between(topology, a, b, 1, "bus"));
      } else if (wiring == "tree" && a / 2 != b / 2) {
        topology.links.push_back(
            link_between(topology, a, b, 0.5, "uplink " + std::to_string(a / 2)));
      }
    }
  }
}

// A random graph of the test data on `devices` like devices; `wiring` "": all linked alike.
Instance wired_problem(uint32_t i, uint32_t devices, std::string_view wiring) {
  DataConfig data = test_data();
  data.network_share = data.unlike_share = data.memory_share = 0;
  const Instance drawn = draw_problem(data, problem_seed(Split::kTest, 0, kFirstWired + i));
  TopologySpec topology = drawn.topology->spec();
  topology.devices.resize(1);
  for (uint32_t d = 1; d < devices; ++d) {
    topology.devices.push_back(topology.devices[0]);
    topology.devices[d].name = "gpu:" + std::to_string(d);
  }
  wire(topology, wiring);
  Result<Instance> made = make_instance(drawn.family, drawn.graph->spec(), std::move(topology));
  // The graph fits any devices of its kind.
  made->ccr = drawn.ccr;
  return std::move(*made);
}

Instance relinked(Instance instance, double factor, uint32_t groups) {
  TopologySpec topology = instance.topology->spec();
  topology.default_link.bandwidth_bytes_per_us *= factor;
  Result<Instance> made =
      make_instance(instance.family, instance.graph->spec(), std::move(topology));
  return groups == 0 ? std::move(*made) : merge_operators(std::move(*made), groups);
}

using Maker = std::function<Instance(uint32_t)>;

// Those that find_drawn has.
const std::vector<std::string> kDrawnSets = {"mixed", "large", "devices-12", "devices-16",
                                             "ring",  "bus",   "tree"};

// Nothing if there is no such set.
Maker find_drawn(std::string_view name) {
  if (name == "mixed") return mixed_problem;
  if (name == "large") return large_problem;
  if (name == "devices-12") return [](uint32_t i) { return wired_problem(i, 12, ""); };
  if (name == "devices-16") return [](uint32_t i) { return wired_problem(i, 16, ""); };
  for (const char* wiring : {"ring", "bus", "tree"}) {
    if (name == wiring)
      return [wiring](uint32_t i) { return wired_problem(i, kWiredDevices, wiring); };
  }
  return {};
}

Maker find_family(std::string_view name, const TestSetOptions& o) {
  const size_t dash = name.find('-');
  const std::string family(name.substr(0, dash));
  const std::string_view variant = dash == name.npos ? "" : name.substr(dash + 1);
  if (!is_family(family)) return {};
  const FamilyOptions merged{o.devices, o.groups};
  if (variant.empty() || variant == "seen") {
    const Half half = variant.empty() ? Half::kUnseen : Half::kSeen;
    return [=](uint32_t i) { return family_problem(family, half, i, merged); };
  }
  if (variant != "slow" && variant != "fast") return {};
  const double factor = variant == "slow" ? 0.25 : 4;
  return [=](uint32_t i) {
    return relinked(family_problem(family, Half::kUnseen, i, {merged.devices, 0}), factor,
                    merged.groups);
  };
}

}  // namespace

std::string test_sets_text() {
  std::string text;
  for (const std::string& name : kDrawnSets) text += (text.empty() ? "" : ", ") + name;
  return text + "; " + families_text() + ", each also with -seen, -slow, -fast";
}

Result<TestSet> test_set(std::string_view name, const TestSetOptions& options) {
  uint32_t count = name == "large" ? options.large : options.problems;
  Maker make = find_drawn(name);
  if (!make) {
    make = find_family(name, options);
    count = std::min(options.problems, kFamilyGraphs);
  }
  if (!make) {
    return Status::invalid("no test set '" + std::string(name) + "': expected " + test_sets_text() +
                           cli::suggestion(name, with_families(kDrawnSets)));
  }
  TestSet set{.name = std::string(name), .problems = {}};
  const uint32_t first = options.fresh && find_drawn(name) ? kFirstFresh : 0;
  for (uint32_t i = 0; i < count; ++i) {
    set.problems.push_back([make, i = first + i] { return make(i); });
  }
  return set;
}

TestSet unseen_by(const Config& config, uint32_t problems) {
  const DataConfig& data = config.data;
  if (data.set == "mixed" && config.architecture == "placeto") {
    TestSet set{.name = "mixed", .problems = {}};
    for (uint32_t i = 0; i < problems; ++i) {
      set.problems.push_back([data, i, problems] {
        return draw_with_devices(data, Split::kTest, 0, kFirstMixed + i, problems);
      });
    }
    return set;
  }
  // Configurations name sets that there are.
  TestSet set = *test_set(
      data.set, {.problems = problems, .devices = data.devices, .groups = data.merged_nodes});
  // Its one graph may be of the unseen half.
  const uint32_t learned = data.only - 1;
  if (data.only > kFamilyGraphs && learned - kFamilyGraphs < set.problems.size()) {
    set.problems.erase(set.problems.begin() + (learned - kFamilyGraphs));
  }
  return set;
}

Result<TestSet> own_test_set(const std::vector<std::string>& graphs,
                             const std::vector<std::string>& topologies) {
  Result<OwnProblems> read = read_own_problems(graphs, topologies);
  if (!read.ok()) return read.status();
  const auto own = std::make_shared<const OwnProblems>(std::move(*read));
  TestSet set{"own", {}, static_cast<uint32_t>(own->topologies.size()), own->copies};
  for (uint32_t i = 0; i < own->count(); ++i) {
    set.problems.push_back([own, i] { return own->problem(i); });
  }
  return set;
}

}  // namespace placeto::train
