#include "tools/engine/manifest_dims.h"

#include <algorithm>

namespace placeto {

ManifestDims::ManifestDims(const Manifest& manifest) : manifest_(manifest) {
  for (const TensorInfo& input : manifest.declared) {
    inputs_.emplace(input.name, &input);
    for (const std::string& symbol : input.symbols) {
      if (!symbol.empty()) symbols_.insert(symbol);
    }
  }
}

// Places are taken apart, and not held for each axis: names of inputs may be long.
std::optional<std::string> ManifestDims::name_of_axis(const std::string& place) const {
  const auto at = parse_place(place);
  const auto input = at ? inputs_.find(at->input) : inputs_.end();
  if (input == inputs_.end()) return std::nullopt;
  const TensorInfo& info = *input->second;
  if (at->axis >= info.shape.size() || info.shape[at->axis] >= 0) return std::nullopt;
  return info.symbols[at->axis];
}

bool ManifestDims::may_have(const std::string& name) const {
  return !manifest_.has_shapes || name == "*" || name_of_axis(name) || symbols_.contains(name);
}

bool ManifestDims::takes(const DimSetting& dim) const {
  return may_have(dim.name) || std::ranges::any_of(manifest_.dims, [&](const DimSetting& d) {
           return d.name == dim.name && d.value == dim.value;
         });
}

std::vector<DimSetting> ManifestDims::with(std::span<const DimSetting> given) const {
  std::vector<DimSetting> dims = merged_dims(
      manifest_.dims, given, [this](const std::string& place) { return name_of_axis(place); });
  // What stands for all, once more by name: the engine knows no other. A number that an axis has by
  // its place is that of its name everywhere (dimensions.h).
  const auto all = std::ranges::find(dims, "*", &DimSetting::name);
  if (all == dims.end()) return dims;
  const uint64_t others = all->value;
  std::set<std::string> named;
  std::map<std::string, uint64_t> by_place;  // of names
  for (const DimSetting& dim : dims) {
    named.insert(dim.name);
    if (const auto name = name_of_axis(dim.name)) by_place[*name] = dim.value;
  }
  for (const TensorInfo& input : manifest_.declared) {
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      const std::string& symbol = input.symbols[axis];
      if (input.shape[axis] >= 0 || symbol.empty() || !named.insert(symbol).second) continue;
      const auto placed = by_place.find(symbol);
      dims.push_back({symbol, placed == by_place.end() ? others : placed->second, true});
    }
  }
  return dims;
}

}  // namespace placeto
