#include "tools/engine/model_inputs.h"

#include <algorithm>
#include <cstdlib>

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
  return Status::bad_input(read.message())
      .at("input " + in_quotes(info.name) +
          ": neither a number, true or false, nor a file that can be read");
}

}  // namespace

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

}  // namespace placeto
