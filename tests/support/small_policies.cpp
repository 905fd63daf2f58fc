#include "tests/support/small_policies.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/random.h"
#include "runtime/policy/file/architecture.h"
#include "runtime/policy/file/policy_file.h"
#include "runtime/policy/guide.h"
#include "runtime/policy/published/features.h"

namespace placeto::test {
namespace {

// Every tensor that the dimensions ask for, all zeros.
void add_tensors(PolicySpec& spec) {
  const Architecture architecture = *find_architecture(spec.architecture);
  size_t columns = 0;
  for (const PolicyFeature& f : spec.node_features) {
    columns += columns_of(architecture, spec.dimensions, f.name);
  }
  const auto networks =
      networks_of(architecture, spec.dimensions, columns, spec.pair_features.size());
  for (const TensorShape& tensor : tensors_of(networks)) {
    size_t count = 1;
    for (const uint32_t n : tensor.shape) count *= n;
    spec.tensors.push_back({tensor.name, tensor.shape, std::vector<float>(count)});
  }
}

PolicyTensor& tensor(PolicySpec& spec, const std::string& name) {
  return *std::find_if(spec.tensors.begin(), spec.tensors.end(),
                       [&](const PolicyTensor& t) { return t.name == name; });
}

// From input `row` to output `column`.
void weigh(PolicySpec& spec, const std::string& layer, uint32_t row, uint32_t column, float value) {
  PolicyTensor& weights = tensor(spec, layer + ".weight");
  weights.data[row * weights.shape[1] + column] = value;
}

void bias(PolicySpec& spec, const std::string& layer, uint32_t column, float value) {
  tensor(spec, layer + ".bias").data[column] = value;
}

// One hidden unit of the pairwise head: share x relu(sum of weighted features).
struct Term {
  float share;
  std::initializer_list<std::pair<std::string_view, float>> features;
};

// A hidden unit for each, all of which the last layer of the network sums.
void add_terms(PolicySpec& spec, const std::string& network, std::span<const Term> terms) {
  for (uint32_t unit = 0; unit < terms.size(); ++unit) {
    for (const auto& [name, weight] : terms[unit].features) {
      const auto input = std::find_if(spec.pair_features.begin(), spec.pair_features.end(),
                                      [n = name](const PolicyFeature& f) { return f.name == n; });
      weigh(spec, network + ".0", static_cast<uint32_t>(input - spec.pair_features.begin()), unit,
            weight);
    }
    weigh(spec, network + ".1", unit, 0, terms[unit].share);
  }
}

}  // namespace

PolicySpec small_pairwise_policy() {
  const Term terms[] = {
      {-0.5f, {{"delay_in", 1}}},
      {-0.5f, {{"delay_out", 1}}},
      {0.3f, {{"load_source", 1}, {"load_target", -1}}},
      {-0.3f, {{"load_target", 1}, {"work_target", 1}, {"load_source", -1}}},
      {1.0f, {{"critical_transfer_before", 1}, {"critical_transfer_after", -1}}},
      {-1.0f, {{"critical_transfer_after", 1}, {"critical_transfer_before", -1}}},
      {0.2f, {{"transfer_before", 1}, {"transfer_after", -1}}},
      {-0.2f, {{"transfer_after", 1}, {"transfer_before", -1}}},
      {-0.5f, {{"work_change", 1}}},
  };
  PolicySpec spec;
  spec.architecture = "pairwise";
  for (const char* name : {"work_target", "work_change", "load_target", "load_source",
                           "transfer_before", "transfer_after", "critical_transfer_before",
                           "critical_transfer_after", "delay_in", "delay_out"}) {
    spec.pair_features.push_back({name, 0, 1});
  }
  spec.dimensions.head_hidden = {static_cast<uint32_t>(std::size(terms))};
  add_tensors(spec);
  add_terms(spec, "head", terms);
  return spec;
}

PolicySpec small_leaping_policy() {
  const Term terms[] = {
      {1.0f, {{"load_source", 1}, {"load_target", -1}, {"work_target", -1}}},
      {-1.0f, {{"critical_transfer_after", 1}, {"critical_transfer_before", -1}}},
  };
  PolicySpec spec = small_pairwise_policy();
  spec.dimensions.leap_hidden = {static_cast<uint32_t>(std::size(terms))};
  std::vector<PolicyTensor> head = std::exchange(spec.tensors, {});
  add_tensors(spec);
  for (PolicyTensor& known : head) tensor(spec, known.name) = std::move(known);
  add_terms(spec, "leap", terms);
  return spec;
}

// Columns of an embedding along the edges, D devices: run time | device, one-hot, D | how far away
// in time | how many predecessors are on each device, D. Nobody looks at the one against them.
PolicySpec small_placeto_policy(uint32_t devices, Looks looks, uint32_t rounds) {
  const bool nearby = looks == Looks::kAtLoadsNearby;
  const uint32_t device = 1, away = 1 + devices, heard = 2 + devices, width = 2 + 2 * devices;
  PolicySpec spec;
  spec.architecture = "placeto";
  spec.node_features = {{"run_time", 0, 1}, {"placed_on", 0, 1}};
  if (nearby) spec.node_features.push_back({"start_time", 0, 1});
  spec.dimensions = {.embedding = width,
                     .rounds = rounds,
                     .devices = devices,
                     .encoder_hidden = {devices + 3},
                     .message_hidden = {devices},
                     .pool_hidden = {devices},
                     .head_hidden = {},
                     .directions = 2};
  if (rounds == 0) spec.dimensions.message_hidden.clear();
  add_tensors(spec);
  // Inputs, run time and devices first, are not negative and pass the ReLU; |start time| is made of
  // its two halves.
  for (uint32_t i = 0; i <= devices; ++i) {
    weigh(spec, "encoder.0", i, i, 1);
    weigh(spec, "encoder.1", i, i, 1);
  }
  for (uint32_t half = 0; nearby && half < 2; ++half) {
    weigh(spec, "encoder.0", devices + 1, devices + 1 + half, half == 0 ? 1.0f : -1.0f);
    weigh(spec, "encoder.1", devices + 1 + half, away, 4);
  }
  for (uint32_t d = 0; d < devices; ++d) {
    if (rounds > 0) {  // every predecessor says where it is
      weigh(spec, "along.f.0", device + d, d, 1);
      weigh(spec, "along.f.1", d, heard + d, 1);
      weigh(spec, "along.g.0", heard + d, d, 1);
      weigh(spec, "along.g.1", d, heard + d, 1);
    }
    uint32_t part = 1;  // of the head's inputs
    for (const std::string set : {"ancestors", "descendants", "unrelated"}) {
      // relu(run time + [is on d] - 1 - away): its run time if it is on d, else nothing.
      weigh(spec, set + ".f.0", 0, d, 1);
      weigh(spec, set + ".f.0", device + d, d, 1);
      weigh(spec, set + ".f.0", away, d, -1);
      bias(spec, set + ".f.0", d, -1);
      weigh(spec, set + ".f.1", d, device + d, 1);
      weigh(spec, set + ".g.0", device + d, d, 1);
      weigh(spec, set + ".g.1", d, device + d, 1);
      weigh(spec, "head.0", 2 * part++ * width + device + d, d, -1);
    }
    weigh(spec, "head.0", heard + d, d, 0.25f);
  }
  return spec;
}

PolicySpec published_placeto_policy(uint32_t devices, uint32_t rounds, bool start_time,
                                    uint64_t seed) {
  PolicySpec spec;
  spec.architecture = "placeto";
  for (const Feature& feature : kStepFeatureList) {
    const bool is_start = feature.name == kStepFeatureList.back().name;
    if (!is_start || start_time) spec.node_features.push_back({std::string(feature.name), 0, 1});
  }
  const uint32_t width = step_columns(devices);
  spec.dimensions = published_dimensions(width, devices, rounds);
  draw_weights(spec, seed);
  return spec;
}

void draw_weights(PolicySpec& spec, uint64_t seed) {
  spec.tensors.clear();
  add_tensors(spec);
  Random random(seed);
  for (PolicyTensor& t : spec.tensors) {
    // Glorot for weights, as published; a little of everything for biases, so that all count.
    const double fan = t.shape.size() == 2 ? t.shape[0] + t.shape[1] : 600;
    const double range = std::sqrt(6.0 / fan);
    for (float& x : t.data) x = static_cast<float>((2 * random.uniform() - 1) * range);
  }
}

std::shared_ptr<const Policy> load_policy(const PolicySpec& spec) {
  const auto bytes = encode_policy(spec);
  if (bytes.ok()) {
    auto policy = Policy::load(*bytes, Policy::Bytes::kCopy, known_features());
    if (policy.ok()) return *policy;
    std::fprintf(stderr, "%s\n", policy.status().message().c_str());
  }
  std::abort();
}

}  // namespace placeto::test
