#include "tools/export/module_names.h"

namespace placeto {
namespace {

// PyTorch's exporter repeats a container's name with the number of what is in it.
bool is_repeated(const std::string& part, const std::string& next) {
  return next.size() > part.size() + 1 && next.starts_with(part + ".") &&
         is_number(next.substr(part.size() + 1));
}

// The operator is what follows the last '/'.
std::string path_of_scopes(std::string scopes) {
  std::string path, part;
  for (size_t slash; (slash = scopes.find('/')) != std::string::npos; scopes.erase(0, slash + 1)) {
    const std::string next = scopes.substr(0, slash);
    if (next.empty()) continue;
    if (is_repeated(part, next)) path.resize(path.size() - part.size());
    if (!path.empty() && path.back() != '.') path += '.';
    path += next;
    part = next;
  }
  return path;
}

}  // namespace

std::string module_path(const std::string& name) {
  std::string path = name;
  if (path.find('/') != std::string::npos) return path_of_scopes(std::move(path));
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
