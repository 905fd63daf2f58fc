#include "tools/io/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "runtime/format/file.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPattern = "-XXXXXX";
// Tells such a folder from others of such a name, which are somebody's own.
constexpr const char* kMark = ".placeto-scratch";
constexpr uid_t kSameOwner = static_cast<uid_t>(-1);  // as chown has it

// The folder, locked; -1 if it cannot be opened or, unless it is waited for, another process holds
// the lock.
int locked(const fs::path& directory, bool waits) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && ::flock(fd, LOCK_EX | (waits ? 0 : LOCK_NB)) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

// A process that ended holds no lock.
void remove_leftovers(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string begin = path.filename().string() + kPattern.front();
  const size_t length = path.filename().string().size() + kPattern.size();
  std::error_code error;
  fs::directory_iterator entries(parent, error), end;
  for (; !error && entries != end; entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (name.size() != length || !name.starts_with(begin)) continue;
    const int lock = locked(entries->path(), false);
    if (lock < 0) continue;
    std::error_code ignored;
    if (fs::exists(entries->path() / kMark, ignored)) fs::remove_all(entries->path(), ignored);
    ::close(lock);
  }
}

// What mkdir would have given, and gives to a folder within: asking for the process's umask would
// change it for a moment, for all threads.
bool mode_of_new(const std::string& directory, mode_t& mode) {
  const std::string within = directory + "/.placeto-permissions";
  struct stat made {};
  if (::mkdir(within.c_str(), 0777) != 0) return false;
  const bool told = ::stat(within.c_str(), &made) == 0;
  mode = made.st_mode & 07777;
  return ::rmdir(within.c_str()) == 0 && told;
}

// With the owner and the group of the old one, as far as this process may give them. Another group
// was one of the others to the old folder, and so it is to this.
mode_t mode_of_replaced(const std::string& directory, const struct stat& old) {
  const bool has_group = ::chown(directory.c_str(), old.st_uid, old.st_gid) == 0 ||
                         ::chown(directory.c_str(), kSameOwner, old.st_gid) == 0;
  const mode_t mode = old.st_mode & 07777;
  return has_group ? mode : (mode & ~(S_ISGID | S_IRWXG)) | ((mode & S_IRWXO) << 3);
}

// mkdtemp made it private.
bool open_up(const std::string& directory, const std::string& path) {
  struct stat old {};
  mode_t mode = 0;
  if (::stat(path.c_str(), &old) == 0) {
    mode = mode_of_replaced(directory, old);
  } else if (!mode_of_new(directory, mode)) {
    return false;
  }
  return ::chmod(directory.c_str(), mode) == 0;
}

// Paths of the folders in use, as far as there is room.
struct Listed {
  std::atomic<bool> is_taken = false, is_set = false;
  std::array<char, 4096> path = {};
};
constexpr int kMostListed = 16;
std::array<Listed, kMostListed> listed_folders;

int list(const std::string& path) {
  if (path.size() >= Listed().path.size()) return -1;
  for (int i = 0; i < kMostListed; ++i) {
    Listed& folder = listed_folders[static_cast<size_t>(i)];
    if (folder.is_taken.exchange(true)) continue;
    std::memcpy(folder.path.data(), path.c_str(), path.size() + 1);
    folder.is_set = true;
    return i;
  }
  return -1;
}

void strike_out(int listed) {
  if (listed < 0) return;
  Listed& folder = listed_folders[static_cast<size_t>(listed)];
  folder.is_set = false;
  folder.is_taken = false;
}

void remove_tree(int parent, const char* name) noexcept {
  if (::unlinkat(parent, name, 0) == 0) return;
  const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  if (DIR* const entries = ::fdopendir(fd)) {
    while (const dirent* entry = ::readdir(entries)) {
      const std::string_view inner = entry->d_name;
      if (inner != "." && inner != "..") remove_tree(fd, entry->d_name);
    }
    ::closedir(entries);
  } else {
    ::close(fd);
  }
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

}  // namespace

void remove_all_scratch() noexcept {
  for (const Listed& folder : listed_folders) {
    if (folder.is_set) remove_tree(AT_FDCWD, folder.path.data());
  }
}

Scratch::Scratch(const std::string& path) {
  remove_leftovers(path);
  std::string name = path + std::string(kPattern);
  if (mkdtemp(name.data()) == nullptr) return;
  // Marked only once it is locked: who looks for leftovers in between finds it unmarked.
  lock_ = locked(name, true);
  const int mark = ::open((name + "/" + kMark).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (mark >= 0) {
    ::close(mark);
    root_ = std::move(name);
    listed_ = list(root_);
  } else {
    const int why = errno;
    ::rmdir(name.c_str());
    errno = why;
  }
}

Scratch::Scratch(Scratch&& other) noexcept
    : root_(std::exchange(other.root_, "")),
      lock_(std::exchange(other.lock_, -1)),
      listed_(std::exchange(other.listed_, -1)) {}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!root_.empty()) fs::remove_all(root_, ignored);
  strike_out(listed_);
  if (lock_ >= 0) ::close(lock_);
}

Status Scratch::write(const std::string& name, const std::string& bytes) const {
  if (root_.empty()) return Status::io("no temporary folder can be made");
  return write_file_atomically(root_ + "/" + name, bytes);
}

void Scratch::inherit_group(const std::string& path) const {
  struct stat old {};
  if (::stat(path.c_str(), &old) != 0 || (old.st_mode & S_ISGID) == 0) return;
  if (::chown(root_.c_str(), kSameOwner, old.st_gid) == 0) {
    (void)::chmod(root_.c_str(), S_IRWXU | S_ISGID);
  }
}

std::error_code Scratch::keep_as(const std::string& path) {
  std::error_code error;
  fs::remove(root_ + "/" + kMark, error);  // while it may be written
  if (error) return error;
  if (!open_up(root_, path)) {
    error = {errno, std::generic_category()};
  } else {
    fs::rename(root_, path, error);
  }
  if (error) {
    (void)::chmod(root_.c_str(), S_IRWXU);  // so that it can be removed
    return error;
  }
  root_.clear();
  strike_out(std::exchange(listed_, -1));
  return {};
}

}  // namespace placeto
