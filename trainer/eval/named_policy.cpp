#include "trainer/eval/named_policy.h"

#include <algorithm>
#include <filesystem>

#include "runtime/placer/methods.h"
#include "runtime/policy/guide.h"
#include "tools/io/shipped.h"
#include "tools/partition/partition.h"
#include "trainer/eval/expert.h"

namespace placeto::train {
namespace {

namespace fs = std::filesystem;

// From the shortest name to one that no other path has.
enum class Length : uint8_t { kStem, kPath, kWhole };

std::string name_of(const std::string& path, Length length) {
  if (length == Length::kStem) return fs::path(path).stem().string();
  const bool ends = length == Length::kPath && fs::path(path).extension() == ".plpo";
  return ends ? fs::path(path).replace_extension().string() : path;
}

// Where results stand under names, a policy may not have that of a method.
bool is_taken(const std::string& name) {
  const auto& partitioners = partition_method_names();
  return name == "auto" || name == expert_method().name() || find_method(name) != nullptr ||
         std::find(partitioners.begin(), partitioners.end(), name) != partitioners.end();
}

}  // namespace

Result<std::vector<std::string>> names_of(std::span<const std::string> paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (fs::path(paths[i]).lexically_normal() != fs::path(paths[j]).lexically_normal()) continue;
      return Status::invalid(paths[i] + ": given twice, expected each policy once");
    }
  }
  std::vector<std::string> names(paths.size());
  std::vector<Length> length(paths.size(), Length::kStem);
  // Longer names can meet those of others, which are then longer, too.
  for (bool all_differ = false; !all_differ;) {
    all_differ = true;
    for (size_t i = 0; i < paths.size(); ++i) names[i] = name_of(paths[i], length[i]);
    for (size_t i = 0; i < paths.size(); ++i) {
      if (std::count(names.begin(), names.end(), names[i]) == 1 && !is_taken(names[i])) continue;
      if (length[i] == Length::kWhole) continue;
      length[i] = length[i] == Length::kStem ? Length::kPath : Length::kWhole;
      all_differ = false;
    }
  }
  return names;
}

Result<NamedPolicy> load_policy(const std::string& path) {
  const bool ships = path == kShips;
  auto policy =
      ships ? Policy::load(shipped::default_policy(), Policy::Bytes::kCopy, known_features())
            : Policy::load_file(path, Policy::File::kRead, known_features());
  if (!policy.ok()) {
    const Status& status = policy.status();
    return status.code() == StatusCode::kIo ? Status::bad_input(status.message()) : status;
  }
  return NamedPolicy{name_of(path, Length::kStem), std::move(*policy)};
}

Result<std::vector<NamedPolicy>> load_policies(std::span<const std::string> paths) {
  const Result<std::vector<std::string>> names = names_of(paths);
  if (!names.ok()) return names.status();
  std::vector<NamedPolicy> policies;
  for (size_t i = 0; i < paths.size(); ++i) {
    Result<NamedPolicy> policy = load_policy(paths[i]);
    if (!policy.ok()) return policy.status();
    policy->name = (*names)[i];
    policies.push_back(std::move(*policy));
  }
  return policies;
}

}  // namespace placeto::train
