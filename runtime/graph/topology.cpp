#include "runtime/graph/topology.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/base/message.h"
#include "runtime/graph/text.h"

namespace placeto {
namespace {

std::string device_place(const TopologySpec& spec, size_t d) {
  return join({"devices[", d, "] ", in_quotes(spec.devices[d].name)});
}

std::string link_place(size_t i) {
  return join({"links[", i, "]"});
}

// The place of a number is the text `place` and the field's name, joined only for a message.
Status check_not_negative(std::string_view place, const char* field, double x) {
  if (std::isfinite(x) && x >= 0) return {};
  return bad_input(
      {place, field, " is ", number_text(x), ", expected a finite number that is not negative"});
}

Status check_device(const TopologySpec& spec, size_t d, const Limits& limits) {
  const DeviceSpec& device = spec.devices[d];
  const std::string place = device_place(spec, d);
  if (Status s = check_name(device.name, limits); !s.ok()) return s.at(join({place, ": name"}));
  if (Status s = check_name(device.kind, limits); !s.ok()) return s.at(join({place, ": kind"}));
  for (auto [field, x] :
       {std::pair{": peak_flops", device.peak_flops},
        std::pair{": memory_bandwidth", device.memory_bandwidth},
        std::pair{": stage_us", device.stage_us}, std::pair{": cut_us", device.cut_us},
        std::pair{": cut_bytes_per_us", device.cut_bytes_per_us}}) {
    if (Status s = check_not_negative(place, field, x); !s.ok()) return s;
  }
  if (!std::isfinite(device.slowdown) || device.slowdown <= 0) {
    return bad_input({place, ": slowdown is ", number_text(device.slowdown),
                      ", expected a finite number above 0"});
  }
  return {};
}

Status check_link(const std::string& place, const LinkParameters& link, bool must_carry) {
  for (auto [field, x] :
       {std::pair{": bandwidth_bytes_per_us", link.bandwidth_bytes_per_us},
        std::pair{": latency_us", link.latency_us}, std::pair{": gap_us", link.gap_us}}) {
    if (Status s = check_not_negative(place, field, x); !s.ok()) return s;
  }
  if (must_carry && link.bandwidth_bytes_per_us == 0) {
    return bad_input({place, ": bandwidth_bytes_per_us is 0 or absent, expected a number above 0"});
  }
  return {};
}

// Device index by name. The keys point into the description.
using DeviceIndex = std::map<std::string_view, uint32_t>;

Result<DeviceIndex> index_devices(const TopologySpec& spec) {
  DeviceIndex index;
  for (uint32_t d = 0; d < spec.devices.size(); ++d) {
    const auto [it, fresh] = index.emplace(spec.devices[d].name, d);
    if (fresh) continue;
    return bad_input({device_place(spec, d), ": that name stands at devices[", it->second,
                      "] already, expected distinct names"});
  }
  return index;
}

Status check_link_entry(const TopologySpec& spec, size_t i, const DeviceIndex& index,
                        const Limits& limits) {
  const LinkSpec& link = spec.links[i];
  const std::string place = link_place(i);
  for (auto [field, name] : {std::pair{"from", &link.from}, std::pair{"to", &link.to}}) {
    if (index.contains(*name)) continue;
    return bad_input(
        {place, ": ", field, " is ", in_quotes(*name), ", expected the name of a device"});
  }
  if (link.from == link.to) {
    return bad_input(
        {place, ": from and to are both ", in_quotes(link.from), ", expected two devices"});
  }
  if (Status s = check_text(link.channel, limits); !s.ok()) return s.at(join({place, ": channel"}));
  return check_link(place, link.parameters, true);
}

Status check_sizes(const TopologySpec& spec, const Limits& limits) {
  if (spec.devices.empty()) {
    return Status::bad_input("devices: empty, expected at least one device");
  }
  if (spec.devices.size() > limits.max_devices) {
    return too_many("devices", spec.devices.size(), limits.max_devices);
  }
  if (spec.links.size() > limits.max_links) {
    return too_many("links", spec.links.size(), limits.max_links);
  }
  return {};
}

}  // namespace

Result<Topology> Topology::build(TopologySpec spec, const Limits& limits) {
  if (Status s = check_sizes(spec, limits); !s.ok()) return s;
  if (Status s = check_text(spec.name, limits); !s.ok()) return s.at("name");
  if (Status s = check_not_negative("", "op_gap_us", spec.op_gap_us); !s.ok()) return s;
  for (size_t d = 0; d < spec.devices.size(); ++d) {
    if (Status s = check_device(spec, d, limits); !s.ok()) return s;
  }
  if (Status s = check_link("default_link", spec.default_link, false); !s.ok()) return s;
  Topology topology;
  topology.spec_ = std::move(spec);
  if (Status s = topology.index_links(limits); !s.ok()) return s;
  return topology;
}

// Resolves the names of links and fills the device x device tables.
Status Topology::index_links(const Limits& limits) {
  const Result<DeviceIndex> index = index_devices(spec_);
  if (!index.ok()) return index.status();
  const uint32_t n = device_count();
  links_.assign(1, spec_.default_link);
  if (!spec_.links.empty()) {
    link_of_.assign(size_t{n} * n, 0);
    channel_of_.resize(size_t{n} * n);
    for (size_t i = 0; i < channel_of_.size(); ++i) channel_of_[i] = static_cast<uint32_t>(i / n);
  }
  std::map<std::string_view, uint32_t> channels;
  for (size_t i = 0; i < spec_.links.size(); ++i) {
    const LinkSpec& link = spec_.links[i];
    if (Status s = check_link_entry(spec_, i, *index, limits); !s.ok()) return s;
    const size_t ends = pair(index->at(link.from), index->at(link.to));
    if (link_of_[ends] != 0) {
      return bad_input({link_place(i), ": from ", in_quotes(link.from), " to ", in_quotes(link.to),
                        " stands at ", link_place(link_of_[ends] - 1),
                        " already, expected one link for each pair"});
    }
    link_of_[ends] = static_cast<uint32_t>(links_.size());
    links_.push_back(link.parameters);
    // A broadcast leaves by its device's egress, whatever the links say.
    if (link.channel.empty() || spec_.transfer == Transfer::kBroadcast) continue;
    const auto next = static_cast<uint32_t>(n + channels_.size());
    const auto [channel, fresh] = channels.emplace(link.channel, next);
    if (fresh) channels_.push_back(link.channel);
    channel_of_[ends] = channel->second;
  }
  // The pairs are distinct, so fewer links than pairs leave some pair to the default.
  const bool default_used = n > 1 && spec_.links.size() < size_t{n} * (n - 1);
  return check_link("default_link", spec_.default_link, default_used);
}

uint32_t Topology::find_device(std::string_view name) const {
  const auto it = std::find_if(spec_.devices.begin(), spec_.devices.end(),
                               [name](const DeviceSpec& d) { return d.name == name; });
  return static_cast<uint32_t>(it - spec_.devices.begin());
}

std::string Topology::channel_name(uint32_t channel) const {
  if (channel < device_count()) return join({spec_.devices[channel].name, " egress"});
  return channels_[channel - device_count()];
}

}  // namespace placeto
