#include "runtime/graph/topology.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace placeto {
namespace {

std::string quoted(std::string_view name) { return "'" + std::string(name.substr(0, 64)) + "'"; }

std::string device_place(const TopologySpec& spec, size_t d) {
  return "devices[" + std::to_string(d) + "] " + quoted(spec.devices[d].name);
}

Status check_not_negative(const std::string& place, double x) {
  if (std::isfinite(x) && x >= 0) return {};
  return Status::bad_input(place + " is " + (std::isnan(x) ? "nan" : std::to_string(x)) +
                           ", expected a finite number that is not negative");
}

Status check_text(const std::string& place, const std::string& text, const Limits& limits) {
  if (text.empty()) return Status::bad_input(place + " is empty, expected a name");
  if (text.size() <= limits.max_name_bytes) return {};
  return Status::bad_input(place + " is " + std::to_string(text.size()) +
                           " bytes long, expected at most " +
                           std::to_string(limits.max_name_bytes));
}

Status check_device(const TopologySpec& spec, size_t d, const Limits& limits) {
  const DeviceSpec& device = spec.devices[d];
  const std::string place = device_place(spec, d);
  if (Status s = check_text(place + ": name", device.name, limits); !s.ok()) return s;
  if (Status s = check_text(place + ": kind", device.kind, limits); !s.ok()) return s;
  for (auto [field, x] : {std::pair{": peak_flops", device.peak_flops},
                          std::pair{": memory_bandwidth", device.memory_bandwidth}}) {
    if (Status s = check_not_negative(place + field, x); !s.ok()) return s;
  }
  if (!std::isfinite(device.slowdown) || device.slowdown <= 0) {
    return Status::bad_input(place + ": slowdown is " + std::to_string(device.slowdown) +
                             ", expected a finite number above 0");
  }
  return {};
}

Status check_link(const std::string& place, const LinkParameters& link, bool must_carry) {
  for (auto [field, x] : {std::pair{".bandwidth_bytes_per_us", link.bandwidth_bytes_per_us},
                          std::pair{".latency_us", link.latency_us},
                          std::pair{".gap_us", link.gap_us}}) {
    if (Status s = check_not_negative(place + field, x); !s.ok()) return s;
  }
  if (must_carry && link.bandwidth_bytes_per_us == 0) {
    return Status::bad_input(place +
                             ".bandwidth_bytes_per_us is 0 or absent, expected a number above 0");
  }
  return {};
}

Status check_sizes(const TopologySpec& spec, const Limits& limits) {
  if (spec.devices.empty()) {
    return Status::bad_input("devices: empty, expected at least one device");
  }
  if (spec.devices.size() > limits.max_devices) {
    return Status::bad_input("devices: " + std::to_string(spec.devices.size()) +
                             " entries, expected at most " + std::to_string(limits.max_devices));
  }
  if (spec.links.size() > limits.max_links) {
    return Status::bad_input("links: " + std::to_string(spec.links.size()) +
                             " entries, expected at most " + std::to_string(limits.max_links));
  }
  return {};
}

}  // namespace

Result<Topology> Topology::build(TopologySpec spec, const Limits& limits) {
  if (Status s = check_sizes(spec, limits); !s.ok()) return s;
  if (spec.name.size() > limits.max_name_bytes) {
    return Status::bad_input("name is too long, expected at most " +
                             std::to_string(limits.max_name_bytes) + " bytes");
  }
  if (Status s = check_not_negative("op_gap_us", spec.op_gap_us); !s.ok()) return s;
  for (size_t d = 0; d < spec.devices.size(); ++d) {
    if (Status s = check_device(spec, d, limits); !s.ok()) return s;
  }
  Topology topology;
  topology.spec_ = std::move(spec);
  if (Status s = topology.index_links(); !s.ok()) return s;
  return topology;
}

// Resolves the names of links and fills the device x device tables.
Status Topology::index_links() {
  const uint32_t n = device_count();
  std::unordered_map<std::string_view, uint32_t> index;
  for (uint32_t d = 0; d < n; ++d) {
    const auto [it, fresh] = index.emplace(spec_.devices[d].name, d);
    if (!fresh) {
      return Status::bad_input(device_place(spec_, d) + ": that name stands at devices[" +
                               std::to_string(it->second) + "] already, expected distinct names");
    }
  }
  if (Status s = check_link("default_link", spec_.default_link, false); !s.ok()) return s;
  links_.assign(1, spec_.default_link);
  if (!spec_.links.empty()) {
    link_of_.assign(size_t{n} * n, 0);
    channel_of_.resize(size_t{n} * n);
    for (uint32_t from = 0; from < n; ++from) {
      for (uint32_t to = 0; to < n; ++to) channel_of_[pair(from, to)] = from;
    }
  }
  std::unordered_map<std::string_view, uint32_t> channel_index;
  for (size_t i = 0; i < spec_.links.size(); ++i) {
    const LinkSpec& link = spec_.links[i];
    const std::string place = "links[" + std::to_string(i) + "]";
    const auto from = index.find(link.from), to = index.find(link.to);
    for (auto [field, name, it] :
         {std::tuple{".from", &link.from, from}, std::tuple{".to", &link.to, to}}) {
      if (it != index.end()) continue;
      return Status::bad_input(place + field + " is " + quoted(*name) +
                               ", expected the name of a device");
    }
    if (from->second == to->second) {
      return Status::bad_input(place + ": from and to are both " + quoted(link.from) +
                               ", expected two devices");
    }
    if (Status s = check_link(place, link.parameters, true); !s.ok()) return s;
    uint32_t& slot = link_of_[pair(from->second, to->second)];
    if (slot != 0) {
      return Status::bad_input(place + ": from " + quoted(link.from) + " to " + quoted(link.to) +
                               " stands at links[" + std::to_string(slot - 1) +
                               "] already, expected one link for each pair");
    }
    slot = static_cast<uint32_t>(links_.size());
    links_.push_back(link.parameters);
    if (link.channel.empty()) continue;
    const auto next = static_cast<uint32_t>(n + channels_.size());
    const auto [channel, fresh] = channel_index.emplace(link.channel, next);
    if (fresh) channels_.push_back(link.channel);
    channel_of_[pair(from->second, to->second)] = channel->second;
  }
  const bool default_used =
      n > 1 && (spec_.links.size() < size_t{n} * (n - 1));  // distinct pairs, checked above
  return check_link("default_link", spec_.default_link, default_used);
}

uint32_t Topology::find_device(std::string_view name) const {
  const auto it = std::find_if(spec_.devices.begin(), spec_.devices.end(),
                               [name](const DeviceSpec& d) { return d.name == name; });
  return static_cast<uint32_t>(it - spec_.devices.begin());
}

std::string Topology::channel_name(uint32_t channel) const {
  if (channel < device_count()) return spec_.devices[channel].name + " egress";
  return channels_[channel - device_count()];
}

}  // namespace placeto
