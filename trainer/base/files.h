// Files of a run folder: whole or not at all.
#pragma once

#include <cstdint>
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

// Whole or not at all, as runtime/format/file.h writes.
Status write_whole(const std::string& path, std::string_view content);
Status write_whole(const std::string& path, std::span<const uint8_t> content);

// write_whole with a SHA-256 at the end, which read_sealed checks (kBadInput if it does not match).
Status write_sealed(const std::string& path, std::string_view content);
Result<std::string> read_sealed(const std::string& path);

// Appends and flushes. kIo.
Status append(const std::string& path, std::string_view content);

}  // namespace placeto::train
