#include "tools/export/new_directory.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace placeto {

namespace fs = std::filesystem;

Result<NewDirectory> NewDirectory::create(const std::string& path) {
  std::error_code error;
  fs::path target = path;
  if (target.filename().empty()) target = target.parent_path();  // "out/"
  // It would take the place of the folder that this program, and the shell, would still be in.
  if (fs::equivalent(target, ".", error)) {
    return Status::invalid(path + ": is the current folder, expected a new one or an empty other");
  }
  if (fs::exists(fs::symlink_status(target, error)) &&
      !(fs::is_directory(target, error) && fs::is_empty(target, error))) {
    return Status::invalid(path + ": exists, expected no such file or an empty directory");
  }
  // No directory can take the name of a link: it goes where the link leads.
  if (fs::is_symlink(target, error)) {
    target = fs::canonical(target, error);
    if (error) return Status::io(path + ": cannot write there: " + error.message());
  }
  Scratch staging(target.string() + ".partial");
  if (staging.root().empty()) {
    return Status::io(path + ": cannot write there: " + std::strerror(errno));
  }
  staging.inherit_group(target.string());
  return NewDirectory(target.string(), std::move(staging));
}

Status NewDirectory::told(const Status& status) const {
  std::string message = status.message();
  const size_t at = message.find(staging_.root());
  if (at == std::string::npos) return status;
  return {status.code(), message.replace(at, staging_.root().size(), path_)};
}

Status NewDirectory::commit() {
  const std::error_code error = staging_.keep_as(path_);  // also over an empty directory
  if (error) return Status::io(path_ + ": cannot write there: " + error.message());
  return {};
}

}  // namespace placeto
