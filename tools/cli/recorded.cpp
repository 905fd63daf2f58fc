#include "tools/cli/recorded.h"

#include "tools/cli/common.h"

namespace placeto::cli {

void take_up_dims(const PlacementSpec& placement, const std::string& file, ModelOptions& options) {
  options.recorded.clear();
  for (const std::string& text : placement.dims) {
    auto dim = parse_dim_setting(text);
    if (!dim.ok()) require(dim.status().at(file));
    options.recorded.push_back(std::move(*dim));
    options.recorded.back().may_be_absent = true;
  }
}

Engine engine_of(const PlacementSpec& placement, const std::string& file,
                 const std::string& given) {
  if (given == "none" || (given.empty() && placement.engine == "-")) return Engine({});
  if (!given.empty()) return Engine({given, {}});
  try {
    return Engine({placement.engine, {}});
  } catch (const Failure& failure) {
    throw Failure(failure.status, std::string(failure.what()) + "; it is the engine that " + file +
                                      " was placed for, --engine names another, or none");
  }
}

}  // namespace placeto::cli
