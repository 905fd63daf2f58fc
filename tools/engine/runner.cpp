#include "tools/engine/runner.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace placeto {

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

}  // namespace placeto
