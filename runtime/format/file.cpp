#include "runtime/format/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "runtime/base/file_type.h"
#include "runtime/base/message.h"
#include "runtime/graph/text.h"

namespace placeto {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  // Closes now, for callers that must know whether the last write arrived.
  int close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd);
  }

 private:
  int fd_;
};

Status failed(const std::string& path, const char* action, int error) {
  return Status::io(
      join({path, ": cannot ", action, ": ", std::generic_category().message(error)}));
}

Status too_large(const std::string& path, uint64_t max_bytes) {
  return bad_input({path, ": is larger than ", bytes_text(max_bytes), ", expected at most that"});
}

Status write_all(const std::string& path, int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(path, "write", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

// One step further, if the path is a symbolic link: "" if it is none.
std::string link_target(const std::string& path) {
  char buffer[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), buffer, sizeof buffer);
  if (length <= 0 || length == sizeof buffer) return "";
  const std::string target(buffer, static_cast<size_t>(length));
  const size_t slash = path.rfind('/');
  const bool starts_here = target[0] == '/' || slash == std::string::npos;
  return starts_here ? target : path.substr(0, slash + 1) + target;
}

// A name that nobody has: what a killed writer left behind is in nobody's way, even where process
// numbers come again. What replaces a file is its owner's alone until it has that file's mode.
Result<int> open_temporary(const std::string& path, const std::string& target, mode_t mode,
                           std::string& temporary) {
  constexpr size_t kKept = 200;  // bytes of the name: there is room for so many and a suffix
  const std::string beside = target.substr(0, target.rfind('/') + 1 + kKept);
  timespec now{};
  for (int attempt = 0; attempt < 100; ++attempt) {
    ::clock_gettime(CLOCK_REALTIME, &now);
    const auto moment =
        static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
    temporary = join({beside, ".tmp-", static_cast<long>(::getpid()), "-", moment});
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0) return fd;
    if (errno != EEXIST) return failed(path, "create a file beside it", errno);
  }
  return failed(path, "create a file beside it", EEXIST);
}

// Makes the rename itself durable. A file system that cannot sync a directory loses only that.
void sync_directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) (void)::fsync(fd.get());
}

}  // namespace

Result<std::vector<uint8_t>> read_descriptor(int descriptor, const std::string& name,
                                             uint64_t max_bytes) {
  std::vector<uint8_t> bytes;
  struct stat info {};
  if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) {
    if (static_cast<uint64_t>(info.st_size) > max_bytes) return too_large(name, max_bytes);
    bytes.reserve(static_cast<size_t>(info.st_size) + 1);  // + 1: the read that finds the end
  }
  constexpr size_t kChunk = size_t{1} << 16;
  size_t size = 0;
  while (true) {
    bytes.resize(std::max(bytes.capacity(), size + kChunk));
    const ssize_t got = ::read(descriptor, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(name, "read", errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
    if (size > max_bytes) return too_large(name, max_bytes);
    if (size == bytes.size()) bytes.reserve(size * 2);
  }
  bytes.resize(size);
  return bytes;
}

Result<std::vector<uint8_t>> read_file(const std::string& path, uint64_t max_bytes) {
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for a writer.
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (fd.get() < 0) return failed(path, "open", errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return failed(path, "open", errno);
  if (!S_ISREG(info.st_mode)) {
    return Status::io(join({path, ": ", not_regular(info.st_mode)}));
  }
  return read_descriptor(fd.get(), path, max_bytes);
}

std::string without_links(const std::string& path) {
  if (char* resolved = ::realpath(path.c_str(), nullptr)) {
    std::string target = resolved;
    ::free(resolved);
    return target;
  }
  constexpr int kMostLinks = 40;  // as the system follows
  std::string target = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::string next = link_target(target);
    if (next.empty()) return target;
    target = std::move(next);
  }
  return path;
}

PendingFile::PendingFile(std::string path, std::string target)
    : path_(std::move(path)), target_(std::move(target)) {}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, "")) {}

PendingFile::~PendingFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<PendingFile> PendingFile::write(const std::string& path, std::span<const uint8_t> bytes) {
  PendingFile file(path, without_links(path));
  struct stat old {};
  const bool replaces = ::stat(file.target_.c_str(), &old) == 0;
  if (!replaces && errno == ELOOP) return failed(path, "open", ELOOP);
  if (replaces && !S_ISREG(old.st_mode)) {
    return Status::io(join({path, ": ", not_regular(old.st_mode)}));
  }
  Result<int> opened = open_temporary(path, file.target_, replaces ? 0600 : 0666, file.temporary_);
  if (!opened.ok()) {
    file.temporary_.clear();  // somebody else's, if it is there
    return opened.status();
  }
  Descriptor fd(*opened);
  Status status = write_all(path, fd.get(), bytes);
  if (status.ok() && replaces && ::fchmod(fd.get(), old.st_mode & 07777) != 0) {
    status = failed(path, "keep its permissions", errno);
  }
  if (status.ok() && ::fsync(fd.get()) != 0) status = failed(path, "write", errno);
  if (fd.close() != 0 && status.ok()) status = failed(path, "write", errno);
  if (!status.ok()) return status;
  return file;
}

Status PendingFile::commit() {
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return failed(path_, "replace", errno);
  temporary_.clear();
  sync_directory_of(target_);
  return {};
}

Status write_file_atomically(const std::string& path, std::span<const uint8_t> bytes) {
  Result<PendingFile> file = PendingFile::write(path, bytes);
  return file.ok() ? file->commit() : file.status();
}

Status write_file_atomically(const std::string& path, std::string_view text) {
  return write_file_atomically(path, as_bytes(text));
}

}  // namespace placeto
