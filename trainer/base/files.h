// Files of a run folder: whole or not at all.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace placeto::train {

// kBadInput, naming the file and why.
Result<std::string> read_text(const std::string& path);

// Whether write_whole could begin: for what takes long to have something to write. kIo, naming the
// file and why.
Status check_writable(const std::string& path);

// Writes beside the file, flushes to the disk, then renames: a full disk or a cut leaves the old
// file as it was. kIo, naming the file and why.
Status write_whole(const std::string& path, std::string_view content);

// write_whole with a SHA-256 at the end, which read_sealed checks (kBadInput if it does not match).
Status write_sealed(const std::string& path, std::string_view content);
Result<std::string> read_sealed(const std::string& path);

// Appends and flushes. kIo.
Status append(const std::string& path, std::string_view content);

}  // namespace placeto::train
