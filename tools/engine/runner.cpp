#include "tools/engine/runner.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "runtime/graph/text.h"

namespace placeto {
namespace {

uint64_t seed_of(const std::string& name) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
  return hash;
}

// A number, or what input settings take for one, if the text is nothing else.
bool is_number(const std::string& text, double& value) {
  if (text == "true" || text == "false") return value = text == "true" ? 1 : 0, true;
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

// One number for all elements, or one for each.
Status fill_values(const TensorInfo& info, std::span<const double> values,
                   std::span<std::byte> out) {
  if (values.size() == 1) return fill_value(info.element, values[0], out);
  const size_t width = element_bytes(info.element);
  if (values.size() * width != out.size()) {
    return Status::bad_input("input " + in_quotes(info.name) + " was set to " +
                             std::to_string(values.size()) + " numbers, and the model has " +
                             std::to_string(out.size() / width) + " elements there");
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Status s = fill_value(info.element, values[i], out.subspan(i * width, width));
    if (!s.ok()) return s;
  }
  return {};
}

// One number everywhere, or the content of a file.
Status fill_given(const TensorInfo& info, const std::string& source, std::span<std::byte> out) {
  double number = 0;
  if (is_number(source, number)) {
    return fill_value(info.element, number, out).at("input " + in_quotes(info.name));
  }
  const Status read = read_tensor_file(source, info, out);
  if (read.code() != StatusCode::kIo) return read;
  return read.at("input " + in_quotes(info.name) +
                 ": neither a number, true or false, nor a file that can be read");
}

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

Result<Manifest> manifest_of(const std::string& path, std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_directory(path, error) || fs::path(path).extension() == ".json" || holds_json(path)) {
    return read_manifest(path, directory);
  }
  if (!fs::exists(path, error)) {
    if (!error) error = std::make_error_code(std::errc::no_such_file_or_directory);
    return Status::io(path + ": cannot open: " + error.message());
  }
  directory = fs::path(path).has_parent_path() ? fs::path(path).parent_path().string() : ".";
  return whole_model(fs::path(path).filename().string(), "cpu:0");
}

Result<std::unique_ptr<Runner>> Runner::open(const std::string& path,
                                             const SessionSettings& settings,
                                             const WorkerOptions& workers) {
  std::string directory;
  const Result<Manifest> manifest = manifest_of(path, directory);
  if (!manifest.ok()) return manifest.status();
  return open(*manifest, directory, settings, workers);
}

Result<std::unique_ptr<Runner>> Runner::open(const Manifest& manifest, const std::string& directory,
                                             const SessionSettings& settings,
                                             const WorkerOptions& workers) {
  auto model = StagedModel::open(manifest, directory, settings);
  if (!model.ok()) return model.status();
  WorkerOptions options = workers;
  options.slots = std::max(1u, settings.slots);
  options.threads_per_stage = settings.threads;
  return std::unique_ptr<Runner>(new Runner(std::move(*model), options));
}

Status Runner::start() {
  if (Status s = model_->prepare(); !s.ok()) return s;
  StagedModel* model = model_.get();
  workers_ = std::make_unique<Workers>(
      manifest(), options_,
      [model](uint32_t slot, uint32_t stage) { return model->run_stage(slot, stage); });
  return {};
}

Result<GivenInput> parse_given_input(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0 && equals + 1 < text.size()) {
    return GivenInput{text.substr(0, equals), text.substr(equals + 1)};
  }
  return Status::invalid(
      in_quotes(text) +
      ": expected NAME=FILE.npy, NAME=FILE, or NAME=VALUE with a number, true or false");
}

Status fill_model_inputs(StagedModel& model, const std::vector<GivenInput>& given) {
  for (const GivenInput& input : given) {
    const auto same = [&](const TensorInfo& info) { return info.name == input.name; };
    if (std::any_of(model.inputs().begin(), model.inputs().end(), same)) continue;
    return Status::invalid("the model has no input " + in_quotes(input.name));
  }
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    const TensorInfo& info = model.inputs()[i];
    const auto it = std::find_if(given.begin(), given.end(),
                                 [&](const GivenInput& g) { return g.name == info.name; });
    if (it == given.end()) {
      fill_inputs(info.element, seed_of(info.name), model.input(0, i));
      continue;
    }
    const Status filled = fill_given(info, it->source, model.input(0, i));
    if (!filled.ok()) return filled;
  }
  return {};
}

std::vector<DimSetting> dims_of_whole(std::span<const DimSetting> dims,
                                      std::span<const InputSetting> set) {
  std::vector<DimSetting> all;
  if (!set.empty()) all.push_back({"*", 1, true});  // before others: the last of a name counts
  all.insert(all.end(), dims.begin(), dims.end());
  return all;
}

Status fill_set_inputs(StagedModel& whole, std::span<const InputSetting> set) {
  for (const InputSetting& setting : set) {
    for (size_t i = 0; i < whole.inputs().size(); ++i) {
      if (whole.inputs()[i].name != setting.name) continue;
      const Status s = fill_values(whole.inputs()[i], setting.values, whole.input(0, i));
      if (!s.ok()) return s;
    }
  }
  return {};
}

Status check_same_outputs(const StagedModel& actual, const StagedModel& expected) {
  const std::string lacking = lacking_outputs(expected, actual);
  const std::string unknown = lacking_outputs(actual, expected);
  if (lacking.empty() && unknown.empty()) return {};
  std::string text = "the stages are of another model:";
  if (!lacking.empty()) text += " they lack its outputs " + lacking;
  if (!unknown.empty())
    text += (lacking.empty() ? " it lacks" : ", and it lacks") + std::string(" their outputs ") +
            unknown;
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
