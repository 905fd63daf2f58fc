#include "tools/export/module_names.h"

#include <algorithm>

namespace placeto {

std::string module_path(const std::string& name) {
  std::string path = name;
  if (const size_t slash = path.rfind('/'); slash != std::string::npos) {
    path.resize(slash);
    path.erase(0, path.find_first_not_of('/'));
    std::replace(path.begin(), path.end(), '/', '.');
    return path;
  }
  if (path.find('.') == std::string::npos) return "";
  for (const std::string suffix : {".weight", ".bias"}) {
    if (path.ends_with(suffix)) path.resize(path.size() - suffix.size());
  }
  return path;
}

std::vector<const PlacedNode*> nodes_with_weights(const Placed& placed) {
  // Axes, shapes and scales are parameters in a file, and no module's weights.
  constexpr uint64_t kLeastWeights = 128;
  std::vector<const PlacedNode*> all, with_parameters, weighted;
  for (const PlacedNode& node : placed.nodes) {
    all.push_back(&node);
    if (node.resident_bytes > 0) with_parameters.push_back(&node);
    if (node.resident_bytes >= kLeastWeights) weighted.push_back(&node);
  }
  if (!weighted.empty()) return weighted;
  return with_parameters.empty() ? all : with_parameters;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace placeto
