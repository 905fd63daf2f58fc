// The formats, told apart by their FlatBuffers file identifiers (bytes 4 to 7).
#pragma once

#include <cstdint>
#include <span>

namespace placeto {

enum class FileKind : uint8_t { kUnknown, kGraph, kTopology, kPlacement, kPolicy };
inline constexpr FileKind kFileKinds[] = {FileKind::kGraph, FileKind::kTopology,
                                          FileKind::kPlacement, FileKind::kPolicy};

// The format that the identifier of a binary file names; kUnknown for anything else, JSON included.
// Looks at the first 8 bytes only: the rest may still be damaged.
FileKind detect(std::span<const uint8_t> bytes);

// "graph", "topology", "placement", "policy", or "unknown".
const char* name_of(FileKind kind);

// Four characters, NUL-terminated; "" for kUnknown.
const char* identifier_of(FileKind kind);

// The value of `format_version` that this library reads and writes.
inline constexpr uint32_t kFormatVersion = 1;

}  // namespace placeto
