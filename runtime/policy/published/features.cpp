#include "runtime/policy/published/features.h"

#include <algorithm>

namespace placeto {
namespace {

double bytes_of_outputs(const Graph& graph, uint32_t node) {
  double bytes = 0;
  for (uint32_t o = graph.output_begin(node); o < graph.output_end(node); ++o) {
    bytes += static_cast<double>(graph.output_bytes(o));
  }
  return bytes;
}

}  // namespace

PublishedFeatures::PublishedFeatures(const Problem& problem)
    : nodes_(problem.node_count()),
      devices_(problem.device_count()),
      columns_(step_columns(devices_)),
      rows_(size_t{nodes_} * columns_) {
  double longest = 0, most_bytes = 0;
  for (uint32_t v = 0; v < nodes_; ++v) {
    longest = std::max(longest, problem.mean_run_us(v));
    most_bytes = std::max(most_bytes, bytes_of_outputs(problem.graph(), v));
  }
  for (uint32_t v = 0; v < nodes_; ++v) {
    at(v, StepFeature::k_run_time) = static_cast<float>(ratio(problem.mean_run_us(v), longest));
    at(v, StepFeature::k_output_bytes) =
        static_cast<float>(ratio(bytes_of_outputs(problem.graph(), v), most_bytes));
  }
}

void PublishedFeatures::begin_pass(std::span<const uint32_t> assignment) {
  current_ = kNoIndex;
  for (uint32_t v = 0; v < nodes_; ++v) {
    place(v, assignment[v]);
    at(v, StepFeature::k_visited) = 0;
    at(v, StepFeature::k_current) = 0;
  }
}

void PublishedFeatures::begin_step(uint32_t node, std::span<const double> start_us) {
  if (current_ != kNoIndex) at(current_, StepFeature::k_current) = 0;
  current_ = node;
  at(node, StepFeature::k_current) = 1;
  const double latest = *std::max_element(start_us.begin(), start_us.end());
  float* out = &at(0, StepFeature::k_start_time);
  for (uint32_t v = 0; v < nodes_; ++v, out += columns_) {
    *out = static_cast<float>(ratio(start_us[v] - start_us[node], latest));
  }
}

void PublishedFeatures::decide(std::span<const uint32_t> nodes, uint32_t device) {
  for (const uint32_t v : nodes) {
    place(v, device);
    at(v, StepFeature::k_visited) = 1;
  }
}

void PublishedFeatures::place(uint32_t node, uint32_t device) {
  float* const placed_on = &at(node, StepFeature::k_placed_on);
  std::fill_n(placed_on, devices_, 0.0f);
  placed_on[device] = 1;
}

}  // namespace placeto
