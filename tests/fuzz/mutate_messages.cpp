#include "tests/fuzz/mutate_messages.h"

#include <cstring>
#include <iterator>
#include <span>
#include <utility>

namespace placeto::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr int kMostDepth = 12;  // deeper ones stay bytes

enum Wire : uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

struct Field {
  uint64_t number = 0;
  uint8_t wire = kVarint;
  uint64_t value = 0;         // of all but kLength
  Bytes bytes;                // of kLength that holds no message
  std::vector<Field> fields;  // of kLength that does
};
using Message = std::vector<Field>;

struct Reader {
  std::span<const uint8_t> left;

  bool varint(uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !left.empty(); shift += 7) {
      const uint8_t byte = left[0];
      left = left.subspan(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool fixed(size_t size, uint64_t& value) {
    if (left.size() < size) return false;
    value = 0;
    std::memcpy(&value, left.data(), size);  // little-endian, like the format
    left = left.subspan(size);
    return true;
  }
};

bool read_message(std::span<const uint8_t> bytes, int depth, Message& message) {
  Reader reader{bytes};
  while (!reader.left.empty()) {
    Field& field = message.emplace_back();
    uint64_t tag = 0, length = 0;
    if (!reader.varint(tag) || tag >> 3 == 0) return false;
    field.number = tag >> 3;
    field.wire = tag & 7;
    switch (field.wire) {
      case kVarint:
        if (!reader.varint(field.value)) return false;
        break;
      case kFixed64:
      case kFixed32:
        if (!reader.fixed(field.wire == kFixed64 ? 8 : 4, field.value)) return false;
        break;
      case kLength: {
        if (!reader.varint(length) || length > reader.left.size()) return false;
        const auto content = reader.left.first(length);
        reader.left = reader.left.subspan(length);
        // A text may look like a message; it is changed like one, then.
        if (depth < kMostDepth && read_message(content, depth + 1, field.fields)) break;
        field.fields.clear();
        field.bytes.assign(content.begin(), content.end());
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

void write_varint(Bytes& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<uint8_t>(value | 0x80));
  bytes.push_back(static_cast<uint8_t>(value));
}

void write_message(Bytes& bytes, const Message& message) {
  for (const Field& field : message) {
    write_varint(bytes, field.number << 3 | field.wire);
    if (field.wire == kVarint) {
      write_varint(bytes, field.value);
    } else if (field.wire != kLength) {
      const auto* first = reinterpret_cast<const uint8_t*>(&field.value);
      bytes.insert(bytes.end(), first, first + (field.wire == kFixed64 ? 8 : 4));
    } else {
      Bytes content = field.bytes;
      write_message(content, field.fields);
      write_varint(bytes, content.size());
      bytes.insert(bytes.end(), content.begin(), content.end());
    }
  }
}

// Every message with a field in it.
void list_messages(Message& message, std::vector<Message*>& all) {
  if (message.empty()) return;
  all.push_back(&message);
  for (Field& field : message) list_messages(field.fields, all);
}

uint32_t below(size_t size, Random& random) {
  return random.below(static_cast<uint32_t>(size));
}

void change_value(Field& field, Random& random) {
  constexpr uint64_t kEdges[] = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 uint64_t{1} << 32,
                                 uint64_t{1} << 40,
                                 uint64_t{1} << 62,
                                 (uint64_t{1} << 63) - 1,
                                 uint64_t{1} << 63,
                                 ~uint64_t{0}};
  constexpr uint64_t kReal32[] = {0, 1, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
  field.value = field.wire == kFixed32 ? kReal32[random.below(std::size(kReal32))]
                                       : kEdges[random.below(std::size(kEdges))];
}

void change_bytes(Bytes& bytes, Random& random) {
  constexpr uint8_t kTelling[] = {0, '/', '.', '*', 0x7f, 0x80, 0xff};
  const uint8_t telling = kTelling[random.below(std::size(kTelling))];
  if (bytes.empty() || random.below(4) == 0) {
    bytes.insert(bytes.end(), 1 + random.below(16), telling);
  } else if (random.below(3) == 0) {
    bytes.resize(below(bytes.size(), random));
  } else {
    bytes[below(bytes.size(), random)] = telling;
  }
}

void change_content(Field& field, Random& random) {
  if (field.wire != kLength) return change_value(field, random);
  if (field.fields.empty()) change_bytes(field.bytes, random);
}

// A message in itself, over and over: bodies in bodies.
void nest(Field& field, Random& random) {
  if (field.wire != kLength || field.fields.empty()) return;
  for (uint32_t times = 1 + random.below(random.below(4) == 0 ? 100 : 4); times > 0; --times) {
    Field outside = field;
    auto& inside = outside.fields[below(outside.fields.size(), random)];
    if (inside.wire != kLength) return;
    inside.bytes.clear();
    inside.fields = {field};
    Bytes size;
    write_message(size, outside.fields);
    if (size.size() > 16'384) return;
    field = std::move(outside);
  }
}

void change_field(std::vector<Message*>& all, Random& random) {
  Message& message = *all[below(all.size(), random)];
  const uint32_t at = below(message.size(), random);
  const Message& others = *all[below(all.size(), random)];
  const Field other = others[below(others.size(), random)];
  const auto place = message.begin() + below(message.size(), random);
  switch (random.below(10)) {
    case 0: {
      const Field copy = message[at];
      message.insert(place, 1 + random.below(random.below(4) == 0 ? 300 : 3), copy);
      break;
    }
    case 1:
      message.erase(message.begin() + at);
      break;
    case 2:
      std::swap(message[at], *place);
      break;
    case 3:
      message.insert(place, other);
      break;
    case 4:  // the content of another: names meet, shapes are exchanged
      message[at] = Field{message[at].number, other.wire, other.value, other.bytes, other.fields};
      break;
    case 5:
      message[at].number = 1 + random.below(20);
      break;
    case 6:
      nest(message[at], random);
      break;
    default:
      change_content(message[at], random);
  }
}

}  // namespace

bool mutate_messages(Bytes& bytes, size_t most_bytes, Random& random) {
  Message message;
  if (!read_message(bytes, 0, message) || message.empty()) return false;
  std::vector<Message*> all;
  list_messages(message, all);
  change_field(all, random);
  Bytes changed;
  write_message(changed, message);
  if (changed.size() > most_bytes) return false;
  bytes = std::move(changed);
  return true;
}

}  // namespace placeto::fuzz
