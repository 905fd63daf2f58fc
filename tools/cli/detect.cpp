// placeto detect and measure: this host as a topology, and its numbers measured.
#include <fmt/format.h>

#include <memory>

#include "tools/cli/by_device.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/topologies.h"
#include "tools/io/shipped.h"
#include "tools/io/write.h"
#include "tools/machine/machine.h"

namespace placeto::cli {
namespace {

constexpr const char* kDetectExamples = R"(Examples:
  placeto detect -o host.json
  placeto detect --workers 2 | placeto measure - -o host.json

Processors are one device for each NUMA node, or --workers devices that share them: a runner has one
thread for each. What the kernel and the vendor's library say is marked as a data sheet's; what
nobody says, bandwidth of memory and of links, is a guess and marked as one.)";

constexpr const char* kMeasureExamples = R"(Examples:
  placeto measure host.json -o host.json
  placeto measure host.json -o host.json --provider gpu=cuda --threads 4

Rates come from products of matrices and additions of large tensors, run by the engine on the
device, by what one more of them takes; prices of stages and cuts from a small model, whole and
divided, on the runner of `placeto run`. Each number that it measures is marked so. Without the
engine only memory bandwidth is measured.)";

struct DetectOptions {
  Common common;
  std::string topology, out;
  std::vector<std::string> providers;
  uint32_t workers = 0;
  MeasureOptions measuring;  // but for the providers, which are by device there
};

std::string rate(double value, Source source) {
  return value > 0 ? fmt::format("{} ({})", format_si(value), text_of(source)) : "-";
}

std::string machine_table(const TopologySpec& machine) {
  Table table({{"device"},
               {"memory", Align::kRight},
               {"flop/s", Align::kRight},
               {"memory B/s", Align::kRight},
               {"stage", Align::kRight},
               {"cut", Align::kRight},
               {"cut B/us", Align::kRight},
               {"prices"}});
  for (const DeviceSpec& d : machine.devices) {
    table.add_row({d.name, d.memory_bytes > 0 ? format_bytes(d.memory_bytes) : "-",
                   rate(d.peak_flops, d.flops_source), rate(d.memory_bandwidth, d.bandwidth_source),
                   format_us(d.stage_us), format_us(d.cut_us),
                   d.cut_bytes_per_us > 0 ? format_si(d.cut_bytes_per_us) : "-",
                   text_of(d.prices_source)});
  }
  return table.render() + fitted(fmt::format("between devices: {} after the end of a stage ({})\n",
                                             format_us(machine.default_link.latency_us),
                                             text_of(machine.default_link.source)));
}

// To OUT, with a table on standard output; or the description itself there.
void deliver(const DetectOptions& options, const TopologySpec& machine) {
  require(Topology::build(machine), kInternalError);
  if (options.out.empty() || options.common.json) {
    print_json(require(to_json(machine), kInternalError));
  } else {
    print(machine_table(machine));
  }
  if (!options.out.empty()) write_spec(options.out, machine);
  const std::string mixed = mixed_sources(machine);
  if (!mixed.empty()) note("numbers of unlike sources are compared: " + mixed);
}

void run_detect(const DetectOptions& options) {
  check_outputs({options.out});
  const Host host = read_host();
  if (host.processors.logical == 0) {
    throw Failure(kInternalError, "/proc/cpuinfo lists no processor: nothing can be detected here");
  }
  deliver(options, describe_host(host, nvidia_devices(), options.workers));
}

// Processors run on the engine's own provider; others only where the caller names one.
std::vector<std::string> providers_of(const TopologySpec& machine, const DetectOptions& options) {
  std::vector<std::string> providers =
      by_device(device_names(machine), options.providers, "--provider");
  for (size_t d = 0; d < providers.size(); ++d) {
    if (providers[d].empty() && machine.devices[d].kind == "cpu") providers[d] = "cpu";
  }
  return providers;
}

void run_measure(const DetectOptions& options) {
  check_replacing_outputs({options.out});  // which it measures anew
  const TopologySpec machine = load_topology(options.topology).spec();
  MeasureOptions measure = options.measuring;
  measure.providers = providers_of(machine, options);
  std::vector<std::string> notes;
  StatusLine line("measuring: some ten seconds a device ...");
  const TopologySpec measured = require(measure_machine(machine, measure, notes));
  line.clear();
  deliver(options, measured);
  for (const std::string& text : notes) note(text);
}

}  // namespace

void add_detect(Program& program) {
  Command& command = program.add("detect", "Describe this host as a topology");
  auto options = std::make_shared<DetectOptions>();
  command
      .option("-o,--output", "TOPOLOGY", options->out,
              "Topology file to write; standard output if absent")
      .writes();
  command.count("--workers", options->workers,
                "Devices that share the processors; one for each NUMA node if absent", 1, 1024);
  add_common(command, options->common);
  command.footer(kDetectExamples);
  command.action([options] { run_detect(*options); });
}

void add_measure(Program& program) {
  Command& command = program.add("measure", "Measure the devices of a topology on this host");
  auto options = std::make_shared<DetectOptions>();
  command.argument("TOPOLOGY", options->topology, "Topology file or name")
      .required()
      .proposes(shipped::topology_names());
  command
      .option("-o,--output", "TOPOLOGY", options->out,
              "Topology file to write; standard output if absent")
      .writes();
  command.count("--threads", options->measuring.threads, "Threads of each session", 1, 1024);
  add_provider(command, options->providers);
  add_common(command, options->common);
  command.footer(kMeasureExamples);
  command.action([options] { run_measure(*options); });
}

}  // namespace placeto::cli
