// The system a graph is placed on: devices, the links between them, and the rules of the cost
// model that hold there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/limits.h"
#include "runtime/base/result.h"

namespace placeto {

enum class Contention : uint8_t { kEgress, kNone };      // transfers queue, or never wait
enum class Transfer : uint8_t { kBroadcast, kUnicast };  // one per output, or per (output, device)
// Devices overlap; one thing at a time; each device runs its nodes stage after stage.
enum class Execution : uint8_t { kParallel, kSerial, kStaged };
enum class Dispatch : uint8_t { kFifo, kPriority };  // oldest ready node, or highest rank

// Where a number comes from. Nothing is decided by it; reports warn when unlike ones are compared.
enum class Source : uint8_t { kUnknown, kGuess, kDataSheet, kMeasured };

struct DeviceSpec {
  std::string name;
  std::string kind;
  uint64_t memory_bytes = 0;    // 0: unlimited
  double peak_flops = 0;        // per second; 0: unknown
  double memory_bandwidth = 0;  // bytes per second; 0: unknown
  double slowdown = 1;          // multiplies every run time on this device
  // Prices of staged execution: of a stage, and of each cut that enters or leaves one.
  double stage_us = 0;
  double cut_us = 0;
  double cut_bytes_per_us = 0;  // 0: cuts take no time by size
  Source memory_source = Source::kUnknown, flops_source = Source::kUnknown;
  Source bandwidth_source = Source::kUnknown, prices_source = Source::kUnknown;

  bool same_but_name(const DeviceSpec& other) const {
    DeviceSpec named = other;
    named.name = name;
    return *this == named;
  }
  friend bool operator==(const DeviceSpec&, const DeviceSpec&) = default;
};

struct LinkParameters {
  double bandwidth_bytes_per_us = 0;  // > 0
  double latency_us = 0;              // added to arrival under unicast; never occupies the channel
  double gap_us = 0;                  // idle time of the channel after a transfer
  Source source = Source::kUnknown;
};

struct LinkSpec {
  std::string from, to;  // device names
  LinkParameters parameters;
  std::string channel;  // links that name the same channel share one queue; "": from's egress
};

struct TopologySpec {
  std::string name;
  double op_gap_us = 0;  // idle time of a device after a node with a non-zero cost
  Contention contention = Contention::kEgress;
  Transfer transfer = Transfer::kBroadcast;
  Execution execution = Execution::kParallel;
  Dispatch dispatch = Dispatch::kFifo;
  std::vector<DeviceSpec> devices;
  LinkParameters default_link;  // between devices that no link names
  std::vector<LinkSpec> links;
};

class Topology {
 public:
  // Checks names (unique, non-empty, known), numbers (finite, not negative, bandwidth > 0 wherever
  // two devices can exchange a tensor) and sizes.
  static Result<Topology> build(TopologySpec spec, const Limits& limits = {});

  const TopologySpec& spec() const { return spec_; }
  const std::string& name() const { return spec_.name; }
  uint32_t device_count() const { return static_cast<uint32_t>(spec_.devices.size()); }
  const DeviceSpec& device(uint32_t d) const { return spec_.devices[d]; }
  // Index of the device of that name, or device_count().
  uint32_t find_device(std::string_view name) const;

  // Channel c < device_count() is device c's egress; named channels, which only unicast has, follow
  // in order of first use.
  uint32_t channel_count() const {
    return device_count() + static_cast<uint32_t>(channels_.size());
  }
  std::string channel_name(uint32_t channel) const;

  // Parameters and channel of the link from one device to a different one.
  const LinkParameters& link(uint32_t from, uint32_t to) const {
    return link_of_.empty() ? spec_.default_link : links_[link_of_[pair(from, to)]];
  }
  // The entry of the list that names this link; null where it has default_link.
  const LinkSpec* named_link(uint32_t from, uint32_t to) const {
    const uint32_t index = link_of_.empty() ? 0 : link_of_[pair(from, to)];
    return index == 0 ? nullptr : &spec_.links[index - 1];
  }
  uint32_t channel(uint32_t from, uint32_t to) const {
    return link_of_.empty() ? from : channel_of_[pair(from, to)];
  }
  // What a transfer is charged beyond the time that it takes its channel: nothing under broadcast.
  double latency_us(uint32_t from, uint32_t to) const {
    return spec_.transfer == Transfer::kUnicast ? link(from, to).latency_us : 0;
  }
  // True when no link is named: every pair of devices has default_link and the source's egress.
  bool uniform_links() const { return link_of_.empty(); }

 private:
  Topology() = default;
  size_t pair(uint32_t from, uint32_t to) const { return size_t{from} * device_count() + to; }
  Status index_links(const Limits& limits);

  TopologySpec spec_;
  std::vector<std::string> channels_;  // names of the named channels
  std::vector<LinkParameters> links_;  // [0] is default_link, then one per link
  std::vector<uint32_t> link_of_;      // device x device; empty when uniform
  std::vector<uint32_t> channel_of_;   // device x device; empty when uniform
};

}  // namespace placeto
