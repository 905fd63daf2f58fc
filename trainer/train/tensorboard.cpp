#include "trainer/train/tensorboard.h"

#include <array>
#include <cmath>
#include <cstring>

namespace placeto::train {
namespace {

constexpr std::array<uint32_t, 256> make_table() {
  constexpr uint32_t kReversedPolynomial = 0x82f63b78u;
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = value >> 1 ^ ((value & 1) != 0 ? kReversedPolynomial : 0);
    }
    table[i] = value;
  }
  return table;
}

uint32_t masked_crc(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

// Bytes of an integer, lowest first.
template <class Integer>
std::string little_endian(Integer value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof value; ++i) {
    bytes += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff);
  }
  return bytes;
}

uint64_t integer_of(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

std::string record_of(const std::string& payload) {
  const std::string length = little_endian(uint64_t{payload.size()});
  return length + little_endian(masked_crc(length)) + payload + little_endian(masked_crc(payload));
}

// Protocol buffers: a field is its key (number << 3 | wire type), then its value.
enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string field(uint32_t number, WireType type, const std::string& value) {
  const std::string key = varint(number << 3 | type);
  return type == kBytes ? key + varint(value.size()) + value : key + value;
}

std::string field(uint32_t number, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return field(number, kFixed64, little_endian(bits));
}

std::string field(uint32_t number, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return field(number, kFixed32, little_endian(bits));
}

// Reads fields one by one.
struct FieldReader {
  std::string_view rest;
  uint32_t number = 0;
  WireType type = kVarint;
  uint64_t integer = 0;         // of a varint or a fixed field
  std::string_view bytes = {};  // of kBytes

  // False at the end, and where the bytes are no message.
  bool next() {
    uint64_t key = 0;
    if (rest.empty() || !read_varint(key)) return false;
    number = static_cast<uint32_t>(key >> 3);
    type = static_cast<WireType>(key & 7);
    if (type == kVarint) return read_varint(integer);
    uint64_t length = type == kFixed64 ? 8 : type == kFixed32 ? 4 : 0;
    if (length == 0 && (type != kBytes || !read_varint(length))) return false;
    if (rest.size() < length) return false;
    bytes = rest.substr(0, length);
    rest.remove_prefix(length);
    if (type != kBytes) integer = integer_of(bytes);
    return true;
  }

 private:
  bool read_varint(uint64_t& value) {
    value = 0;
    for (uint32_t shift = 0; shift < 64 && !rest.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest[0]);
      rest.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
};

std::pair<std::string, float> read_value(std::string_view bytes) {
  std::pair<std::string, float> value{"", 0};
  for (FieldReader f{bytes}; f.next();) {
    if (f.number == 1) value.first = f.bytes;
    if (f.number == 2) {
      const auto bits = static_cast<uint32_t>(f.integer);
      std::memcpy(&value.second, &bits, sizeof bits);
    }
  }
  return value;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = make_table();
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  return ~crc;
}

std::string event_file_header(double wall_time) {
  return record_of(field(1, wall_time) + field(3, kBytes, "brain.Event:2"));
}

std::string event_record(double wall_time, int64_t step, const Scalars& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    if (!std::isfinite(value)) continue;
    const std::string one = field(1, kBytes, tag) + field(2, static_cast<float>(value));
    summary += field(1, kBytes, one);
  }
  return record_of(field(1, wall_time) + field(2, kVarint, varint(static_cast<uint64_t>(step))) +
                   field(5, kBytes, summary));
}

std::optional<Event> take_event(std::string_view& bytes) {
  constexpr size_t kHead = 12, kTail = 4;
  if (bytes.size() < kHead + kTail) return std::nullopt;
  const uint64_t length = integer_of(bytes.substr(0, 8));
  if (integer_of(bytes.substr(8, 4)) != masked_crc(bytes.substr(0, 8))) return std::nullopt;
  if (length > bytes.size() - kHead - kTail) return std::nullopt;
  const std::string_view payload = bytes.substr(kHead, length);
  if (integer_of(bytes.substr(kHead + length, 4)) != masked_crc(payload)) return std::nullopt;
  Event event;
  for (FieldReader f{payload}; f.next();) {
    if (f.number == 1) std::memcpy(&event.wall_time, &f.integer, sizeof event.wall_time);
    if (f.number == 2) event.step = static_cast<int64_t>(f.integer);
    if (f.number == 3) event.file_version = f.bytes;
    if (f.number != 5) continue;
    for (FieldReader value{f.bytes}; value.next();) {
      if (value.number == 1) event.scalars.push_back(read_value(value.bytes));
    }
  }
  bytes.remove_prefix(kHead + length + kTail);
  return event;
}

std::string keep_events(std::string_view bytes, int64_t last_step) {
  std::string kept;
  for (std::string_view before = bytes; const auto event = take_event(bytes); before = bytes) {
    if (event->step <= last_step) kept += before.substr(0, before.size() - bytes.size());
  }
  return kept;
}

}  // namespace placeto::train
