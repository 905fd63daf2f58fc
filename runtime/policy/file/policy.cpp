#include "runtime/policy/file/policy.h"

#include <flatbuffers/flatbuffers.h>
#include <policy_generated.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "runtime/format/file.h"
#include "runtime/policy/file/policy_file.h"

namespace placeto {
namespace {

// The weights are used where they lie in the file, which is little-endian.
static_assert(std::endian::native == std::endian::little);

// Verified: there is exactly one tensor of that name.
const float* tensor_data(const schema::Policy& file, const std::string& name) {
  for (const schema::Tensor* tensor : *file.tensors()) {
    if (tensor->name()->string_view() == name) return tensor->data()->data();
  }
  assert(false);
  return nullptr;
}

Mlp build_mlp(const schema::Policy& file, const NetworkShape& shape, uint32_t grid) {
  std::vector<DenseLayer> layers;
  for (size_t i = 0; i + 1 < shape.widths.size(); ++i) {
    const std::string name = shape.name + "." + std::to_string(i);
    const bool relu = i + 2 < shape.widths.size() || shape.relu_at_end;
    layers.push_back({shape.widths[i], shape.widths[i + 1], tensor_data(file, name + ".weight"),
                      tensor_data(file, name + ".bias"),
                      relu ? Activation::kRelu : Activation::kNone});
  }
  return Mlp(std::move(layers), grid);
}

}  // namespace

Result<std::shared_ptr<const Policy>> Policy::load(std::span<const uint8_t> bytes, Bytes mode,
                                                   const KnownFeatures& known, const Limits& limits,
                                                   const PolicyVerifier& verifier) {
  std::unique_ptr<Policy> policy(new Policy());
  policy->bytes_ = bytes;
  // Too large to be accepted is too large to be copied.
  if (mode == Bytes::kCopy && bytes.size() <= limits.max_file_bytes) {
    policy->copy_.assign(bytes.begin(), bytes.end());
    policy->bytes_ = policy->copy_;
  }
  return verify_and_build(std::move(policy), known, limits, verifier);
}

Result<std::shared_ptr<const Policy>> Policy::load_file(const std::string& path, File mode,
                                                        const KnownFeatures& known,
                                                        const Limits& limits,
                                                        const PolicyVerifier& verifier) {
  std::unique_ptr<Policy> policy(new Policy());
  if (mode == File::kRead) {
    auto content = read_file(path, limits.max_file_bytes);
    if (!content.ok()) return content.status();
    policy->copy_ = *std::move(content);
    policy->bytes_ = policy->copy_;
  } else {
    auto map = MappedFile::open(path, limits.max_file_bytes);
    if (!map.ok()) return map.status();
    policy->map_ = *std::move(map);
    policy->bytes_ = policy->map_.bytes();
  }
  return verify_and_build(std::move(policy), known, limits, verifier).at(path);
}

Result<std::shared_ptr<const Policy>> Policy::verify_and_build(std::unique_ptr<Policy> policy,
                                                               const KnownFeatures& known,
                                                               const Limits& limits,
                                                               const PolicyVerifier& verifier) {
  if (verifier.accept != nullptr && policy->bytes_.size() <= limits.max_file_bytes &&
      !verifier.accept(verifier.context, policy->bytes_)) {
    return Status::bad_input("is refused by the caller's verification");
  }
  if (Status s = verify_policy_bytes(policy->bytes_, limits); !s.ok()) return s;
  if (Status s = verify_policy_meaning(policy->bytes_, known, limits); !s.ok()) return s;
  policy->build();
  return std::shared_ptr<const Policy>(std::move(policy));
}

void Policy::build() {
  const schema::Policy& file = *schema::GetPolicy(bytes_.data());
  PolicySpec spec = copy_policy(bytes_, CopyTensors::kNo);
  architecture_ = *find_architecture(spec.architecture);
  dimensions_ = std::move(spec.dimensions);
  node_features_ = std::move(spec.node_features);
  pair_features_ = std::move(spec.pair_features);
  provenance_ = std::move(spec.provenance);
  std::copy_n(file.sha256()->data(), sha256_.size(), sha256_.begin());
  for (const schema::Tensor* tensor : *file.tensors()) parameter_count_ += tensor->data()->size();
  build_networks();
}

void Policy::build_networks() {
  const schema::Policy& file = *schema::GetPolicy(bytes_.data());
  size_t columns = 0;
  for (const PolicyFeature& feature : node_features_) {
    columns += columns_of(architecture_, dimensions_, feature.name);
  }
  for (const NetworkShape& shape :
       networks_of(architecture_, dimensions_, columns, pair_features_.size())) {
    networks_.push_back({shape.name, build_mlp(file, shape, dimensions_.grid)});
  }
  if (architecture_ != Architecture::kPairwise || dimensions_.embedding == 0) return;
  graph_network_.encoder = *find_network("encoder");
  graph_network_.rounds = dimensions_.rounds;
  if (dimensions_.rounds == 0) return;
  graph_network_.along = {*find_network("along.f"), *find_network("along.g")};
  graph_network_.against = {*find_network("against.f"), *find_network("against.g")};
}

const Mlp* Policy::find_network(std::string_view name) const {
  for (const Network& network : networks_) {
    if (network.name == name) return &network.mlp;
  }
  return nullptr;
}

}  // namespace placeto
