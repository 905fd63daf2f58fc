// What two models gave back, compared.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/engine/staged_model.h"

namespace placeto {

// Fails with kBadInput, naming them, when one model has outputs that the other lacks: the stages
// are then those of another model.
Status check_same_outputs(const StagedModel& actual, const StagedModel& expected);
// What a model gave back for slot 0, kept.
struct ModelOutput {
  std::string name;
  Element element = Element::kUndefined;
  std::vector<std::byte> bytes;
};
// Fails with kInvalidArgument where an output is none that has bytes: texts, sequences.
Result<std::vector<ModelOutput>> keep_outputs(const StagedModel& model);
// The deviation (tensor.h) of each output of the latter, of slot 0, and how far it may deviate by
// the types of `actual`. Fails as keep_outputs does, and with kBadInput where one is lacking.
struct OutputDeviation {
  std::string name;
  double deviation = 0, tolerance = 0;

  bool exceeded() const { return deviation > tolerance; }
};
Result<std::vector<OutputDeviation>> output_deviations(const StagedModel& actual,
                                                       std::span<const ModelOutput> expected);
// The one that is furthest beyond its tolerance, or nearest to it. There is one.
const OutputDeviation& worst_of(std::span<const OutputDeviation> deviations);

}  // namespace placeto
