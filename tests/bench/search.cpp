// placeto-search: what a search does with its budget, and what of it can be refuted.
//
// For each family of problems: makespan over the best known one at several budgets, how often a
// larger budget gave a worse answer, in how many answers moving one node (and what is colocated
// with it) would have been better, and processor time; means over the seeds of the search, too, and
// "error" is the standard error of their logarithm. Best known ones are kept in a file between
// runs, so that versions are compared with the same.
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/placer/explain.h"
#include "runtime/placer/placer.h"
#include "runtime/policy/guide.h"
#include "tests/bench/cases.h"
#include "tests/bench/quality_graphs.h"
#include "tools/engine/description.h"
#include "tools/io/read.h"
#include "tools/report/table.h"
#include "tools/workloads/workload.h"

namespace {

using namespace placeto;
using namespace placeto::bench;

constexpr const char* kUsage =
    R"(Usage: placeto-search [FAMILY...] [--graphs N] [--seeds N] [--budgets N,N,...]
                      [--methods auto,anneal,...] [--best FILE] [--policy FILE] [--moves 0|1]
                      [--each FILE]

Families: tiny (8 to 12 nodes, 2 to 4 devices), small (40 to 160 nodes, 2 to 8), wide (30 nodes, 16
devices), slow-links (100 to 300 nodes, 16 devices, communication at least as long as computation),
middle (300 to 500 nodes, 2 to 8), large (1,000 nodes), hosts (random graphs on two to four hosts),
networks (training steps with colocation on the example topologies), deep (training steps of networks
of 1,000 to 7,000 operators), parameters (the same, every parameter a node of its own that takes no time), staged (random graphs of
40 to 300 nodes on 2 to 4 devices, whose stages and cuts have prices), staged-small (of 5 to 30), staged-networks (named
networks as ONNX Runtime runs them). --each appends every answer to a file: problem, method, seed,
evaluations, makespan in us, processor time in ms.
)";

struct Options {
  std::vector<std::string> families;
  uint32_t graphs = 0, seeds = 1;
  std::vector<uint64_t> budgets = {0, 300, 1'000, 10'000};
  std::vector<std::string> methods = {"auto"};
  std::string best_file, each_file;
  std::shared_ptr<const Policy> policy;
  bool moves = true;
};

[[noreturn]] void fail_usage() {
  std::fputs(kUsage, stderr);
  std::exit(2);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help" || name == "-h") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (!name.starts_with("--")) {
      o.families.push_back(name);
      continue;
    }
    if (i + 1 == argc) fail_usage();
    const std::string value = argv[++i];
    if (name == "--graphs") {
      o.graphs = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    } else if (name == "--seeds") {
      o.seeds = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    } else if (name == "--budgets") {
      o.budgets.clear();
      for (const std::string& part : split(value)) {
        o.budgets.push_back(std::strtoull(part.c_str(), nullptr, 10));
      }
    } else if (name == "--methods") {
      o.methods = split(value);
    } else if (name == "--best") {
      o.best_file = value;
    } else if (name == "--each") {
      o.each_file = value;
    } else if (name == "--policy") {
      o.policy = require(Policy::load_file(value, Policy::File::kRead, known_features()));
    } else if (name == "--moves") {
      o.moves = value != "0";
    } else {
      fail_usage();
    }
  }
  if (o.families.empty()) o.families = {"tiny", "small", "wide", "large", "networks"};
  return o;
}

// Best makespans of earlier runs, by the name of the problem.
class BestKnown {
 public:
  explicit BestKnown(std::string file) : file_(std::move(file)) {
    std::ifstream in(file_);
    std::string name;
    double us = 0;
    while (in >> name >> us) best_[name] = us;
  }
  double lower(const std::string& name, double us) {
    const auto [at, is_new] = best_.try_emplace(name, us);
    at->second = std::min(at->second, us);
    return at->second;
  }
  void save() const {
    if (file_.empty()) return;
    std::ofstream out(file_);
    out.precision(17);
    for (const auto& [name, us] : best_) out << name << ' ' << us << '\n';
  }

 private:
  std::string file_;
  std::map<std::string, double> best_;
};

double processor_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec) +
         1e-6 * static_cast<double>(use.ru_utime.tv_usec);
}

struct Row {
  double sum_log = 0, sum_squares = 0, worst = 1, seconds = 0;
  int count = 0, worse_than_less = 0, improvable = 0, proved = 0;
};

struct Outcome {
  double us, seconds;
  bool improvable, proved;
};

bool improvable(const Problem& problem, const Candidate& placed) {
  Explainer explainer(problem, placed.assignment, placed.division);
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    const Reason reason = explainer.explain(problem.members(g)[0]);
    if (reason.second && reason.second->score < reason.score) return true;
  }
  return false;
}

Outcome run(const Problem& problem, const std::string& method, uint64_t budget, uint64_t seed,
            const Options& o) {
  MethodOptions options;
  options.budget.evaluations = budget;
  options.seed = seed;
  const double before = processor_seconds();
  const PlaceResult placed = require(place(problem, method, options, {.policy = o.policy.get()}));
  const double seconds = processor_seconds() - before;
  return {placed.best.score.objective_us, seconds, o.moves && improvable(problem, placed.best),
          placed.proved};
}

class Family {
 public:
  Family(const Options& o, BestKnown& best) : o_(o), best_(best) {
    rows_.resize(o.methods.size() * o.budgets.size());
  }

  void add(const std::string& name, const Problem& problem) {
    std::vector<Outcome> outcomes;
    double least = INFINITY;
    for (uint64_t seed = 1; seed <= o_.seeds; ++seed) {
      for (const std::string& method : o_.methods) {
        for (const uint64_t budget : o_.budgets) {
          outcomes.push_back(run(problem, method, budget, seed, o_));
          keep(name, method, seed, budget, outcomes.back());
          least = std::min(least, outcomes.back().us);
        }
      }
    }
    least = best_.lower(name, least);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      Row& row = rows_[i % rows_.size()];
      const double ratio = outcomes[i].us / least;
      row.sum_log += std::log(ratio);
      row.sum_squares += std::log(ratio) * std::log(ratio);
      row.worst = std::max(row.worst, ratio);
      row.seconds += outcomes[i].seconds;
      row.improvable += outcomes[i].improvable;
      row.proved += outcomes[i].proved;
      ++row.count;
      if (i % o_.budgets.size() == 0) continue;
      row.worse_than_less += outcomes[i].us > outcomes[i - 1].us * (1 + 1e-12);
    }
  }

  void print(const std::string& name) const {
    Table table({{name},
                 {"budget", Align::kRight},
                 {"mean", Align::kRight},
                 {"error", Align::kRight},
                 {"worst", Align::kRight},
                 {"worse than less", Align::kRight},
                 {"improvable", Align::kRight},
                 {"proved", Align::kRight},
                 {"ms", Align::kRight}});
    char text[5][32];
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      const double mean = row.sum_log / row.count;
      const double error = std::sqrt((row.sum_squares / row.count - mean * mean) / row.count);
      std::snprintf(text[0], sizeof text[0], "%.4f", std::exp(mean));
      std::snprintf(text[1], sizeof text[1], "%.3f", row.worst);
      std::snprintf(text[2], sizeof text[2], "%d of %d", row.improvable, row.count);
      std::snprintf(text[3], sizeof text[3], "%.2f", 1e3 * row.seconds / row.count);
      std::snprintf(text[4], sizeof text[4], "%.4f", error);
      table.add_row({o_.methods[i / o_.budgets.size()],
                     format_count(o_.budgets[i % o_.budgets.size()]), text[0], text[4], text[1],
                     std::to_string(row.worse_than_less), text[2], std::to_string(row.proved),
                     text[3]});
    }
    std::fputs(table.render().c_str(), stdout);
    std::fflush(stdout);
  }

 private:
  void keep(const std::string& name, const std::string& method, uint64_t seed, uint64_t budget,
            const Outcome& outcome) const {
    if (o_.each_file.empty()) return;
    std::ofstream out(o_.each_file, std::ios::app);
    out.precision(12);
    out << name << ' ' << method << ' ' << seed << ' ' << budget << ' ' << outcome.us << ' '
        << 1e3 * outcome.seconds << '\n';
  }

  const Options& o_;
  BestKnown& best_;
  std::vector<Row> rows_;
};

// Random graphs; every third problem on unlike devices, every fourth under unicast.
void add_random(Family& family, const std::string& name, uint32_t graphs, Sizes sizes,
                uint32_t least_devices, uint32_t most_devices, double least_ccr = 0) {
  Random random(sizes.min_nodes);
  for (uint32_t g = 0; g < graphs; ++g) {
    QualityGraph graph = quality_graph(g, sizes, random);
    while (graph.ccr < least_ccr) graph = quality_graph(g, sizes, random);
    const uint32_t devices = least_devices + graph.devices % (most_devices - least_devices + 1);
    TopologySpec topology = k80_devices(devices);
    if (g % 4 == 3) {
      for (uint32_t d = 0; d < devices; ++d) topology.devices[d].slowdown = 1 + 0.5 * (d % 3);
    }
    if (g % 5 == 4) {
      topology.transfer = Transfer::kUnicast;
      topology.default_link.latency_us = 10;
    }
    const Case c(std::move(graph.spec), std::move(topology));
    family.add(name + std::to_string(g), c.problem);
  }
}

// Random graphs on two to four hosts with two to four devices each, whose traffic to
// other hosts shares an uplink.
void add_hosts(Family& family, uint32_t graphs) {
  Random random(7);
  for (uint32_t g = 0; g < graphs; ++g) {
    QualityGraph graph = quality_graph(g, {40, 1'000}, random);
    const uint32_t each = 2 + random.below(3), hosts = 2 + random.below(3);
    TopologySpec topology = k80_devices(each * hosts);
    topology.transfer = Transfer::kUnicast;
    LinkParameters uplink = topology.default_link;
    uplink.bandwidth_bytes_per_us *= std::pow(10, -1 - random.uniform()) * 5;  // 0.05 to 0.5
    uplink.latency_us = 20;
    for (uint32_t a = 0; a < each * hosts; ++a) {
      for (uint32_t b = 0; b < each * hosts; ++b) {
        if (a / each == b / each) continue;
        topology.links.push_back({topology.devices[a].name, topology.devices[b].name, uplink,
                                  "uplink " + std::to_string(a / each)});
      }
    }
    const Case c(std::move(graph.spec), std::move(topology));
    family.add("hosts" + std::to_string(g), c.problem);
  }
}

// Random graphs, where starting a stage takes as long as a fortieth of an operator to one; every
// second one on unlike devices.
void add_staged(Family& family, uint32_t graphs, const Sizes& sizes) {
  Random random(sizes.max_nodes);
  for (uint32_t g = 0; g < graphs; ++g) {
    QualityGraph graph = quality_graph(g, sizes, random);
    double work_us = 0;
    for (const NodeSpec& node : graph.spec.nodes) work_us += node.cost_us[0];
    const double mean_us = work_us / static_cast<double>(graph.spec.nodes.size());
    TopologySpec topology = k80_devices(2 + graph.devices % 3);
    topology.execution = Execution::kStaged;
    const double price = std::pow(10, 1.6 * random.uniform() - 1.6);
    for (size_t d = 0; d < topology.devices.size(); ++d) {
      DeviceSpec& device = topology.devices[d];
      if (g % 2 == 1) device.slowdown = 1 + 0.7 * static_cast<double>(d);
      device.stage_us = price * mean_us;
      device.cut_us = price * mean_us / 4;
      device.cut_bytes_per_us = 16'000;
    }
    const Case c(std::move(graph.spec), std::move(topology));
    family.add("staged" + std::to_string(g), c.problem);
  }
}

void add_staged_networks(Family& family, uint32_t graphs) {
  constexpr const char* kNetworks[] = {"inception_v3", "nasnet_a_large",     "nmt",
                                       "bert_base",    "mixture_of_experts", "enas_cifar10"};
  constexpr const char* kTopologies[] = {"edge-cpu-gpu-npu", "4xk80", "2x4-gpu-two-hosts"};
  const EngineDescription engine = require(EngineDescription::load("onnxruntime"));
  uint32_t count = 0;
  for (const char* network : kNetworks) {
    for (const char* name : kTopologies) {
      if (graphs != 0 && count++ >= graphs) return;
      TopologySpec topology =
          require(read_topology_spec(PLACETO_MODELS "/topologies/" + std::string(name) + ".json"));
      engine.change(topology);
      const Case c(require(generate(network, {})), std::move(topology));
      family.add("staged-" + std::string(network) + "-" + name, c.problem);
    }
  }
}

// Every parameter becomes a node of its own that takes no time, as exported graphs have them.
void part_parameters(GraphSpec& graph) {
  const auto nodes = static_cast<uint32_t>(graph.nodes.size());
  for (uint32_t v = 0; v < nodes; ++v) {
    const uint64_t bytes = graph.nodes[v].resident_bytes;
    if (bytes == 0) continue;
    graph.nodes[v].resident_bytes = 0;
    NodeSpec parameter;
    parameter.name = graph.nodes[v].name + "/parameter";
    parameter.cost_us.assign(std::max<size_t>(1, graph.kinds.size()), 0);
    parameter.outputs = {bytes};
    parameter.resident_bytes = bytes;
    graph.edges.push_back({static_cast<uint32_t>(graph.nodes.size()), 0, v});
    graph.nodes.push_back(std::move(parameter));
  }
}

void add_networks(Family& family, uint32_t graphs, bool parameters) {
  constexpr const char* kNetworks[] = {"inception_v3", "resnet50", "bert_base", "gpt2", "nmt"};
  constexpr const char* kTopologies[] = {"2xk80", "4xk80", "cpu+gpu", "2x4-gpu-two-hosts",
                                         "4xa100-nvlink"};
  uint32_t count = 0;
  for (const char* network : kNetworks) {
    for (const char* topology : kTopologies) {
      for (const bool training : {false, true}) {
        if (graphs != 0 && count++ >= graphs) return;
        WorkloadOptions options;
        options.training = training;
        if (std::string_view(network) == "nmt") options.length = 8;
        GraphSpec graph = require(generate(network, options));
        if (parameters) part_parameters(graph);
        const Case c(std::move(graph),
                     require(read_topology_spec(PLACETO_MODELS "/topologies/" +
                                                std::string(topology) + ".json")));
        family.add((parameters ? "parameters-" : "") + std::string(network) +
                       (training ? "-training-" : "-") + topology,
                   c.problem);
      }
    }
  }
}

// Training steps of large networks, at their published sizes.
void add_deep(Family& family, uint32_t graphs) {
  constexpr const char* kNetworks[] = {"nasnet_a_large",     "nmt",          "enas_cifar10",
                                       "mixture_of_experts", "inception_v3", "enas_ptb"};
  constexpr const char* kTopologies[] = {"4xk80", "2x4-gpu-two-hosts"};
  uint32_t count = 0;
  for (const char* network : kNetworks) {
    for (const char* topology : kTopologies) {
      if (graphs != 0 && count++ >= graphs) return;
      WorkloadOptions options;
      options.training = true;
      const Case c(require(generate(network, options)),
                   require(read_topology_spec(PLACETO_MODELS "/topologies/" +
                                              std::string(topology) + ".json")));
      family.add("deep-" + std::string(network) + "-" + topology, c.problem);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = parse(argc, argv);
  BestKnown best(o.best_file);
  const auto count = [&o](uint32_t fallback) { return o.graphs == 0 ? fallback : o.graphs; };
  for (const std::string& name : o.families) {
    Family family(o, best);
    if (name == "tiny") {
      add_random(family, name, count(40), {8, 12}, 2, 4);
    } else if (name == "small") {
      add_random(family, name, count(30), {40, 160}, 2, 8);
    } else if (name == "wide") {
      add_random(family, name, count(20), {30, 31}, 16, 16);
    } else if (name == "slow-links") {
      add_random(family, name, count(24), {100, 300}, 16, 16, 1);
    } else if (name == "middle") {
      add_random(family, name, count(40), {300, 500}, 2, 8);
    } else if (name == "large") {
      add_random(family, name, count(6), {1'000, 1'001}, 4, 8);
    } else if (name == "hosts") {
      add_hosts(family, count(48));
    } else if (name == "networks") {
      add_networks(family, o.graphs, false);
    } else if (name == "parameters") {
      add_networks(family, o.graphs, true);
    } else if (name == "deep") {
      add_deep(family, o.graphs);
    } else if (name == "staged") {
      add_staged(family, count(30), {40, 300});
    } else if (name == "staged-small") {
      add_staged(family, count(60), {5, 30});
    } else if (name == "staged-networks") {
      add_staged_networks(family, o.graphs);
    } else {
      fail_usage();
    }
    family.print(name);
    best.save();
  }
  return 0;
}
