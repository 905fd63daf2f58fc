#include "tools/engine/compare_outputs.h"

#include <algorithm>

#include "runtime/graph/text.h"

namespace placeto {
namespace {

// outputs().size() if there is none of that name.
size_t index_of_output(const StagedModel& model, const std::string& name) {
  const auto same = [&](const TensorInfo& info) { return info.name == name; };
  const auto it = std::find_if(model.outputs().begin(), model.outputs().end(), same);
  return static_cast<size_t>(it - model.outputs().begin());
}

// "'y', 'z'": outputs of `model` that the other one lacks, the first few.
std::string lacking_outputs(const StagedModel& model, const StagedModel& other) {
  constexpr size_t kShown = 5;
  std::string names;
  size_t count = 0;
  for (const TensorInfo& output : model.outputs()) {
    if (index_of_output(other, output.name) < other.outputs().size()) continue;
    if (++count <= kShown) names += (count > 1 ? ", " : "") + in_quotes(output.name);
  }
  return count <= kShown ? names : names + " and " + std::to_string(count - kShown) + " more";
}

}  // namespace

Status check_same_outputs(const StagedModel& actual, const StagedModel& expected) {
  const std::string lacking = lacking_outputs(expected, actual);
  const std::string unknown = lacking_outputs(actual, expected);
  if (lacking.empty() && unknown.empty()) return {};
  std::string text = "the stages are of another model:";
  if (!lacking.empty()) text += " they lack its outputs " + lacking;
  if (!unknown.empty()) {
    text += (lacking.empty() ? " it lacks" : ", and it lacks") + std::string(" their outputs ") +
            unknown;
  }
  return Status::bad_input(text);
}

Result<std::vector<ModelOutput>> keep_outputs(const StagedModel& model) {
  std::vector<ModelOutput> kept;
  for (size_t i = 0; i < model.outputs().size(); ++i) {
    const auto output = model.output(0, i);
    if (!output.ok()) return output.status();
    const auto bytes = output->bytes;
    kept.push_back({model.outputs()[i].name, output->element, {bytes.begin(), bytes.end()}});
  }
  return kept;
}

Result<std::vector<OutputDeviation>> output_deviations(const StagedModel& actual,
                                                       std::span<const ModelOutput> expected) {
  double usual = 0;
  for (const Element element : actual.elements()) usual = std::max(usual, usual_deviation(element));
  std::vector<OutputDeviation> deviations;
  for (const ModelOutput& output : expected) {
    const size_t k = index_of_output(actual, output.name);
    if (k == actual.outputs().size()) {
      return Status::bad_input("there is no output " + in_quotes(output.name));
    }
    const auto made = actual.output(0, k);
    if (!made.ok()) return made.status();
    deviations.push_back({output.name, deviation(output.element, made->bytes, output.bytes),
                          std::max(usual, usual_deviation(output.element))});
  }
  return deviations;
}

const OutputDeviation& worst_of(std::span<const OutputDeviation> deviations) {
  const auto over = [](const OutputDeviation& output) {
    return output.deviation <= 0 ? 0 : output.deviation / output.tolerance;  // or infinite
  };
  return *std::ranges::max_element(deviations, {}, over);
}

}  // namespace placeto
