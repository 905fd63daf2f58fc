// TensorBoard's event file: scalars over steps, one record after another.
//
// A record is `uint64 length, uint32 crc(length), bytes, uint32 crc(bytes)`, little-endian, where
// crc is CRC-32C, rotated right by 15 and increased by 0xa282ead8 (TFRecord). The bytes are an
// Event of tensorflow/core/util/event.proto; of its fields these are written:
//   1 double wall_time (seconds since 1970)   2 int64 step   3 string file_version (first record)
//   5 Summary { 1 repeated Value { 1 string tag, 2 float simple_value } }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace placeto::train {

// CRC-32C (Castagnoli), as in RFC 3720, appendix B.4.
uint32_t crc32c(std::string_view bytes);

using Scalars = std::vector<std::pair<std::string, double>>;

// The record that a file starts with.
std::string event_file_header(double wall_time);
// One record. Values that are not finite are left out.
std::string event_record(double wall_time, int64_t step, const Scalars& scalars);

struct Event {
  double wall_time = 0;
  int64_t step = 0;
  std::string file_version;
  std::vector<std::pair<std::string, float>> scalars;
};
// The first record of `bytes`, which it is then removed from; nothing if it is cut, its sums are
// wrong or it is no event.
std::optional<Event> take_event(std::string_view& bytes);

// The records up to the first that is damaged, without those of steps after `last_step`.
std::string keep_events(std::string_view bytes, int64_t last_step);

}  // namespace placeto::train
