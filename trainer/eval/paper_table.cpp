#include "trainer/eval/paper_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runtime/heuristics/heuristics.h"
#include "tools/report/table.h"
#include "tools/workloads/workload.h"
#include "trainer/data/families.h"
#include "trainer/data/merge.h"

namespace placeto::train {
namespace {

struct Network {
  const char* name;
  const char* workload;
  WorkloadOptions options;
};

std::vector<Network> networks() {
  WorkloadOptions training;
  training.training = true;
  WorkloadOptions nmt = training;
  nmt.layers = 4;
  nmt.length = 20;
  return {{"Inception-V3", "inception_v3", training},
          {"NMT", "nmt", nmt},
          {"NASNet", "nasnet_a_large", training}};
}

// The host of two K80s: Intel Xeon E5-2686 v4, 16 cores, data sheet rates in single precision.
TopologySpec host_processor() {
  TopologySpec topology = k80_topology(1);
  topology.name = "cpu";
  DeviceSpec& cpu = topology.devices[0];
  cpu.name = "cpu:0";
  cpu.kind = "cpu";
  cpu.memory_bytes = 0;
  cpu.peak_flops = 1.177e12;      // 16 cores x 2.3 GHz x 32
  cpu.memory_bandwidth = 76.8e9;  // 4 channels of DDR4-2400
  return topology;
}

double one_device_us(const GraphSpec& graph, TopologySpec topology) {
  topology.devices.resize(1);
  Result<Instance> made = make_instance("", graph, std::move(topology));
  if (!made.ok()) return std::nan("");
  const Assignment all(made->problem->node_count(), 0);
  const Score score = Evaluator(*made->problem).evaluate(all);
  return score.feasible() ? score.objective_us : std::nan("");
}

// Columns: what the paper has, then the rest that is no search.
std::vector<Way> ways_of(std::span<const PaperRow> rows) {
  std::vector<Way> ways;
  for (const char* name : {"expert", "scotch", "metis"})
    ways.push_back({Approach::kBaseline, name});
  for (const char* name : {"heft", "etf"}) ways.push_back({Approach::kHeuristic, name});
  ways.push_back({Approach::kAuto});
  for (const PaperRow& row : rows) {
    for (const Outcome& o : row.graded.outcomes) {
      const bool learned = o.way.approach == Approach::kPolicy || o.way.approach == Approach::kRnn;
      const bool known = std::find(ways.begin(), ways.end(), o.way) != ways.end();
      if (learned && !known) ways.push_back(o.way);
    }
  }
  return ways;
}

std::string cell(double us, double single_us) {
  if (!std::isfinite(us)) return "-";
  return fmt::format("{:.1f} ({:.2f})", us / 1'000, us / single_us);
}

}  // namespace

std::vector<PaperRow> measure_paper(std::span<const NamedPolicy> policies,
                                    const PaperOptions& options) {
  EvaluateOptions what;
  what.budgets = {};
  what.baselines = true;
  what.long_evaluations = options.evaluations;
  std::vector<std::string> names;
  for (const NamedPolicy& p : policies) names.push_back(p.name);
  std::vector<PaperRow> rows;
  const auto total = static_cast<uint32_t>(2 * networks().size());
  uint32_t done = 0;
  for (const Network& network : networks()) {
    const Result<GraphSpec> graph = generate(network.workload, network.options);
    for (const uint32_t devices : {2u, 4u}) {
      PaperRow row{network.name,
                   devices,
                   one_device_us(*graph, host_processor()),
                   one_device_us(*graph, k80_topology(1)),
                   {}};
      std::vector<Graded> graded;
      for (const NamedPolicy& p : policies) {
        Result<Instance> made = make_instance(network.name, *graph, k80_topology(devices));
        const Instance merged = merge_operators(std::move(*made), options.groups);
        what.rnn_placements = graded.empty() ? options.rnn_placements : 0;
        auto one = grade(merged, *p.policy, what);
        if (one) graded.push_back(std::move(*one));
      }
      if (options.on_progress) options.on_progress(++done, total);
      if (graded.size() != policies.size()) continue;  // nothing fits the memory
      row.graded = combine(std::move(graded), names);
      row.graded.set = network.name;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string paper_table(std::span<const PaperRow> rows, bool color) {
  std::vector<Table::Column> titles = {{"network", Align::kLeft},
                                       {"GPUs", Align::kRight},
                                       {"CPU only", Align::kRight},
                                       {"single GPU", Align::kRight}};
  const std::vector<Way> ways = ways_of(rows);
  for (const Way& way : ways) titles.push_back({way.label(), Align::kRight});
  titles.push_back({"best known", Align::kRight});
  Table table(titles);
  for (const PaperRow& row : rows) {
    std::vector<std::string> cells = {row.network, std::to_string(row.devices),
                                      cell(row.cpu_us, row.single_us),
                                      cell(row.single_us, row.single_us)};
    for (const Way& way : ways) {
      cells.push_back(cell(row.graded.makespan_us(way), row.single_us));
    }
    cells.push_back(cell(row.graded.best_known_us, row.single_us));
    table.add_row(cells);
  }
  return table.render(color);
}

std::string paper_csv(std::span<const PaperRow> rows) {
  std::string text = "network,gpus,method,makespan_us,over_single_gpu\n";
  const auto line = [&](const PaperRow& row, const std::string& method, double us) {
    if (!std::isfinite(us)) return;
    text += fmt::format("{},{},{},{:.6g},{:.4f}\n", row.network, row.devices, method, us,
                        us / row.single_us);
  };
  for (const PaperRow& row : rows) {
    line(row, "cpu only", row.cpu_us);
    line(row, "single gpu", row.single_us);
    for (const Way& way : ways_of(rows)) {
      line(row, way.label(), row.graded.makespan_us(way));
    }
    line(row, "best known", row.graded.best_known_us);
  }
  return text;
}

}  // namespace placeto::train
