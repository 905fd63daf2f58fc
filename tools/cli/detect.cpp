// placeto detect: this host as a topology.
#include <memory>

#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/cli/machine_outcome.h"
#include "tools/machine/machine.h"

namespace placeto::cli {
namespace {

constexpr const char* kDetectExamples = R"(Examples:
  placeto detect -o host.json
  placeto detect --workers 2 | placeto measure - -o host.json

Processors are one device for each NUMA node, or --workers devices that share them: a runner has one
thread for each. What the kernel and the vendor's library say is marked as a data sheet's; what
nobody says, bandwidth of memory and of links, is a guess and marked as one.)";

struct DetectOptions {
  Common common;
  std::string out;
  uint32_t workers = 0;
};

void run_detect(const DetectOptions& options) {
  check_outputs({options.out});
  const Host host = read_host();
  if (host.processors.logical == 0) {
    throw Failure(kInternalError, "/proc/cpuinfo lists no processor: nothing can be detected here");
  }
  deliver_machine(describe_host(host, nvidia_devices(), options.workers), options.out,
                  options.common);
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

}  // namespace placeto::cli
