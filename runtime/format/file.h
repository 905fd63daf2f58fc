// Whole files, in and out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace placeto {

// The content of a regular file. Fails with kIo when it is missing, not readable or not a regular
// file (a directory, a pipe, a device: nothing is read from those, so nothing can block), and with
// kBadInput when it is larger than max_bytes. The message starts with the path.
Result<std::vector<uint8_t>> read_file(const std::string& path, uint64_t max_bytes);

// The rest of an open descriptor, whatever it is: for standard input. Blocks until its end.
// `name` stands for the path in messages.
Result<std::vector<uint8_t>> read_descriptor(int descriptor, const std::string& name,
                                             uint64_t max_bytes);

// The file that a path names once symbolic links are followed, whether it is there already or not.
std::string without_links(const std::string& path);

// Content that lies beside its file, under a temporary name, until `commit` puts it there: so that
// several files appear all or not at all.
class PendingFile {
 public:
  // Writes and syncs the temporary file; commit() takes no more than a rename then. Fails with kIo,
  // and leaves nothing.
  static Result<PendingFile> write(const std::string& path, std::span<const uint8_t> bytes);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&&) = delete;
  ~PendingFile();  // removes what was not committed

  Status commit();

 private:
  PendingFile(std::string path, std::string target);

  std::string path_, target_, temporary_;  // as given, without links, "" once it is gone
};

// Replaces or creates the file so that a reader, or a crash, sees the old content or the new and
// never a part: writes a temporary file in the same directory, syncs it and renames it. On failure
// (kIo) the temporary file is gone and the old file as it was. Keeps the permissions of a file it
// replaces and writes through a symbolic link, also to a file that is not there yet; a path that is
// not a regular file is refused.
Status write_file_atomically(const std::string& path, std::span<const uint8_t> bytes);
Status write_file_atomically(const std::string& path, std::string_view text);

}  // namespace placeto
