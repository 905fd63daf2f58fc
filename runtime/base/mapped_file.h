// A file's content as memory of the operating system's page cache: nothing is read until it is
// looked at, and processes that map the same file share it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/result.h"

namespace placeto {

// Read-only. The file must not be shortened or rewritten in place while mapped: reading beyond its
// end raises SIGBUS, and content that was verified may change. A file that is only ever replaced
// (write, then rename) is safe: the mapping keeps the old content.
class MappedFile {
 public:
  // Fails with kIo when the path cannot be opened or mapped or is no regular file (nothing is read
  // from those, so nothing can block), with kBadInput when it is empty or larger than max_bytes.
  // The message starts with the path.
  static Result<MappedFile> open(const std::string& path, uint64_t max_bytes);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  std::span<const uint8_t> bytes_;
};

}  // namespace placeto
