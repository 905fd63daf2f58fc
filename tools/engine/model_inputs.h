// What models are run on where nobody sends requests: inputs that are given, made up, or as they
// were set when the model was split.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/engine/staged_model.h"

namespace placeto {

// Fills every input of slot 0 with numbers that are the same on every run; those of `given`, by
// name, with the content of a file or with one number in all elements.
struct GivenInput {
  std::string name, source;
};
// "NAME=FILE.npy", "NAME=FILE", "NAME=3" or "NAME=true", which is 1: kInvalidArgument for anything
// else.
Result<GivenInput> parse_given_input(const std::string& text);
Status fill_model_inputs(StagedModel& model, const std::vector<GivenInput>& given);

// The numbers for a whole model that runs beside stages: where inputs are set, it has others that
// only a branch reads that is not taken, and nobody says how large. They are as small as can be.
std::vector<DimSetting> dims_of_whole(std::span<const DimSetting> dims,
                                      std::span<const InputSetting> set);

// Of those of the whole model's inputs that the stages do not have (Manifest::set), slot 0.
Status fill_set_inputs(StagedModel& whole, std::span<const InputSetting> set);

}  // namespace placeto
