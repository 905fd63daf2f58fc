#include "runtime/format/file_kind.h"

#include <cstring>

namespace placeto {
namespace {

struct Format {
  FileKind kind;
  const char* identifier;
  const char* name;
};

constexpr Format kFormats[] = {{FileKind::kGraph, "PLGR", "graph"},
                               {FileKind::kTopology, "PLTO", "topology"},
                               {FileKind::kPlacement, "PLPL", "placement"},
                               {FileKind::kPolicy, "PLPO", "policy"}};

}  // namespace

FileKind detect(std::span<const uint8_t> bytes) {
  if (bytes.size() < 8) return FileKind::kUnknown;
  for (const Format& format : kFormats) {
    if (std::memcmp(bytes.data() + 4, format.identifier, 4) == 0) return format.kind;
  }
  return FileKind::kUnknown;
}

const char* name_of(FileKind kind) {
  for (const Format& format : kFormats) {
    if (format.kind == kind) return format.name;
  }
  return "unknown";
}

const char* identifier_of(FileKind kind) {
  for (const Format& format : kFormats) {
    if (format.kind == kind) return format.identifier;
  }
  return "";
}

}  // namespace placeto
