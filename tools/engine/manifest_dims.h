// The free dimensions of a manifest's inputs, found by name or by place.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/engine/manifest_reader.h"
#include "tools/onnx/dim_setting.h"

namespace placeto {

// Looks through the inputs once, as manifests may have hundreds of thousands. Points into the
// manifest, which has to stay as it is.
class ManifestDims {
 public:
  explicit ManifestDims(const Manifest& manifest);

  // Whether a setting of that name (DimSetting::name) may be meant for this model.
  bool may_have(const std::string& name) const;
  // Also one that it was placed with, which then says nothing new.
  bool takes(const DimSetting& dim) const;
  // What is given, and of what the stages were placed with that which speaks of other axes.
  std::vector<DimSetting> with(std::span<const DimSetting> given) const;

 private:
  // What its inputs call the axis at a place (dimensions.h), "" if nothing; of a free one.
  std::optional<std::string> name_of_axis(const std::string& place) const;

  const Manifest& manifest_;
  std::map<std::string_view, const TensorInfo*> inputs_;
  std::set<std::string_view> symbols_;
};

}  // namespace placeto
