// placeto measure: the numbers of a topology, measured on this host.
#include <memory>
#include <string>
#include <vector>

#include "tools/cli/by_device.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/machine_outcome.h"
#include "tools/cli/topologies.h"
#include "tools/io/shipped.h"
#include "tools/machine/machine.h"
#include "tools/report/status_line.h"

namespace placeto::cli {
namespace {

constexpr const char* kMeasureExamples = R"(Examples:
  placeto measure host.json -o host.json
  placeto measure host.json -o host.json --provider gpu=cuda --threads 4

Rates come from products of matrices and additions of large tensors, run by the engine on the
device, by what one more of them takes; prices of stages and cuts from a small model, whole and
divided, on the runner of `placeto run`. Each number that it measures is marked so. Without the
engine only memory bandwidth is measured.)";

struct MeasureSettings {
  Common common;
  std::string topology, out;
  std::vector<std::string> providers;
  MeasureOptions measuring;  // but for the providers, which are by device there
};

// Processors run on the engine's own provider; others only where the caller names one.
std::vector<std::string> providers_to_measure(const TopologySpec& machine,
                                              const MeasureSettings& options) {
  std::vector<std::string> providers =
      by_device(device_names(machine), options.providers, "--provider");
  for (size_t d = 0; d < providers.size(); ++d) {
    if (providers[d].empty() && machine.devices[d].kind == "cpu") providers[d] = "cpu";
  }
  return providers;
}

void run_measure(const MeasureSettings& options) {
  check_replacing_outputs({options.out});  // which it measures anew
  const TopologySpec machine = load_topology(options.topology).spec();
  MeasureOptions measure = options.measuring;
  measure.providers = providers_to_measure(machine, options);
  std::vector<std::string> notes;
  StatusLine line("measuring: some ten seconds a device ...");
  const TopologySpec measured = require(measure_machine(machine, measure, notes));
  line.clear();
  deliver_machine(measured, options.out, options.common);
  for (const std::string& text : notes) note(text);
}

}  // namespace

void add_measure(Program& program) {
  Command& command = program.add("measure", "Measure the devices of a topology on this host");
  auto options = std::make_shared<MeasureSettings>();
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
