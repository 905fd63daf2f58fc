// Records of decisions: what a policy saw of every candidate, and what each would have given.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/policy/features.h"

namespace placeto::train {

// Decision i has the rows offset[i] .. offset[i + 1] - 1.
struct Samples {
  static constexpr uint32_t kNoExpert = UINT32_MAX;

  std::vector<uint32_t> offset = {0};
  std::vector<float> rows;   // rows x kPairFeatures, unnormalised
  std::vector<float> gains;  // exact decrease of log makespan, one per row
  // Per decision: what a search made of the group in the end, as the index of a candidate or their
  // number if it stays; kNoExpert if it cannot be said.
  std::vector<uint32_t> expert;

  uint32_t groups() const { return static_cast<uint32_t>(offset.size()) - 1; }
  uint32_t row_count() const { return static_cast<uint32_t>(gains.size()); }
  std::span<const float> row(uint32_t r) const {
    return {&rows[size_t{r} * kPairFeatures], kPairFeatures};
  }

  // Another decision; its rows have been appended to rows and gains.
  void close_group(uint32_t by_expert = kNoExpert) {
    offset.push_back(row_count());
    expert.push_back(by_expert);
  }
  void append(const Samples& other);
  // Adds decision `group` of another.
  void append_group(const Samples& other, uint32_t group);

  std::string to_bytes() const;
  // False if the bytes are none that to_bytes made.
  bool from_bytes(std::string_view bytes);
};

}  // namespace placeto::train
