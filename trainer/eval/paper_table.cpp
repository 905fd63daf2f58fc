#include "trainer/eval/paper_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runtime/heuristics/heuristics.h"
#include "tools/report/table.h"
#include "tools/workloads/workload.h"
#include "trainer/base/csv_field.h"
#include "trainer/data/families.h"
#include "trainer/data/merge.h"

namespace placeto::train {
namespace {

struct Network {
  const char* name;
  const char* workload;
  WorkloadOptions options;
  uint32_t groups;  // merged into fewer, a layer of NMT is one group, for its weights are shared
};

std::vector<Network> networks() {
  WorkloadOptions training;
  training.training = true;
  WorkloadOptions nmt = training;
  nmt.layers = 4;
  nmt.length = 20;
  return {{"Inception-V3", "inception_v3", training, 250},
          {"NMT", "nmt", nmt, 600},
          {"NASNet", "nasnet_a_large", training, 250}};
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

// What the paper has, then the rest that is no search; of sampling placers all that they sampled.
std::vector<Way> ways_of(std::span<const PaperRow> rows) {
  std::vector<Way> ways;
  for (const char* name : {"expert", "scotch", "metis"})
    ways.push_back({Approach::kBaseline, name});
  for (const char* name : {"heft", "etf"}) ways.push_back({Approach::kHeuristic, name});
  ways.push_back({Approach::kAuto});
  for (const PaperRow& row : rows) {
    for (const Outcome& o : row.graded.outcomes) {
      const bool learned =
          o.way.approach == Approach::kPolicy || o.way.approach == Approach::kSampled;
      const auto same = std::find_if(ways.begin(), ways.end(), [&](const Way& known) {
        return known.of_any_length() == o.way.of_any_length();
      });
      if (!learned) continue;
      if (same == ways.end()) {
        ways.push_back(o.way);
      } else {
        same->length = std::max(same->length, o.way.length);
      }
    }
  }
  return ways;
}

std::string cell(double us, double single_us, uint64_t until_best = 0) {
  if (!std::isfinite(us)) return "-";
  std::string after;
  if (until_best >= 1'000) {
    after = fmt::format(" after {:.1f}k", double(until_best) / 1'000);
  } else if (until_best > 0) {
    after = fmt::format(" after {}", until_best);
  }
  return fmt::format("{:.1f} ({:.2f}){}", us / 1'000, us / single_us, after);
}

// That way at the length that the row has, the longest one: networks differ in how many placements
// an iteration of a placer samples.
Way way_in(const PaperRow& row, Way way) {
  if (way.approach != Approach::kSampled) return way;
  way.length = 0;
  for (const Outcome& o : row.graded.outcomes) {
    if (o.way.of_any_length() != way.of_any_length()) continue;
    way.length = std::max(way.length, o.way.length);
  }
  return way;
}

// "trained 480", or "trained 480 to 600" where rows differ.
std::string label_of(std::span<const PaperRow> rows, const Way& way) {
  uint64_t least = way.length;
  for (const PaperRow& row : rows) {
    const uint64_t length = way_in(row, way).length;
    if (length > 0) least = std::min(least, length);
  }
  if (least == way.length) return way.label();
  Way shortest = way;
  shortest.length = least;
  return fmt::format("{} to {}", shortest.label(), way.length);
}

uint64_t until_best(const PaperRow& row, const Way& way) {
  for (const Outcome& o : row.graded.outcomes) {
    if (o.way == way) return o.until_best;
  }
  return 0;
}

}  // namespace

std::vector<std::string> paper_networks() {
  std::vector<std::string> names;
  for (const Network& network : networks()) names.push_back(network.name);
  return names;
}

std::vector<PaperRow> measure_paper(std::span<const NamedPolicy> policies,
                                    const PaperOptions& options) {
  EvaluateOptions what;
  what.budgets = {};
  what.baselines = true;
  what.long_evaluations = options.evaluations;
  what.sampling_seed = options.sampling_seed;
  std::vector<std::string> names;
  for (const NamedPolicy& p : policies) names.push_back(p.name);
  std::vector<PaperRow> rows;
  const auto total = static_cast<uint32_t>(options.network.empty() ? 2 * networks().size() : 2);
  uint32_t done = 0;
  for (const Network& network : networks()) {
    if (!options.network.empty() && options.network != network.name) continue;
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
        const uint32_t groups = options.groups == 0 ? network.groups : options.groups;
        const Instance merged = merge_operators(std::move(*made), groups);
        const bool first = graded.empty();
        what.rnn_placements = first ? options.rnn_placements : 0;
        what.hierarchical_placements = first ? options.hierarchical_placements : 0;
        what.trained_placements = first ? options.trained_placements : 0;
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

std::string paper_table(std::span<const PaperRow> rows) {
  std::vector<Table::Column> titles = {{"", Align::kLeft}};
  for (const PaperRow& row : rows) {
    titles.push_back({fmt::format("{}, {} GPUs", row.network, row.devices), Align::kRight});
  }
  Table table(titles);
  const auto add = [&](const std::string& name, const auto& cell_of) {
    std::vector<std::string> cells = {name};
    for (const PaperRow& row : rows) cells.push_back(cell_of(row));
    table.add_row(cells);
  };
  add("CPU only", [](const PaperRow& row) { return cell(row.cpu_us, row.single_us); });
  add("single GPU", [](const PaperRow& row) { return cell(row.single_us, row.single_us); });
  for (const Way& way : ways_of(rows)) {
    add(label_of(rows, way), [&](const PaperRow& row) {
      const Way here = way_in(row, way);
      return cell(row.graded.makespan_us(here), row.single_us, until_best(row, here));
    });
  }
  add("best known",
      [](const PaperRow& row) { return cell(row.graded.best_known_us, row.single_us); });
  return table.render();
}

std::string paper_csv(std::span<const PaperRow> rows) {
  std::string text = "network,gpus,method,makespan_us,over_single_gpu,sampled_until_best\n";
  const auto line = [&](const PaperRow& row, const std::string& method, double us,
                        uint64_t sampled = 0) {
    if (!std::isfinite(us)) return;
    text += fmt::format("{},{},{},{:.6g},{:.4f},{}\n", row.network, row.devices, csv_field(method),
                        us, us / row.single_us, sampled);
  };
  for (const PaperRow& row : rows) {
    line(row, "cpu only", row.cpu_us);
    line(row, "single gpu", row.single_us);
    for (const Way& way : ways_of(rows)) {
      const Way here = way_in(row, way);
      line(row, here.label(), row.graded.makespan_us(here), until_best(row, here));
    }
    line(row, "best known", row.graded.best_known_us);
  }
  return text;
}

}  // namespace placeto::train
