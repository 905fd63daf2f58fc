// The meaning of a policy file: whether what it says is a policy that this runtime can execute.
#include <policy_generated.h>

#include <algorithm>
#include <cmath>

#include "runtime/base/message.h"
#include "runtime/format/buffer.h"
#include "runtime/graph/text.h"
#include "runtime/policy/file/architecture.h"
#include "runtime/policy/file/policy_content.h"
#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/net/grid.h"

namespace placeto {
namespace {

using Features = flatbuffers::Vector<flatbuffers::Offset<schema::Feature>>;
using Tensors = flatbuffers::Vector<flatbuffers::Offset<schema::Tensor>>;

constexpr uint32_t kMaxWorkloads = 1'024;

Status check_feature(const schema::Feature& feature, std::span<const std::string_view> known,
                     std::vector<bool>& seen) {
  if (Status s = check_known_fields(&feature); !s.ok()) return s;
  const std::string_view name = text_of(feature.name());
  const auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end()) {
    return bad_input({"name is ", in_quotes(name),
                      ", expected a feature that this runtime knows: a newer version "
                      "may have written this file"});
  }
  const auto index = static_cast<size_t>(found - known.begin());
  if (seen[index]) {
    return bad_input({"name is ", in_quotes(name), " for the second time"});
  }
  seen[index] = true;
  if (!std::isfinite(feature.shift())) {
    return bad_input({"shift of ", in_quotes(name), " is ", number_text(feature.shift()),
                      ", expected a finite number"});
  }
  if (!std::isfinite(feature.scale()) || feature.scale() == 0) {
    return bad_input({"scale of ", in_quotes(name), " is ", number_text(feature.scale()),
                      ", expected a finite number that is not 0"});
  }
  return {};
}

Status check_features(const std::string& list, const Features* features,
                      std::span<const std::string_view> known) {
  std::vector<bool> seen(known.size(), false);
  for (uint32_t i = 0; i < size_of(features); ++i) {
    if (Status s = check_feature(*features->Get(i), known, seen); !s.ok()) {
      return s.at(entry(list, i));
    }
  }
  return {};
}

size_t columns_of(Architecture architecture, const PolicyDimensions& dimensions,
                  const Features* node_features) {
  size_t columns = 0;
  for (uint32_t i = 0; i < size_of(node_features); ++i) {
    columns += columns_of(architecture, dimensions, text_of(node_features->Get(i)->name()));
  }
  return columns;
}

std::string shape_text(const std::vector<uint32_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size() && i < 8; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() > 8 ? ", ...]" : "]");
}

// Infinities and NaNs are the floats whose exponent bits are all set.
Status check_finite(const flatbuffers::Vector<float>& data) {
  constexpr uint32_t kExponent = 0x7f800000;
  const auto* bits = reinterpret_cast<const uint8_t*>(data.Data());
  const auto is_finite = [bits](uint32_t i) {
    uint32_t value = 0;
    std::memcpy(&value, bits + size_t{4} * i, sizeof value);
    return (value & kExponent) != kExponent;
  };
  bool all = true;
  for (uint32_t i = 0; i < data.size(); ++i) all &= is_finite(i);
  if (all) return {};
  uint32_t first = 0;
  while (is_finite(first)) ++first;
  return bad_input(
      {"data[", first, "] is ", number_text(data.Get(first)), ", expected a finite number"});
}

Status check_tensor(const schema::Tensor& tensor, const TensorShape& expected) {
  const std::vector<uint32_t> shape = list_of(tensor.shape());
  if (shape != expected.shape) {
    return bad_input({"shape is ", shape_text(shape), ", expected ", shape_text(expected.shape)});
  }
  uint64_t count = 1;
  for (const uint32_t n : shape) count *= n;  // below 2^32 by the bounds of check_dimensions
  if (size_of(tensor.data()) != count) {
    return bad_input({"data has ", size_of(tensor.data()), " numbers, expected ", count,
                      " for the shape ", shape_text(shape)});
  }
  return check_finite(*tensor.data());
}

Status check_tensors(const Tensors* tensors, const std::vector<TensorShape>& expected) {
  std::vector<bool> seen(expected.size(), false);
  for (uint32_t i = 0; i < size_of(tensors); ++i) {
    const schema::Tensor& tensor = *tensors->Get(i);
    const std::string_view name = text_of(tensor.name());
    const std::string place = entry("tensors", i) + " " + in_quotes(name);
    if (Status s = check_known_fields(&tensor); !s.ok()) return s.at(place);
    const auto found = std::find_if(expected.begin(), expected.end(),
                                    [&](const TensorShape& e) { return e.name == name; });
    if (found == expected.end()) {
      return bad_input({place, ": has no use in this architecture with these dimensions"});
    }
    const auto index = static_cast<size_t>(found - expected.begin());
    if (seen[index]) return bad_input({place, ": appears for the second time"});
    seen[index] = true;
    if (Status s = check_tensor(tensor, *found); !s.ok()) return s.at(place);
  }
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing == seen.end()) return {};
  const TensorShape& tensor = expected[static_cast<size_t>(missing - seen.begin())];
  return bad_input({"tensors: ", in_quotes(tensor.name), " is missing, expected it with shape ",
                    shape_text(tensor.shape)});
}

// The sums of every layer, where the policy says that they are exact: whatever computes them then
// returns the same bits.
Status check_sums(const Tensors& tensors, const std::vector<TensorShape>& shapes, uint32_t grid) {
  const auto numbers = [&](size_t i) {
    uint32_t t = 0;
    while (tensors.Get(t)->name()->string_view() != shapes[i].name) ++t;  // each is there
    return std::span(tensors.Get(t)->data()->data(), tensors.Get(t)->data()->size());
  };
  for (size_t i = 0; grid > 0 && i < shapes.size(); i += 2) {  // weights, then their biases
    if (sums_are_exact(numbers(i), numbers(i + 1), grid)) continue;
    return bad_input({"tensors: sums of ", in_quotes(shapes[i].name),
                      " may round, expected exact ones, as dimensions.grid is ", grid});
  }
  return {};
}

Status check_provenance(const schema::Provenance& from, const Limits& limits) {
  if (Status s = check_known_fields(&from); !s.ok()) return s;
  if (size_of(from.workloads()) > kMaxWorkloads) {
    return bad_input({"workloads has ", size_of(from.workloads()), " entries, expected at most ",
                      kMaxWorkloads});
  }
  for (uint32_t i = 0; i < size_of(from.workloads()); ++i) {
    if (Status s = check_text(from.workloads()->Get(i)->string_view(), limits); !s.ok()) {
      return s.at(entry("workloads", i));
    }
  }
  if (Status s = check_text(text_of(from.trainer_version()), limits); !s.ok()) {
    return s.at("trainer_version");
  }
  if (Status s = check_text(text_of(from.date()), limits); !s.ok()) return s.at("date");
  Limits any_length = limits;  // a configuration is no name: as long as the file may be
  any_length.max_name_bytes = UINT32_MAX;
  return check_text(text_of(from.config()), any_length).at("config");
}

}  // namespace

Status verify_policy_meaning(std::span<const uint8_t> bytes, const KnownFeatures& known,
                             const Limits& limits) {
  const schema::Policy& policy = *schema::GetPolicy(bytes.data());
  if (Status s = check_known_fields(&policy); !s.ok()) return s;
  const std::string_view name = text_of(policy.architecture());
  const auto architecture = find_architecture(name);
  if (!architecture) {
    return bad_input({"architecture is ", in_quotes(name), ", expected 'placeto' or 'pairwise'"});
  }
  if (policy.dimensions() == nullptr) return Status::bad_input("dimensions are absent");
  if (Status s = check_known_fields(policy.dimensions()); !s.ok()) return s.at("dimensions");
  const PolicyDimensions dimensions = dimensions_of(*policy.dimensions());
  const size_t node_features = columns_of(*architecture, dimensions, policy.node_features());
  const size_t pair_features = size_of(policy.pair_features());
  const auto known_node = *architecture == Architecture::kPlaceto ? known.step : known.node;
  for (const Status& s : {check_dimensions(*architecture, dimensions, node_features, pair_features),
                          check_features("node_features", policy.node_features(), known_node),
                          check_features("pair_features", policy.pair_features(), known.pair)}) {
    if (!s.ok()) return s;
  }
  const auto networks = networks_of(*architecture, dimensions, node_features, pair_features);
  const std::vector<TensorShape> tensors = tensors_of(networks);
  if (Status s = check_tensors(policy.tensors(), tensors); !s.ok()) return s;
  if (Status s = check_sums(*policy.tensors(), tensors, dimensions.grid); !s.ok()) return s;
  if (policy.provenance() == nullptr) return {};
  return check_provenance(*policy.provenance(), limits).at("provenance");
}

}  // namespace placeto
