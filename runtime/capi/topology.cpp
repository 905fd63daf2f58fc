// Topologies: built device by device, or loaded.
#include "runtime/capi/handles.h"
#include "runtime/capi/support.h"
#include "runtime/format/file.h"
#include "runtime/format/topology_file.h"

using namespace placeto;        // NOLINT: this file is one edge of the library
using namespace placeto::capi;  // NOLINT

namespace {

static_assert(PLACETO_CONTENTION_NONE == static_cast<int>(Contention::kNone));
static_assert(PLACETO_TRANSFER_UNICAST == static_cast<int>(Transfer::kUnicast));
static_assert(PLACETO_EXECUTION_SERIAL == static_cast<int>(Execution::kSerial));
static_assert(PLACETO_EXECUTION_STAGED == static_cast<int>(Execution::kStaged));
static_assert(PLACETO_DISPATCH_PRIORITY == static_cast<int>(Dispatch::kPriority));

Status read_rules(const placeto_topology_rules* rules, TopologySpec& to) {
  placeto_topology_rules from = {};
  if (Status s = read_struct("placeto_topology_rules", rules, from); !s.ok()) return s;
  if (Status s = check_choice("contention", from.contention, 2); !s.ok()) return s;
  if (Status s = check_choice("transfer", from.transfer, 2); !s.ok()) return s;
  if (Status s = check_choice("execution", from.execution, 3); !s.ok()) return s;
  if (Status s = check_choice("dispatch", from.dispatch, 2); !s.ok()) return s;
  to.op_gap_us = from.op_gap_us;
  to.contention = static_cast<Contention>(from.contention);
  to.transfer = static_cast<Transfer>(from.transfer);
  to.execution = static_cast<Execution>(from.execution);
  to.dispatch = static_cast<Dispatch>(from.dispatch);
  to.default_link = {from.bandwidth_bytes_per_us, from.latency_us, from.gap_us};
  return {};
}

placeto_device default_device() {
  placeto_device device = {};
  device.slowdown = DeviceSpec().slowdown;
  return device;
}

Status hand_out(TopologySpec spec, const Limits& limits, placeto_topology** topology) {
  Result<Topology> built = Topology::build(std::move(spec), limits);
  if (!built.ok()) return built.status();
  *topology = new placeto_topology{std::make_shared<const Topology>(std::move(*built))};
  return {};
}

Status decode_and_hand_out(std::span<const uint8_t> bytes, const Limits& limits,
                           placeto_topology** topology) {
  Result<TopologySpec> spec = decode_topology(bytes, limits);
  if (!spec.ok()) return spec.status();
  return hand_out(std::move(*spec), limits, topology);
}

}  // namespace

placeto_status placeto_default_topology_rules(placeto_topology_rules* rules,
                                              size_t struct_size) noexcept {
  return set_defaults(rules, struct_size, placeto_topology_rules{});
}

placeto_status placeto_default_device(placeto_device* device, size_t struct_size) noexcept {
  return set_defaults(device, struct_size, default_device());
}

placeto_status placeto_default_link(placeto_link* link, size_t struct_size) noexcept {
  return set_defaults(link, struct_size, placeto_link{});
}

placeto_status placeto_topology_builder_create(const char* name, placeto_topology_builder** builder,
                                               placeto_error* error) noexcept {
  if (builder != nullptr) *builder = nullptr;
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{builder, "builder"}}); !s.ok()) return s;
    auto made = std::make_unique<placeto_topology_builder>();
    made->spec.name = text_or_empty(name);
    *builder = made.release();
    return {};
  });
}

void placeto_topology_builder_free(placeto_topology_builder* builder) noexcept {
  delete builder;
}

placeto_status placeto_topology_builder_set_rules(placeto_topology_builder* builder,
                                                  const placeto_topology_rules* rules,
                                                  placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{builder, "builder"}, {rules, "rules"}}); !s.ok()) return s;
    return read_rules(rules, builder->spec);
  });
}

placeto_status placeto_topology_builder_add_device(placeto_topology_builder* builder,
                                                   const placeto_device* device, uint32_t* index,
                                                   placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{builder, "builder"}, {device, "device"}}); !s.ok()) return s;
    placeto_device from = default_device();
    if (Status s = read_struct("placeto_device", device, from); !s.ok()) return s;
    if (builder->spec.devices.size() >= PLACETO_NONE) return invalid({"too many devices"});
    builder->spec.devices.push_back(
        {text_or_empty(from.name), text_or_empty(from.kind), from.memory_bytes, from.peak_flops,
         from.memory_bandwidth, from.slowdown, from.stage_us, from.cut_us, from.cut_bytes_per_us});
    if (index != nullptr) *index = static_cast<uint32_t>(builder->spec.devices.size() - 1);
    return {};
  });
}

placeto_status placeto_topology_builder_add_link(placeto_topology_builder* builder,
                                                 const placeto_link* link,
                                                 placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{builder, "builder"}, {link, "link"}}); !s.ok()) return s;
    placeto_link from = {};
    if (Status s = read_struct("placeto_link", link, from); !s.ok()) return s;
    builder->spec.links.push_back({text_or_empty(from.from),
                                   text_or_empty(from.to),
                                   {from.bandwidth_bytes_per_us, from.latency_us, from.gap_us},
                                   text_or_empty(from.channel)});
    return {};
  });
}

placeto_status placeto_topology_builder_build(const placeto_topology_builder* builder,
                                              const placeto_limits* limits,
                                              placeto_topology** topology,
                                              placeto_error* error) noexcept {
  if (topology != nullptr) *topology = nullptr;
  return guarded(error, [&]() -> Status {
    Limits bounds;
    if (Status s = check_not_null({{builder, "builder"}, {topology, "topology"}}); !s.ok()) {
      return s;
    }
    if (Status s = read_limits(limits, bounds); !s.ok()) return s;
    return hand_out(builder->spec, bounds, topology);
  });
}

placeto_status placeto_topology_load_file(const char* path, const placeto_limits* limits,
                                          placeto_topology** topology,
                                          placeto_error* error) noexcept {
  if (topology != nullptr) *topology = nullptr;
  return guarded(error, [&]() -> Status {
    Limits bounds;
    if (Status s = check_not_null({{path, "path"}, {topology, "topology"}}); !s.ok()) return s;
    if (Status s = read_limits(limits, bounds); !s.ok()) return s;
    const Result<std::vector<uint8_t>> bytes = read_file(path, bounds.max_file_bytes);
    if (!bytes.ok()) return bytes.status();
    return decode_and_hand_out(*bytes, bounds, topology).at(path);
  });
}

placeto_status placeto_topology_load_memory(const void* bytes, size_t size,
                                            const placeto_limits* limits,
                                            placeto_topology** topology,
                                            placeto_error* error) noexcept {
  if (topology != nullptr) *topology = nullptr;
  return guarded(error, [&]() -> Status {
    Limits bounds;
    if (Status s = check_not_null({{bytes, "bytes"}, {topology, "topology"}}); !s.ok()) return s;
    if (Status s = read_limits(limits, bounds); !s.ok()) return s;
    return decode_and_hand_out(as_bytes(bytes, size), bounds, topology);
  });
}

placeto_status placeto_topology_encode(const placeto_topology* topology, void* buffer,
                                       size_t capacity, size_t* size,
                                       placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{topology, "topology"}, {size, "size"}}); !s.ok()) return s;
    const Result<std::vector<uint8_t>> bytes = encode_topology(topology->value->spec());
    if (!bytes.ok()) return bytes.status();
    return copy_out(*bytes, buffer, capacity, size);
  });
}

void placeto_topology_free(placeto_topology* topology) noexcept {
  delete topology;
}

const char* placeto_topology_name(const placeto_topology* topology) noexcept {
  return topology == nullptr ? "" : topology->value->name().c_str();
}

uint32_t placeto_topology_device_count(const placeto_topology* topology) noexcept {
  return topology == nullptr ? 0 : topology->value->device_count();
}

const char* placeto_topology_device_name(const placeto_topology* topology,
                                         uint32_t device) noexcept {
  if (topology == nullptr || device >= topology->value->device_count()) return "";
  return topology->value->device(device).name.c_str();
}

const char* placeto_topology_device_kind(const placeto_topology* topology,
                                         uint32_t device) noexcept {
  if (topology == nullptr || device >= topology->value->device_count()) return "";
  return topology->value->device(device).kind.c_str();
}

uint32_t placeto_topology_find_device(const placeto_topology* topology, const char* name) noexcept {
  if (topology == nullptr || name == nullptr) return PLACETO_NONE;
  const uint32_t device = topology->value->find_device(name);
  return device < topology->value->device_count() ? device : PLACETO_NONE;
}

placeto_status placeto_topology_get_rules(const placeto_topology* topology,
                                          placeto_topology_rules* to,
                                          placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{topology, "topology"}, {to, "to"}}); !s.ok()) return s;
    const TopologySpec& from = topology->value->spec();
    return write_struct(
        "placeto_topology_rules",
        {0, from.op_gap_us, static_cast<int32_t>(from.contention),
         static_cast<int32_t>(from.transfer), static_cast<int32_t>(from.execution),
         static_cast<int32_t>(from.dispatch), from.default_link.bandwidth_bytes_per_us,
         from.default_link.latency_us, from.default_link.gap_us},
        to);
  });
}

placeto_status placeto_topology_device(const placeto_topology* topology, uint32_t device,
                                       placeto_device* to, placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{topology, "topology"}, {to, "to"}}); !s.ok()) return s;
    if (Status s = check_index("device", device, topology->value->device_count()); !s.ok()) {
      return s;
    }
    const DeviceSpec& from = topology->value->device(device);
    return write_struct(
        "placeto_device",
        {0, from.name.c_str(), from.kind.c_str(), from.memory_bytes, from.peak_flops,
         from.memory_bandwidth, from.slowdown, from.stage_us, from.cut_us, from.cut_bytes_per_us},
        to);
  });
}

placeto_status placeto_topology_link(const placeto_topology* topology, uint32_t from,
                                     uint32_t to_device, placeto_link* to,
                                     placeto_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (Status s = check_not_null({{topology, "topology"}, {to, "to"}}); !s.ok()) return s;
    const Topology& all = *topology->value;
    if (Status s = check_index("from", from, all.device_count()); !s.ok()) return s;
    if (Status s = check_index("to_device", to_device, all.device_count()); !s.ok()) return s;
    if (from == to_device) return invalid({"from and to_device are the same device"});
    const LinkParameters& link = all.link(from, to_device);
    const LinkSpec* const named = all.named_link(from, to_device);
    const bool has_channel = named != nullptr && !named->channel.empty();
    return write_struct("placeto_link",
                        {0, all.device(from).name.c_str(), all.device(to_device).name.c_str(),
                         link.bandwidth_bytes_per_us, link.latency_us, link.gap_us,
                         has_channel ? named->channel.c_str() : nullptr},
                        to);
  });
}
