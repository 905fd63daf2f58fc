#include "tools/machine/machine.h"

#include <algorithm>
#include <map>

#include "tools/engine/staged_model.h"
#include "tools/machine/probe.h"

namespace placeto {
namespace {

// Guesses, each near what common servers of today reach, and marked as guesses.
constexpr double kMemoryBandwidthOfCore = 10e9;  // bytes per second
constexpr double kMemoryBandwidthOfAccelerator = 3e11;
constexpr double kFlopsOfAccelerator = 1e13;
constexpr double kLinkBytesPerUs = 10000;
constexpr double kLinkLatencyUs = 10;
// What passes between workers of one process is not copied: no size makes it slower.
constexpr double kSharedBytesPerUs = 1e9;

uint32_t worker_count(const Host& host, uint32_t wanted) {
  return wanted > 0 ? wanted : host.processors.numa_nodes;
}

DeviceSpec processor_worker(const Host& host, uint32_t index, uint32_t workers,
                            DeviceSources& sources) {
  const Processors& processors = host.processors;
  DeviceSpec device;
  device.name = "cpu:" + std::to_string(index);
  device.kind = "cpu";
  device.memory_bytes = host.memory_bytes / workers;
  sources.memory = Source::kDataSheet;
  const double cores = std::min<double>(processors.cores, processors.usable) / workers;
  device.peak_flops = cores * processors.frequency_hz * processors.flops_per_cycle;
  sources.flops = Source::kDataSheet;
  device.memory_bandwidth = std::max(1.0, cores) * kMemoryBandwidthOfCore;
  sources.bandwidth = Source::kGuess;
  return device;
}

DeviceSpec accelerator_device(const Accelerator& found, const std::vector<NvidiaDevice>& nvidia,
                              uint32_t index, DeviceSources& sources) {
  DeviceSpec device;
  device.name = found.kind + ":" + std::to_string(index);
  device.kind = found.kind;
  device.memory_bytes = found.memory_bytes;
  sources.memory = found.memory_bytes > 0 ? Source::kDataSheet : Source::kGiven;
  device.peak_flops = kFlopsOfAccelerator;
  device.memory_bandwidth = kMemoryBandwidthOfAccelerator;
  sources.flops = sources.bandwidth = Source::kGuess;
  for (const NvidiaDevice& known : nvidia) {
    if (known.address != found.address) continue;
    device.memory_bytes = known.memory_bytes;
    sources.memory = Source::kDataSheet;
    if (known.peak_flops > 0) {
      device.peak_flops = known.peak_flops;
      sources.flops = Source::kDataSheet;
    }
    if (known.memory_bandwidth > 0) {
      device.memory_bandwidth = known.memory_bandwidth;
      sources.bandwidth = Source::kDataSheet;
    }
  }
  return device;
}

void link_accelerator(const Accelerator& found, const std::string& name, TopologySpec& machine) {
  if (found.link_bytes_per_us <= 0) return;
  LinkParameters slot;
  slot.bandwidth_bytes_per_us = found.link_bytes_per_us;
  slot.latency_us = kLinkLatencyUs;
  for (const DeviceSpec& other : machine.devices) {
    if (other.kind != "cpu") continue;
    machine.links.push_back({other.name, name, slot, ""});
    machine.links.push_back({name, other.name, slot, ""});
  }
}

// "flops: cpu:0 measured, gpu:0 guess" if they differ.
std::string differences(const Machine& machine, const char* what, Source DeviceSources::*source) {
  std::map<Source, std::string> names;
  for (size_t d = 0; d < machine.devices.size(); ++d) {
    std::string& list = names[machine.devices[d].*source];
    list += (list.empty() ? "" : " ") + machine.topology.devices[d].name;
  }
  if (names.size() < 2) return "";
  std::string text;
  for (const auto& [kind, devices] : names) {
    text += (text.empty() ? "" : ", ") + devices + " " + text_of(kind);
  }
  return std::string(what) + ": " + text;
}

struct Handover {
  double worst_us = 0, bytes_per_us = kSharedBytesPerUs;
  bool known = false;
};

Status measure_device(const std::string& provider, uint32_t threads, DeviceSpec& device,
                      DeviceSources& sources, Handover& handover) {
  const auto rates = measure_rates(provider, device.name, threads);
  if (!rates.ok()) return rates.status();
  device.peak_flops = rates->flops;
  device.memory_bandwidth = rates->memory_bandwidth;
  sources.flops = sources.bandwidth = Source::kMeasured;
  const auto prices = measure_prices(provider, device.name, threads);
  if (!prices.ok()) return prices.status();
  device.stage_us = prices->stage_us;
  device.cut_us = prices->cut_us;
  device.cut_bytes_per_us = prices->cut_bytes_per_us;
  sources.prices = Source::kMeasured;
  handover.worst_us = std::max(handover.worst_us, prices->handover_us);
  if (prices->handover_bytes_per_us > 0) {
    handover.bytes_per_us = std::min(handover.bytes_per_us, prices->handover_bytes_per_us);
  }
  handover.known = true;
  return {};
}

}  // namespace

const char* text_of(Source source) {
  constexpr const char* kNames[] = {"as given", "guess", "data sheet", "measured"};
  return kNames[static_cast<size_t>(source)];
}

Machine given_machine(TopologySpec topology) {
  Machine machine;
  machine.devices.resize(topology.devices.size());
  machine.topology = std::move(topology);
  return machine;
}

Machine describe_host(const Host& host, const std::vector<NvidiaDevice>& nvidia, uint32_t workers) {
  Machine machine;
  TopologySpec& topology = machine.topology;
  topology.execution = Execution::kStaged;
  topology.default_link = {kLinkBytesPerUs, kLinkLatencyUs, 0};
  machine.links = Source::kGuess;
  const uint32_t count = worker_count(host, workers);
  for (uint32_t i = 0; i < count; ++i) {
    topology.devices.push_back(processor_worker(host, i, count, machine.devices.emplace_back()));
  }
  std::map<std::string, uint32_t> of_kind;
  for (const Accelerator& found : host.accelerators) {
    topology.devices.push_back(
        accelerator_device(found, nvidia, of_kind[found.kind]++, machine.devices.emplace_back()));
    link_accelerator(found, topology.devices.back().name, topology);
  }
  topology.name = host.name + " (not measured)";
  return machine;
}

Result<Machine> measure_machine(Machine machine, const MeasureOptions& options,
                                std::vector<std::string>& notes) {
  Handover handover;
  std::string names;
  TopologySpec& topology = machine.topology;
  for (size_t d = 0; d < topology.devices.size(); ++d) {
    DeviceSpec& device = topology.devices[d];
    DeviceSources& sources = machine.devices[d];
    if (options.providers[d].empty()) {
      notes.push_back(device.name + ": left as it was; --provider " + device.name +
                      "=NAME says what runs there");
      continue;
    }
    const Status s =
        measure_device(options.providers[d], options.threads, device, sources, handover);
    if (!s.ok()) notes.push_back(device.name + ": left as it was: " + s.message());
    if (!s.ok() && device.kind != "cpu") continue;
    if (!s.ok()) {
      device.memory_bandwidth = measure_copy_bandwidth();
      sources.bandwidth = Source::kMeasured;
    }
    names += (names.empty() ? "" : " ") + device.name + (s.ok() ? "" : "'s memory");
  }
  if (names.empty()) return Status::invalid(notes.front());
  // Sessions share the memory of what passes between workers: being told of it takes time, and
  // reading it out of another core's cache.
  const bool processors_only = std::all_of(topology.devices.begin(), topology.devices.end(),
                                           [](const auto& d) { return d.kind == "cpu"; });
  if (handover.known && processors_only) {
    topology.default_link = {handover.bytes_per_us, handover.worst_us, 0};
    topology.transfer = Transfer::kUnicast;  // the rule under which latency counts
    machine.links = Source::kMeasured;
  }
  topology.name = topology.name.substr(0, topology.name.find(" (")) + " (" + names + " measured" +
                  (machine.links == Source::kMeasured ? ", links too)" : ", links not)");
  return machine;
}

std::string mixed_sources(const Machine& machine) {
  std::string text;
  const std::pair<const char*, Source DeviceSources::*> numbers[] = {
      {"rates", &DeviceSources::flops},
      {"memory bandwidths", &DeviceSources::bandwidth},
      {"prices of stages", &DeviceSources::prices}};
  for (const auto& [what, source] : numbers) {
    const std::string found = differences(machine, what, source);
    if (!found.empty()) text += (text.empty() ? "" : "; ") + found;
  }
  return text;
}

}  // namespace placeto
