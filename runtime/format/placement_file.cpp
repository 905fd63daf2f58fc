#include "runtime/format/placement_file.h"

#include <placement_generated.h>

#include <algorithm>

#include "runtime/format/buffer.h"

namespace placeto {
namespace {

// The root, the candidates, and a reason for each node.
uint32_t most_tables(const Limits& limits) {
  return static_cast<uint32_t>(
      std::min<uint64_t>(uint64_t{1} + kMostCandidates + limits.max_nodes, UINT32_MAX));
}

void copy_candidates(const schema::Placement& from, CopyBudget& budget, PlacementSpec& to) {
  if (from.candidates() == nullptr) return;
  if (!budget.take(from.candidates()->size() * sizeof(CandidateSpec))) return;
  for (const schema::Candidate* candidate : *from.candidates()) {
    CandidateSpec& copy = to.candidates.emplace_back();
    budget.copy(candidate->method(), copy.method);
    copy.makespan_us = candidate->makespan_us();
    copy.feasible = candidate->feasible();
    copy.bottleneck_us = candidate->bottleneck_us();
    budget.copy(candidate->peak_memory_bytes(), copy.peak_memory_bytes);
  }
}

void copy_reasons(const schema::Placement& from, CopyBudget& budget, PlacementSpec& to) {
  if (from.reasons() == nullptr) return;
  if (!budget.take(from.reasons()->size() * sizeof(ReasonSpec))) return;
  for (const schema::Reason* r : *from.reasons()) {
    to.reasons.push_back({r->node(), r->device(), r->cost_us(), r->second_device(),
                          r->second_cost_us(), r->second_feasible()});
  }
}

template <class Table>
Status check_known_entries(const char* list,
                           const flatbuffers::Vector<flatbuffers::Offset<Table>>* tables) {
  if (tables == nullptr) return {};
  for (const Table* table : *tables) {
    if (Status s = check_known_fields(table); !s.ok()) return s.at(list);
  }
  return {};
}

Result<PlacementSpec> copy_placement(const schema::Placement& from, size_t file_bytes,
                                     const Limits& limits) {
  if (Status s = check_version(from.format_version()); !s.ok()) return s;
  if (Status s = check_known_fields(&from); !s.ok()) return s;
  if (Status s = check_known_entries("candidates", from.candidates()); !s.ok()) return s;
  if (Status s = check_known_entries("reasons", from.reasons()); !s.ok()) return s;
  CopyBudget budget(file_bytes);
  PlacementSpec to;
  budget.copy(from.graph(), to.graph);
  budget.copy(from.topology(), to.topology);
  budget.copy(from.devices(), to.devices);
  budget.copy(from.assignment(), to.assignment);
  to.makespan_us = from.makespan_us();
  budget.copy(from.peak_memory_bytes(), to.peak_memory_bytes);
  budget.copy(from.method(), to.method);
  copy_candidates(from, budget, to);
  to.lower_bound_us = from.lower_bound_us();
  to.place_time_us = from.place_time_us();
  to.bottleneck_us = from.bottleneck_us();
  budget.copy(from.note(), to.note);
  copy_reasons(from, budget, to);
  budget.copy(from.stages(), to.stages);
  budget.copy(from.order(), to.order);
  to.proved = from.proved();
  budget.copy(from.dims(), to.dims);
  budget.copy(from.engine(), to.engine);
  to.replicas_us = from.replicas_us();
  to.sequential_us = from.sequential_us();
  if (budget.exhausted()) return CopyBudget::too_much_sharing("devices");
  if (Status s = check_placement(to, limits); !s.ok()) return s;
  return to;
}

uint64_t candidate_bytes(const PlacementSpec& spec) {
  uint64_t bytes = 16;
  for (const CandidateSpec& candidate : spec.candidates) {
    bytes += 64 + string_bytes(candidate.method) + vector_bytes(candidate.peak_memory_bytes);
  }
  return bytes;
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Candidate>>> add_candidates(
    flatbuffers::FlatBufferBuilder& builder, const std::vector<CandidateSpec>& candidates) {
  if (candidates.empty()) return 0;
  std::vector<flatbuffers::Offset<schema::Candidate>> tables;
  for (const CandidateSpec& candidate : candidates) {
    const auto method = add_text(builder, candidate.method);
    const auto peaks = add_list(builder, candidate.peak_memory_bytes);
    tables.push_back(schema::CreateCandidate(builder, method, candidate.makespan_us,
                                             candidate.feasible, candidate.bottleneck_us, peaks));
  }
  return builder.CreateVector(tables.data(), tables.size());
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Reason>>> add_reasons(
    flatbuffers::FlatBufferBuilder& builder, const std::vector<ReasonSpec>& reasons) {
  if (reasons.empty()) return 0;
  std::vector<flatbuffers::Offset<schema::Reason>> tables;
  tables.reserve(reasons.size());
  for (const ReasonSpec& r : reasons) {
    tables.push_back(schema::CreateReason(builder, r.node, r.device, r.cost_us, r.second_device,
                                          r.second_cost_us, r.second_feasible));
  }
  return builder.CreateVector(tables.data(), tables.size());
}

}  // namespace

Result<PlacementSpec> decode_placement(std::span<const uint8_t> bytes, const Limits& limits) {
  if (Status s = check_header(bytes, FileKind::kPlacement, limits); !s.ok()) return s;
  const AlignedBytes aligned(bytes);
  const Status verified =
      verify_buffer<schema::Placement>(aligned.get(), FileKind::kPlacement, most_tables(limits));
  if (!verified.ok()) return verified;
  return copy_placement(*schema::GetPlacement(aligned.get().data()), bytes.size(), limits);
}

Result<std::vector<uint8_t>> encode_placement(const PlacementSpec& spec) {
  const uint64_t needed =
      256 + string_bytes(spec.graph) + string_bytes(spec.topology) + vector_bytes(spec.devices) +
      vector_bytes(spec.assignment) + vector_bytes(spec.peak_memory_bytes) +
      string_bytes(spec.method) + candidate_bytes(spec) + string_bytes(spec.note) + 16 +
      64 * spec.reasons.size() + vector_bytes(spec.stages) + vector_bytes(spec.order) +
      vector_bytes(spec.dims) + string_bytes(spec.engine);
  if (Status s = check_buffer_size(needed, FileKind::kPlacement); !s.ok()) return s;
  flatbuffers::FlatBufferBuilder builder;
  // Reports are read by programs that look for "feasible": false and zeros in full.
  builder.ForceDefaults(!spec.candidates.empty());
  const auto graph = add_text(builder, spec.graph);
  const auto topology = add_text(builder, spec.topology);
  const auto devices = add_texts(builder, spec.devices);
  const auto assignment = add_list(builder, spec.assignment);
  const auto peak_memory_bytes = add_list(builder, spec.peak_memory_bytes);
  const auto method = add_text(builder, spec.method);
  const auto candidates = add_candidates(builder, spec.candidates);
  const auto note = add_text(builder, spec.note);
  const auto reasons = add_reasons(builder, spec.reasons);
  const auto stages = add_list(builder, spec.stages);
  const auto order = add_list(builder, spec.order);
  const auto dims = add_texts(builder, spec.dims);
  const auto engine = add_text(builder, spec.engine);
  schema::FinishPlacementBuffer(
      builder, schema::CreatePlacement(
                   builder, kFormatVersion, graph, topology, devices, assignment, spec.makespan_us,
                   peak_memory_bytes, method, candidates, spec.lower_bound_us, spec.place_time_us,
                   spec.bottleneck_us, note, reasons, stages, order, spec.proved, dims, engine,
                   spec.replicas_us, spec.sequential_us));
  return finished_bytes(builder);
}

}  // namespace placeto
