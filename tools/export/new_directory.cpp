#include "tools/export/new_directory.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace placeto {
namespace {

namespace fs = std::filesystem;

// mkdtemp makes it private; the result gets the permissions that mkdir would have given.
bool open_up(const std::string& directory) {
  const mode_t mask = umask(0);
  umask(mask);
  return chmod(directory.c_str(), 0777 & ~mask) == 0;
}

}  // namespace

Result<NewDirectory> NewDirectory::create(const std::string& path) {
  std::error_code error;
  fs::path target = path;
  if (target.filename().empty()) target = target.parent_path();  // "out/"
  if (fs::exists(fs::symlink_status(target, error)) &&
      !(fs::is_directory(target, error) && fs::is_empty(target, error))) {
    return Status::io(path + ": exists, expected no such file or an empty directory");
  }
  std::string staging = target.string() + ".partial-XXXXXX";
  if (mkdtemp(staging.data()) == nullptr || !open_up(staging)) {
    return Status::io(path + ": cannot write there: " + std::strerror(errno));
  }
  return NewDirectory(target.string(), std::move(staging));
}

NewDirectory::NewDirectory(NewDirectory&& other) noexcept
    : path_(std::move(other.path_)), staging_(std::exchange(other.staging_, "")) {}

NewDirectory::~NewDirectory() {
  std::error_code error;
  if (!staging_.empty()) fs::remove_all(staging_, error);
}

Status NewDirectory::commit() {
  std::error_code error;
  fs::rename(staging_, path_, error);  // also over an empty directory
  if (error) return Status::io(path_ + ": cannot write there: " + error.message());
  staging_.clear();
  return {};
}

}  // namespace placeto
