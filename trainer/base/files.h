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

bool is_there(const std::string& path);
// Not if a full disk kept it empty.
bool has_content(const std::string& path);

// Before what takes long, or reads `inputs`: whether the outputs could be written, as
// tools/io/output_paths.h says it.
Status check_outputs(std::span<const std::string> outputs, std::span<const std::string> inputs);

// Whole or not at all, as runtime/format/file.h writes.
Status write_whole(const std::string& path, std::string_view content);
Status write_whole(const std::string& path, std::span<const uint8_t> content);

// write_whole with a SHA-256 at the end, which read_sealed checks (kBadInput if it does not match).
Status write_sealed(const std::string& path, std::string_view content);
Result<std::string> read_sealed(const std::string& path);

// Appends and flushes. kIo.
Status append(const std::string& path, std::string_view content);

}  // namespace placeto::train
