#include "tools/cli/machine_outcome.h"

#include <fmt/format.h>

#include "tools/cli/files.h"
#include "tools/io/write.h"
#include "tools/machine/machine.h"

namespace placeto::cli {
namespace {

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

}  // namespace

void deliver_machine(const TopologySpec& machine, const std::string& out, const Common& common) {
  require(Topology::build(machine), kInternalError);
  if (out.empty() || common.json) {
    print_json(require(to_json(machine), kInternalError));
  } else {
    print(machine_table(machine));
  }
  if (!out.empty()) write_spec(out, machine);
  const std::string mixed = mixed_sources(machine);
  if (!mixed.empty()) note("numbers of unlike sources are compared: " + mixed);
}

}  // namespace placeto::cli
