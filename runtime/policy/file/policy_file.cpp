#include "runtime/policy/file/policy_file.h"

#include <policy_generated.h>

#include <algorithm>

#include "runtime/base/message.h"
#include "runtime/format/buffer.h"
#include "runtime/policy/file/policy_content.h"

namespace placeto {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Table;
using flatbuffers::Verifier;
using Features = flatbuffers::Vector<Offset<schema::Feature>>;
using Tensors = flatbuffers::Vector<Offset<schema::Tensor>>;

// Root, dimensions, provenance, features and tensors of the largest policy are fewer.
constexpr uint32_t kMaxTables = 4'096;
constexpr size_t kDigestBytes = 32;

std::vector<PolicyFeature> features_of(const Features* from) {
  std::vector<PolicyFeature> to;
  for (uint32_t i = 0; i < size_of(from); ++i) {
    const schema::Feature& f = *from->Get(i);
    to.push_back({std::string(text_of(f.name())), f.shift(), f.scale()});
  }
  return to;
}

PolicyProvenance provenance_of(const schema::Provenance& from) {
  PolicyProvenance to;
  for (uint32_t i = 0; i < size_of(from.workloads()); ++i) {
    to.workloads.push_back(from.workloads()->Get(i)->str());
  }
  to.seed = from.seed();
  to.steps = from.steps();
  to.trainer_version = text_of(from.trainer_version());
  to.config = text_of(from.config());
  to.date = text_of(from.date());
  return to;
}

// The root's scalars, read before the structure as a whole is known to be sound: they tell a
// truncated file and a newer version from a damaged one.
Status check_size_and_version(std::span<const uint8_t> bytes) {
  Verifier::Options options;
  options.max_depth = 4;
  options.max_tables = kMaxTables;
  Verifier verifier(bytes.data(), bytes.size(), options);
  const size_t offset = verifier.VerifyOffset(0);
  if (offset == 0) return malformed(bytes, FileKind::kPolicy);
  const auto* root = reinterpret_cast<const Table*>(bytes.data() + offset);
  using schema::Policy;
  if (!root->VerifyTableStart(verifier) ||
      !root->VerifyField<uint32_t>(verifier, Policy::VT_FORMAT_VERSION, sizeof(uint32_t)) ||
      !root->VerifyField<uint32_t>(verifier, Policy::VT_FILE_BYTES, sizeof(uint32_t))) {
    return malformed(bytes, FileKind::kPolicy);
  }
  const auto version = root->GetField<uint32_t>(Policy::VT_FORMAT_VERSION, 0);
  if (Status s = check_version(version); !s.ok()) return s;
  const auto size = root->GetField<uint32_t>(Policy::VT_FILE_BYTES, 0);
  if (size > bytes.size()) {
    return bad_input({"is truncated: has ", unlike_bytes(bytes.size(), size)});
  }
  return check_end(bytes, size, FileKind::kPolicy);
}

Status check_digest(std::span<const uint8_t> bytes) {
  const auto* stored = schema::GetPolicy(bytes.data())->sha256();
  if (size_of(stored) != kDigestBytes) {
    return bad_input({"sha256 has ", size_of(stored), " entries, expected ", kDigestBytes});
  }
  const Sha256Digest computed = policy_digest(bytes);
  if (std::equal(computed.begin(), computed.end(), stored->Data())) return {};
  return bad_input({"is damaged: its SHA-256 is ", hexadecimal(computed), ", expected ",
                    hexadecimal({stored->Data(), kDigestBytes}), " as in its field sha256"});
}

Offset<schema::Dimensions> add_dimensions(FlatBufferBuilder& b, const PolicyDimensions& d) {
  const auto encoder = add_list(b, d.encoder_hidden), message = add_list(b, d.message_hidden);
  const auto pool = add_list(b, d.pool_hidden), head = add_list(b, d.head_hidden);
  const auto leap = add_list(b, d.leap_hidden);
  return schema::CreateDimensions(b, d.embedding, d.rounds, d.devices, encoder, message, pool, head,
                                  d.directions, d.grid, leap);
}

Offset<Features> add_features(FlatBufferBuilder& b, const std::vector<PolicyFeature>& features) {
  std::vector<Offset<schema::Feature>> offsets;
  for (const PolicyFeature& f : features) {
    const auto name = add_text(b, f.name);
    offsets.push_back(schema::CreateFeature(b, name, f.shift, f.scale));
  }
  return add_list(b, offsets);
}

Offset<Tensors> add_tensors(FlatBufferBuilder& b, const std::vector<PolicyTensor>& tensors) {
  std::vector<Offset<schema::Tensor>> offsets;
  for (const PolicyTensor& t : tensors) {
    const auto name = add_text(b, t.name);
    const auto shape = add_list(b, t.shape);
    const auto data = add_list(b, t.data);
    offsets.push_back(schema::CreateTensor(b, name, shape, data));
  }
  return add_list(b, offsets);
}

Offset<schema::Provenance> add_provenance(FlatBufferBuilder& b, const PolicyProvenance& p) {
  const auto workloads = add_texts(b, p.workloads);
  const auto trainer = add_text(b, p.trainer_version);
  const auto config = add_text(b, p.config), date = add_text(b, p.date);
  return schema::CreateProvenance(b, workloads, p.seed, p.steps, trainer, config, date);
}

// An upper bound of what the builder will need.
uint64_t bytes_needed(const PolicySpec& spec) {
  const PolicyProvenance& p = spec.provenance;
  const PolicyDimensions& d = spec.dimensions;
  uint64_t bytes = 1024 + string_bytes(spec.architecture) + vector_bytes(p.workloads) +
                   string_bytes(p.trainer_version) + string_bytes(p.config) + string_bytes(p.date);
  for (const auto* list :
       {&d.encoder_hidden, &d.message_hidden, &d.pool_hidden, &d.head_hidden, &d.leap_hidden}) {
    bytes += vector_bytes(*list);
  }
  for (const auto* list : {&spec.node_features, &spec.pair_features}) {
    for (const PolicyFeature& f : *list) bytes += 64 + string_bytes(f.name);
  }
  for (const PolicyTensor& t : spec.tensors) {
    bytes += 64 + string_bytes(t.name) + vector_bytes(t.shape) + vector_bytes(t.data);
  }
  return bytes;
}

}  // namespace

Sha256Digest policy_digest(std::span<const uint8_t> bytes) {
  static constexpr uint8_t kZeros[kDigestBytes] = {};
  const auto* stored = schema::GetPolicy(bytes.data())->sha256();
  Sha256 hash;
  if (size_of(stored) != kDigestBytes) {
    hash.update(bytes);
    return hash.finish();
  }
  const auto begin = static_cast<size_t>(stored->Data() - bytes.data());
  hash.update(bytes.first(begin));
  hash.update(kZeros);
  hash.update(bytes.subspan(begin + kDigestBytes));
  return hash.finish();
}

Result<std::vector<uint8_t>> encode_policy(const PolicySpec& spec) {
  if (Status s = check_buffer_size(bytes_needed(spec), FileKind::kPolicy); !s.ok()) return s;
  FlatBufferBuilder b(4096);
  const uint8_t zeros[kDigestBytes] = {};
  // Weights first: the builder writes back to front, so the root comes early in the file and a
  // truncated one can still say how long it was.
  const auto tensors = add_tensors(b, spec.tensors);
  const auto provenance = add_provenance(b, spec.provenance);
  const auto pair_features = add_features(b, spec.pair_features);
  const auto node_features = add_features(b, spec.node_features);
  const auto dimensions = add_dimensions(b, spec.dimensions);
  const auto architecture = add_text(b, spec.architecture);
  const auto digest = b.CreateVector(zeros, kDigestBytes);
  constexpr uint32_t kLater = UINT32_MAX;  // a default of 0 would leave the field out
  b.Finish(schema::CreatePolicy(b, kFormatVersion, kLater, architecture, dimensions, node_features,
                                pair_features, tensors, provenance, digest),
           schema::PolicyIdentifier());

  std::vector<uint8_t> bytes = finished_bytes(b);
  auto* root = flatbuffers::GetMutableRoot<Table>(bytes.data());
  root->SetField(schema::Policy::VT_FILE_BYTES, static_cast<uint32_t>(bytes.size()), 0u);
  const Sha256Digest computed = policy_digest(bytes);
  auto* stored = root->GetPointer<flatbuffers::Vector<uint8_t>*>(schema::Policy::VT_SHA256);
  std::copy(computed.begin(), computed.end(), stored->Data());
  return bytes;
}

Status verify_policy_bytes(std::span<const uint8_t> bytes, const Limits& limits) {
  if (Status s = check_header(bytes, FileKind::kPolicy, limits); !s.ok()) return s;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 != 0) {
    return Status::invalid("the bytes of a policy start at an address that is no multiple of 8");
  }
  if (Status s = check_size_and_version(bytes); !s.ok()) return s;
  if (Status s = verify_buffer<schema::Policy>(bytes, FileKind::kPolicy, kMaxTables); !s.ok()) {
    return s;
  }
  return check_digest(bytes);
}

Result<PolicySpec> decode_policy(std::span<const uint8_t> bytes, const KnownFeatures& known,
                                 const Limits& limits) {
  const AlignedBytes aligned(bytes);
  if (Status s = verify_policy_bytes(aligned.get(), limits); !s.ok()) return s;
  if (Status s = verify_policy_meaning(aligned.get(), known, limits); !s.ok()) return s;
  return copy_policy(aligned.get(), CopyTensors::kYes);
}

PolicySpec copy_policy(std::span<const uint8_t> bytes, CopyTensors tensors) {
  const schema::Policy& from = *schema::GetPolicy(bytes.data());
  PolicySpec to;
  to.architecture = text_of(from.architecture());
  to.dimensions = dimensions_of(*from.dimensions());
  to.node_features = features_of(from.node_features());
  to.pair_features = features_of(from.pair_features());
  if (from.provenance() != nullptr) to.provenance = provenance_of(*from.provenance());
  if (tensors == CopyTensors::kNo) return to;
  for (uint32_t i = 0; i < size_of(from.tensors()); ++i) {
    const schema::Tensor& t = *from.tensors()->Get(i);
    to.tensors.push_back({std::string(text_of(t.name())), list_of(t.shape()), list_of(t.data())});
  }
  return to;
}

}  // namespace placeto
