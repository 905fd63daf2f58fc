// Policies to measure, each under a name of its own: tables, figures and files tell them apart by
// it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/policy/file/policy.h"

namespace placeto::train {

inline constexpr const char* kShips = "default";  // the policy that ships, which is no file

struct NamedPolicy {
  std::string name;
  std::shared_ptr<const Policy> policy;
};

// A name for each path: the file's without its extension; where several have that, the path as it
// was given, without .plpo. kInvalidArgument if a path is given twice.
Result<std::vector<std::string>> names_of(std::span<const std::string> paths);

// From a file, or kShips. kBadInput if the file cannot be read.
Result<NamedPolicy> load_policy(const std::string& path);
// Errors: those of both above.
Result<std::vector<NamedPolicy>> load_policies(std::span<const std::string> paths);

}  // namespace placeto::train
