#include "tools/export/new_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
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

constexpr std::string_view kPattern = ".partial-XXXXXX";
// Tells a staging directory from others of such a name, which are somebody's own.
constexpr const char* kMark = ".placeto-export";

// The directory, locked; -1 if it cannot be opened or another process holds the lock.
int locked(const fs::path& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

// Whoever writes into a staging directory holds its lock, and a process that ended holds none.
void remove_leftovers(const fs::path& target) {
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const std::string begin =
      target.filename().string() + std::string(kPattern.substr(0, kPattern.find('X')));
  const size_t length = target.filename().string().size() + kPattern.size();
  std::error_code error;
  fs::directory_iterator entries(parent, error), end;
  for (; !error && entries != end; entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (name.size() != length || !name.starts_with(begin)) continue;
    const int lock = locked(entries->path());
    if (lock < 0) continue;
    std::error_code ignored;
    if (fs::exists(entries->path() / kMark, ignored)) fs::remove_all(entries->path(), ignored);
    ::close(lock);
  }
}

}  // namespace

Result<NewDirectory> NewDirectory::create(const std::string& path) {
  std::error_code error;
  fs::path target = path;
  if (target.filename().empty()) target = target.parent_path();  // "out/"
  if (fs::exists(fs::symlink_status(target, error)) &&
      !(fs::is_directory(target, error) && fs::is_empty(target, error))) {
    return Status::invalid(path + ": exists, expected no such file or an empty directory");
  }
  // No directory can take the name of a link: it goes where the link leads.
  if (fs::is_symlink(target, error)) {
    target = fs::canonical(target, error);
    if (error) return Status::io(path + ": cannot write there: " + error.message());
  }
  remove_leftovers(target);
  std::string staging = target.string() + std::string(kPattern);
  if (mkdtemp(staging.data()) == nullptr || !open_up(staging)) {
    return Status::io(path + ": cannot write there: " + std::strerror(errno));
  }
  const int lock = locked(staging);
  NewDirectory directory(target.string(), std::move(staging), lock);
  const int mark = ::open(directory.file(kMark).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (mark < 0) return Status::io(path + ": cannot write there: " + std::strerror(errno));
  ::close(mark);
  return directory;
}

NewDirectory::NewDirectory(NewDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      staging_(std::exchange(other.staging_, "")),
      lock_(std::exchange(other.lock_, -1)) {}

NewDirectory::~NewDirectory() {
  std::error_code error;
  if (!staging_.empty()) fs::remove_all(staging_, error);
  if (lock_ >= 0) ::close(lock_);
}

Status NewDirectory::commit() {
  std::error_code error;
  fs::remove(file(kMark), error);
  if (!error) fs::rename(staging_, path_, error);  // also over an empty directory
  if (error) return Status::io(path_ + ": cannot write there: " + error.message());
  staging_.clear();
  return {};
}

}  // namespace placeto
