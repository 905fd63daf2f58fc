// How large an input may be. Every bound has a default that no real model reaches and that keeps
// a hostile file from exhausting memory; callers raise or lower them.
#pragma once

#include <cstdint>

namespace placeto {

struct Limits {
  uint32_t max_nodes = 2'000'000;
  uint32_t max_edges = 20'000'000;
  uint32_t max_outputs = 20'000'000;
  uint32_t max_kinds = 64;
  uint32_t max_devices = 1'024;
  uint32_t max_links = 1'048'576;
  uint32_t max_name_bytes = 4'096;          // a node, device, kind or graph name
  uint64_t max_file_bytes = 2'147'483'647;  // FlatBuffers offsets are 31 bits
  uint64_t max_run_entries = 256'000'000;   // nodes x distinct classes of device
};

// For rebuilding something that has already passed its limits.
inline constexpr Limits kNoLimits = {
    .max_nodes = UINT32_MAX - 1,
    .max_edges = UINT32_MAX - 1,
    .max_outputs = UINT32_MAX - 1,
    .max_kinds = UINT32_MAX - 1,
    .max_devices = UINT32_MAX - 1,
    .max_links = UINT32_MAX - 1,
    .max_name_bytes = UINT32_MAX - 1,
    .max_run_entries = UINT64_MAX,
};

}  // namespace placeto
