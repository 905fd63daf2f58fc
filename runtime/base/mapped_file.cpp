#include "runtime/base/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "runtime/base/file_type.h"
#include "runtime/base/message.h"

namespace placeto {
namespace {

Status failed(const char* action, int error) {
  return Status::io(join({"cannot ", action, ": ", std::generic_category().message(error)}));
}

Result<std::span<const uint8_t>> map(int fd, uint64_t max_bytes) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) return failed("inspect", errno);
  if (!S_ISREG(info.st_mode)) return Status::io(not_regular(info.st_mode));
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size == 0) return Status::bad_input("is empty");
  if (size > max_bytes) {
    return Status::bad_input(
        join({"is larger than ", bytes_text(max_bytes), ", expected at most that"}));
  }
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return failed("map", errno);
  return std::span(static_cast<const uint8_t*>(address), size);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path, uint64_t max_bytes) {
  // O_NONBLOCK: opening a pipe must not wait for a writer. It means nothing for regular files.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failed("open", errno).at(path);
  auto bytes = map(fd, max_bytes);
  ::close(fd);
  if (!bytes.ok()) return bytes.status().at(path);
  return MappedFile(*bytes);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  // munmap takes a mutable pointer; the mapping itself is read-only.
  if (!bytes_.empty()) munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace placeto
