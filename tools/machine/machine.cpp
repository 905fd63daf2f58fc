#include "tools/machine/machine.h"

#include <algorithm>
#include <map>
#include <set>

#include "tools/engine/staged_model.h"
#include "tools/machine/probe.h"

namespace placeto {
namespace {

// Guesses, each near what common servers of today reach, and marked as guesses.
constexpr double kFrequencyHz = 2.5e9;
constexpr uint32_t kFlopsPerCycle = 8;
constexpr double kMemoryBandwidthOfCore = 10e9;  // bytes per second
constexpr double kMemoryBandwidthOfAccelerator = 3e11;
constexpr double kFlopsOfAccelerator = 1e13;
constexpr double kLinkBytesPerUs = 10000;
constexpr double kLinkLatencyUs = 10;
// What passes between workers of one process is not copied: no size makes it slower.
constexpr double kSharedBytesPerUs = 1e9;
// A worker that is awake hears of a stage's end in one or two; more than that, and it was kept
// waiting.
constexpr double kBusyHandoverUs = 30;

uint32_t worker_count(const Host& host, uint32_t wanted) {
  return wanted > 0 ? wanted : host.processors.numa_nodes;
}

DeviceSpec processor_worker(const Host& host, uint32_t index, uint32_t workers) {
  const Processors& processors = host.processors;
  DeviceSpec device;
  device.name = "cpu:" + std::to_string(index);
  device.kind = "cpu";
  device.memory_bytes = host.memory_bytes / workers;
  device.memory_source = Source::kDataSheet;
  const double cores = std::min<double>(processors.cores, processors.usable) / workers;
  // Virtual machines on aarch64 do not say how fast their processors run.
  const bool known = processors.frequency_hz > 0 && processors.flops_per_cycle > 0;
  const double hz = processors.frequency_hz > 0 ? processors.frequency_hz : kFrequencyHz;
  const uint32_t per_cycle =
      processors.flops_per_cycle > 0 ? processors.flops_per_cycle : kFlopsPerCycle;
  device.peak_flops = cores * hz * per_cycle;
  device.flops_source = known ? Source::kDataSheet : Source::kGuess;
  device.memory_bandwidth = std::max(1.0, cores) * kMemoryBandwidthOfCore;
  device.bandwidth_source = Source::kGuess;
  return device;
}

DeviceSpec accelerator_device(const Accelerator& found, const std::vector<NvidiaDevice>& nvidia,
                              uint32_t index) {
  DeviceSpec device;
  device.name = found.kind + ":" + std::to_string(index);
  device.kind = found.kind;
  device.memory_bytes = found.memory_bytes;
  device.memory_source = found.memory_bytes > 0 ? Source::kDataSheet : Source::kUnknown;
  device.peak_flops = kFlopsOfAccelerator;
  device.memory_bandwidth = kMemoryBandwidthOfAccelerator;
  device.flops_source = device.bandwidth_source = Source::kGuess;
  for (const NvidiaDevice& known : nvidia) {
    if (known.address != found.address) continue;
    device.memory_bytes = known.memory_bytes;
    device.memory_source = Source::kDataSheet;
    if (known.peak_flops > 0) {
      device.peak_flops = known.peak_flops;
      device.flops_source = Source::kDataSheet;
    }
    if (known.memory_bandwidth > 0) {
      device.memory_bandwidth = known.memory_bandwidth;
      device.bandwidth_source = Source::kDataSheet;
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
std::string differences(const TopologySpec& machine, const char* what, Source DeviceSpec::*source) {
  std::map<Source, std::string> names;
  for (const DeviceSpec& device : machine.devices) {
    std::string& list = names[device.*source];
    list += (list.empty() ? "" : " ") + device.name;
  }
  if (names.size() < 2) return "";
  std::string text;
  for (const auto& [kind, devices] : names) {
    text += (text.empty() ? "" : ", ") + devices + " " + text_of(kind);
  }
  return std::string(what) + ": " + text;
}

// Between workers, as a processor's tell: on a device of its own it drowns in the copies.
struct Handover {
  double worst_us = 0;
  uint32_t processors = 0, others = 0;  // devices whose prices are known
};

// Changes nothing on failure.
Status measure_device(const std::string& provider, uint32_t threads, DeviceSpec& device,
                      Handover& handover) {
  const auto rates = measure_rates(provider, device.name, threads);
  if (!rates.ok()) return rates.status();
  const auto prices = measure_prices(provider, device.name, threads);
  if (!prices.ok()) return prices.status();
  device.peak_flops = rates->flops;
  device.memory_bandwidth = rates->memory_bandwidth;
  device.flops_source = device.bandwidth_source = Source::kMeasured;
  device.stage_us = prices->stage_us;
  device.cut_us = prices->cut_us;
  device.cut_bytes_per_us = prices->cut_bytes_per_us;
  device.prices_source = Source::kMeasured;
  const bool processor = device.kind == "cpu";
  if (processor) handover.worst_us = std::max(handover.worst_us, prices->handover_us);
  ++(processor ? handover.processors : handover.others);
  return {};
}

}  // namespace

const char* text_of(Source source) {
  constexpr const char* kNames[] = {"as given", "guess", "data sheet", "measured"};
  return kNames[static_cast<size_t>(source)];
}

TopologySpec describe_host(const Host& host, const std::vector<NvidiaDevice>& nvidia,
                           uint32_t workers) {
  TopologySpec topology;
  topology.execution = Execution::kStaged;
  topology.transfer = Transfer::kUnicast;  // the rule under which latency counts
  topology.default_link = {kLinkBytesPerUs, kLinkLatencyUs, 0, Source::kGuess};
  const uint32_t count = worker_count(host, workers);
  for (uint32_t i = 0; i < count; ++i) {
    topology.devices.push_back(processor_worker(host, i, count));
  }
  std::map<std::string, uint32_t> of_kind;
  for (const Accelerator& found : host.accelerators) {
    topology.devices.push_back(accelerator_device(found, nvidia, of_kind[found.kind]++));
    link_accelerator(found, topology.devices.back().name, topology);
  }
  topology.name = host.name + " (not measured)";
  return topology;
}

Result<TopologySpec> measure_machine(TopologySpec topology, const MeasureOptions& options,
                                     std::vector<std::string>& notes) {
  for (size_t d = 0; d < topology.devices.size(); ++d) {
    if (options.providers[d].empty()) continue;
    const Status s = check_provider(options.providers[d], topology.devices[d].name);
    if (!s.ok()) return s;
  }
  Handover handover;
  std::set<std::string> measured;  // names of devices whose prices are known
  std::string names, failure;
  for (size_t d = 0; d < topology.devices.size(); ++d) {
    DeviceSpec& device = topology.devices[d];
    if (options.providers[d].empty()) {
      notes.push_back(device.name + ": left as it was; --provider " + device.name +
                      "=NAME says what runs there");
      continue;
    }
    const Status s = measure_device(options.providers[d], options.threads, device, handover);
    if (!s.ok() && device.kind != "cpu") {
      notes.push_back(device.name + ": left as it was: " + s.message());
      if (failure.empty()) failure = notes.back();
      continue;
    }
    if (!s.ok()) {
      notes.push_back(device.name + ": all but its memory left as it was: " + s.message());
      device.memory_bandwidth = measure_copy_bandwidth();
      device.bandwidth_source = Source::kMeasured;
    }
    if (s.ok()) measured.insert(device.name);
    names += (names.empty() ? "" : " ") + device.name + (s.ok() ? "" : "'s memory");
  }
  if (names.empty()) {
    return Status::invalid("nothing of this machine can be measured here: " +
                           (failure.empty() ? notes.front() : failure));
  }
  // Sessions share the memory of what passes between workers: being told of it takes time; its size
  // is in the prices of stages, also where a provider copies it to memory of its own and back.
  const auto others = std::count_if(topology.devices.begin(), topology.devices.end(),
                                    [](const auto& d) { return d.kind != "cpu"; });
  if (handover.processors > 0 && handover.others == static_cast<uint32_t>(others)) {
    topology.default_link = {kSharedBytesPerUs, handover.worst_us, 0, Source::kMeasured};
    std::erase_if(topology.links, [&](const LinkSpec& link) {
      return measured.contains(link.from) && measured.contains(link.to);
    });
    topology.transfer = Transfer::kUnicast;
  }
  if (handover.processors + handover.others > 0 && topology.execution != Execution::kStaged) {
    notes.push_back(
        "the topology's execution is not \"staged\", so that prices of stages count only where an "
        "engine is placed for: place --engine");
  }
  if (handover.worst_us > kBusyHandoverUs) {
    notes.push_back(
        "workers waited for a core, so that something else runs on this host: measure "
        "again when it is idle");
  }
  topology.name =
      topology.name.substr(0, topology.name.find(" (")) + " (" + names + " measured" +
      (topology.default_link.source == Source::kMeasured ? ", links too)" : ", links not)");
  return topology;
}

std::string mixed_sources(const TopologySpec& machine) {
  std::string text;
  const std::pair<const char*, Source DeviceSpec::*> numbers[] = {
      {"rates", &DeviceSpec::flops_source},
      {"memory bandwidths", &DeviceSpec::bandwidth_source},
      {"prices of stages", &DeviceSpec::prices_source}};
  for (const auto& [what, source] : numbers) {
    const std::string found = differences(machine, what, source);
    if (!found.empty()) text += (text.empty() ? "" : "; ") + found;
  }
  return text;
}

}  // namespace placeto
