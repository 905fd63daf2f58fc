#include "tools/engine/written_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace placeto {
namespace {

// Why no more can be written at the end of the file; 0: it can. Some may have been.
int why_full(const std::string& file) {
  constexpr size_t kMore = size_t{1} << 16;  // what writers hold back, and a block
  const int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  static constexpr std::array<char, kMore> kZeros{};
  int error = 0;
  for (size_t done = 0; done < kMore && error == 0;) {
    const ssize_t written = ::write(fd, kZeros.data(), kMore - done);
    if (written >= 0) done += static_cast<size_t>(written);
    if (written < 0 && errno != EINTR) error = errno;
  }
  if (error == 0 && ::fsync(fd) != 0) error = errno;
  ::close(fd);
  return error;
}

Status unwritten(const std::string& file, int error) {
  return Status::io(file + ": cannot write: " + std::strerror(error));
}

// A list of JSON, whose last character but white space closes it.
bool has_end(const std::string& file) {
  constexpr std::streamoff kTail = 16;
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = in.tellg();
  if (size <= 0) return false;
  in.seekg(std::max<std::streamoff>(0, size - kTail));
  const std::string tail{std::istreambuf_iterator<char>(in), {}};
  const size_t last = tail.find_last_not_of(" \t\r\n");
  return last != tail.npos && tail[last] == ']';
}

}  // namespace

Status check_profiles(std::span<const std::string> files) {
  Status status;
  for (const std::string& file : files) {
    if (has_end(file)) continue;
    const int error = why_full(file);
    status = error != 0 ? unwritten(file, error)
                        : Status::io(file + ": the engine did not write all of this profile");
    break;
  }
  std::error_code ignored;
  for (const std::string& file : files) {
    if (!status.ok()) std::filesystem::remove(file, ignored);
  }
  return status;
}

Status explain_saving(const Status& saved, std::span<const std::string> files) {
  if (saved.ok()) return saved;
  for (const std::string& file : files) {
    if (const int error = why_full(file); error != 0) return unwritten(file, error);
  }
  return saved;
}

}  // namespace placeto
