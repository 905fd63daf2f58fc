#include "runtime/format/topology_file.h"

#include <topology_generated.h>

#include <initializer_list>

#include "runtime/base/message.h"
#include "runtime/format/buffer.h"

namespace placeto {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// The runtime's enumerations list the same rules in the same order as the schema's.
static_assert(int(schema::Contention::egress) == int(Contention::kEgress) &&
              int(schema::Contention::none) == int(Contention::kNone) &&
              int(schema::Transfer::broadcast) == int(Transfer::kBroadcast) &&
              int(schema::Transfer::unicast) == int(Transfer::kUnicast) &&
              int(schema::Execution::parallel) == int(Execution::kParallel) &&
              int(schema::Execution::serial) == int(Execution::kSerial) &&
              int(schema::Execution::staged) == int(Execution::kStaged) &&
              int(schema::Dispatch::fifo) == int(Dispatch::kFifo) &&
              int(schema::Dispatch::priority) == int(Dispatch::kPriority) &&
              int(schema::Source::MAX) == int(Source::kMeasured));

template <class To, class From>
Status copy_rule(const char* field, From from, const char* const* names, To& to) {
  if (from <= From::MAX) {
    to = static_cast<To>(from);
    return {};
  }
  std::string expected;
  for (int i = 0; i <= int(From::MAX); ++i) {
    if (i != 0) expected += i == int(From::MAX) ? " or " : ", ";
    expected += join({i, " (", names[i], ")"});
  }
  return bad_input({field, " is ", int(from), ", expected ", expected});
}

Status copy_rules(const schema::Topology& from, TopologySpec& to) {
  if (Status s =
          copy_rule("contention", from.contention(), schema::EnumNamesContention(), to.contention);
      !s.ok()) {
    return s;
  }
  if (Status s = copy_rule("transfer", from.transfer(), schema::EnumNamesTransfer(), to.transfer);
      !s.ok()) {
    return s;
  }
  if (Status s =
          copy_rule("execution", from.execution(), schema::EnumNamesExecution(), to.execution);
      !s.ok()) {
    return s;
  }
  return copy_rule("dispatch", from.dispatch(), schema::EnumNamesDispatch(), to.dispatch);
}

// `fields` in the order of `from` and `to`.
Status copy_sources(std::initializer_list<const char*> fields,
                    std::initializer_list<schema::Source> from, std::initializer_list<Source*> to) {
  for (size_t i = 0; i < from.size(); ++i) {
    const schema::Source source = from.begin()[i];
    if (source > schema::Source::MAX) {
      return bad_input(
          {fields.begin()[i], " is ", int(source), ", expected 0 (unknown) to 3 (measured)"});
    }
    *to.begin()[i] = static_cast<Source>(source);
  }
  return {};
}

Status copy_device(const schema::Device& from, CopyBudget& budget, DeviceSpec& to) {
  if (Status s = check_known_fields(&from); !s.ok()) return s;
  budget.copy(from.name(), to.name);
  budget.copy(from.kind(), to.kind);
  to.memory_bytes = from.memory_bytes();
  to.peak_flops = from.peak_flops();
  to.memory_bandwidth = from.memory_bandwidth();
  to.slowdown = from.slowdown();
  to.stage_us = from.stage_us();
  to.cut_us = from.cut_us();
  to.cut_bytes_per_us = from.cut_bytes_per_us();
  return copy_sources(
      {"memory_source", "flops_source", "bandwidth_source", "prices_source"},
      {from.memory_source(), from.flops_source(), from.bandwidth_source(), from.prices_source()},
      {&to.memory_source, &to.flops_source, &to.bandwidth_source, &to.prices_source});
}

Status copy_link(const schema::Link& from, CopyBudget& budget, LinkSpec& to) {
  if (Status s = check_known_fields(&from); !s.ok()) return s;
  budget.copy(from.from(), to.from);
  budget.copy(from.to(), to.to);
  to.parameters = {from.bandwidth_bytes_per_us(), from.latency_us(), from.gap_us()};
  budget.copy(from.channel(), to.channel);
  return copy_sources({"source"}, {from.source()}, {&to.parameters.source});
}

// Copies a list of tables entry by entry, within the limit and the budget.
template <class From, class To, class Copy>
Status copy_entries(const char* list, const flatbuffers::Vector<Offset<From>>* from, uint64_t limit,
                    CopyBudget& budget, std::vector<To>& to, Copy copy) {
  if (from == nullptr) return {};
  if (from->size() > limit) return too_many(list, from->size(), limit);
  to.resize(from->size());
  for (uint32_t i = 0; i < from->size(); ++i) {
    if (Status s = copy(*from->Get(i), budget, to[i]); !s.ok()) return s.at(entry(list, i));
    if (budget.exhausted()) return CopyBudget::too_much_sharing(entry(list, i));
  }
  return {};
}

Result<TopologySpec> copy_topology(const schema::Topology& from, size_t file_bytes,
                                   const Limits& limits) {
  if (Status s = check_version(from.format_version()); !s.ok()) return s;
  if (Status s = check_known_fields(&from); !s.ok()) return s;
  CopyBudget budget(file_bytes);
  TopologySpec to;
  budget.copy(from.name(), to.name);
  to.op_gap_us = from.op_gap_us();
  if (Status s = copy_rules(from, to); !s.ok()) return s;
  if (Status s = copy_entries("devices", from.devices(), limits.max_devices, budget, to.devices,
                              copy_device);
      !s.ok()) {
    return s;
  }
  if (const schema::DefaultLink* link = from.default_link()) {
    if (Status s = check_known_fields(link); !s.ok()) return s.at("default_link");
    to.default_link = {link->bandwidth_bytes_per_us(), link->latency_us(), link->gap_us()};
    const Status s = copy_sources({"source"}, {link->source()}, {&to.default_link.source});
    if (!s.ok()) return s.at("default_link");
  }
  if (Status s = copy_entries("links", from.links(), limits.max_links, budget, to.links, copy_link);
      !s.ok()) {
    return s;
  }
  return to;
}

uint64_t bytes_needed(const TopologySpec& spec) {
  uint64_t bytes = 512 + string_bytes(spec.name);
  for (const DeviceSpec& device : spec.devices) {
    bytes += 128 + string_bytes(device.name) + string_bytes(device.kind);
  }
  for (const LinkSpec& link : spec.links) {
    bytes += 96 + string_bytes(link.from) + string_bytes(link.to) + string_bytes(link.channel);
  }
  return bytes;
}

schema::Source source_of(Source source) {
  return static_cast<schema::Source>(source);
}

Offset<schema::Device> add_device(FlatBufferBuilder& builder, const DeviceSpec& device) {
  const auto name = add_shared_text(builder, device.name);
  const auto kind = add_shared_text(builder, device.kind);
  return schema::CreateDevice(builder, name, kind, device.memory_bytes, device.peak_flops,
                              device.memory_bandwidth, device.slowdown, device.stage_us,
                              device.cut_us, device.cut_bytes_per_us,
                              source_of(device.memory_source), source_of(device.flops_source),
                              source_of(device.bandwidth_source), source_of(device.prices_source));
}

Offset<schema::Link> add_link(FlatBufferBuilder& builder, const LinkSpec& link) {
  const auto from = add_shared_text(builder, link.from);
  const auto to = add_shared_text(builder, link.to);
  const auto channel = add_shared_text(builder, link.channel);
  const LinkParameters& p = link.parameters;
  return schema::CreateLink(builder, from, to, p.bandwidth_bytes_per_us, p.latency_us, p.gap_us,
                            channel, source_of(p.source));
}

Offset<schema::DefaultLink> add_default_link(FlatBufferBuilder& builder, const LinkParameters& p) {
  const bool empty = p.bandwidth_bytes_per_us == 0 && p.latency_us == 0 && p.gap_us == 0;
  if (empty && p.source == Source::kUnknown) return 0;
  return schema::CreateDefaultLink(builder, p.bandwidth_bytes_per_us, p.latency_us, p.gap_us,
                                   source_of(p.source));
}

}  // namespace

Result<TopologySpec> decode_topology(std::span<const uint8_t> bytes, const Limits& limits) {
  if (Status s = check_header(bytes, FileKind::kTopology, limits); !s.ok()) return s;
  const AlignedBytes aligned(bytes);
  // Every visit to a table is paid for by the 4-byte offset that leads to it.
  const Status verified = verify_buffer<schema::Topology>(aligned.get(), FileKind::kTopology,
                                                          static_cast<uint32_t>(bytes.size() / 4));
  if (!verified.ok()) return verified;
  return copy_topology(*schema::GetTopology(aligned.get().data()), bytes.size(), limits);
}

Result<std::vector<uint8_t>> encode_topology(const TopologySpec& spec) {
  if (Status s = check_buffer_size(bytes_needed(spec), FileKind::kTopology); !s.ok()) return s;
  FlatBufferBuilder builder;
  const auto name = add_text(builder, spec.name);
  std::vector<Offset<schema::Device>> devices;
  for (const DeviceSpec& device : spec.devices) devices.push_back(add_device(builder, device));
  std::vector<Offset<schema::Link>> links;
  links.reserve(spec.links.size());
  for (const LinkSpec& link : spec.links) links.push_back(add_link(builder, link));
  const auto default_link = add_default_link(builder, spec.default_link);
  const auto device_list = add_list(builder, devices);
  const auto link_list = add_list(builder, links);
  schema::FinishTopologyBuffer(
      builder, schema::CreateTopology(builder, kFormatVersion, name, spec.op_gap_us,
                                      static_cast<schema::Contention>(spec.contention),
                                      static_cast<schema::Transfer>(spec.transfer),
                                      static_cast<schema::Execution>(spec.execution),
                                      static_cast<schema::Dispatch>(spec.dispatch), device_list,
                                      default_link, link_list));
  return finished_bytes(builder);
}

}  // namespace placeto
