// placeto_onnx_sweep DIRECTORY: every model below it either imports or is refused with a reason.
// Exit status 77, which CTest shows as skipped, if there is no such directory.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/onnx/import.h"

namespace {

constexpr int kSkipped = 77;

// Most operators' tests have shapes that follow; those with sequences and data do not. There are
// more of those in newer collections.
constexpr double kLeastImported = 0.98, kLeastComplete = 0.94;

struct Counts {
  size_t models = 0, imported = 0, complete = 0;
  int failures = 0;
};

void sweep(const std::string& path, Counts& counts) {
  ++counts.models;
  const auto result = placeto::import_onnx(path);
  if (result.ok()) {
    ++counts.imported;
    counts.complete += result->report.unknown.empty();
    return;
  }
  const std::string& message = result.status().message();
  const auto code = result.status().code();
  const bool reason = message.starts_with(path + ": ") && message.size() > path.size() + 10;
  const bool allowed =
      code == placeto::StatusCode::kBadInput || code == placeto::StatusCode::kInvalidArgument;
  if (reason && allowed) return;
  std::fprintf(stderr, "refused without a reason: %s\n", message.c_str());
  ++counts.failures;
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 2 || !fs::is_directory(argv[1])) {
    std::fprintf(stderr, "no directory of models: skipped (Debian: libonnx-testdata)\n");
    return kSkipped;
  }
  std::vector<std::string> models;
  for (const auto& entry : fs::recursive_directory_iterator(argv[1])) {
    if (entry.path().extension() == ".onnx") models.push_back(entry.path().string());
  }
  std::sort(models.begin(), models.end());
  Counts counts;
  for (const std::string& model : models) sweep(model, counts);
  std::printf("%zu models, %zu imported, %zu of them with all shapes\n", counts.models,
              counts.imported, counts.complete);
  const auto all = static_cast<double>(counts.models);
  const bool enough = static_cast<double>(counts.imported) >= kLeastImported * all &&
                      static_cast<double>(counts.complete) >= kLeastComplete * all;
  return counts.models > 0 && counts.failures == 0 && enough ? 0 : 1;
}
