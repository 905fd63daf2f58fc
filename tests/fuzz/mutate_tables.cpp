#include "tests/fuzz/mutate_tables.h"

#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>

#include "tools/io/reflection.h"

namespace placeto::fuzz {
namespace {

using flatbuffers::TypeTable;
using Bytes = std::vector<uint8_t>;

constexpr size_t kMostPlaces = 4'096;  // shared tables are met once for each way to them

struct Number {
  uint32_t at;
  flatbuffers::ElementaryType base;
};
// Where an offset lies, and what it leads to. Equal `leads_to`: may stand for each other.
struct Link {
  uint32_t at, target;
  const void* leads_to;
};
struct List {
  uint32_t at, count;
  size_t width;
  bool of_links;
};

// What is where. Reads no byte beyond the buffer, whatever is in it.
class Places {
 public:
  Places(const Bytes& bytes, const TypeTable* root) : bytes_(bytes) {
    const auto offset = read<uint32_t>(0);
    if (offset) add_table(*offset, root);
  }

  std::vector<Number> numbers;
  std::vector<Link> links;
  std::vector<List> lists;        // texts, too
  std::vector<uint32_t> tables;   // where each begins: with the distance to its vtable
  std::vector<uint32_t> vtables;  // of each of them

  template <class T>
  std::optional<T> read(uint64_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

 private:
  bool full() const { return numbers.size() + links.size() + tables.size() >= kMostPlaces; }

  void add_table(uint64_t at, const TypeTable* type) {
    const auto back = read<int32_t>(at);
    if (!back || full()) return;
    const int64_t vtable = static_cast<int64_t>(at) - *back;
    const auto size = vtable < 0 ? std::nullopt : read<uint16_t>(static_cast<uint64_t>(vtable));
    if (!size) return;
    tables.push_back(static_cast<uint32_t>(at));
    vtables.push_back(static_cast<uint32_t>(vtable));
    for (size_t field = 0; field < type->num_elems; ++field) {
      const flatbuffers::voffset_t slot = field_slot(field);
      const auto offset = read<uint16_t>(static_cast<uint64_t>(vtable) + slot);
      if (slot + 2 > *size || !offset) return;
      if (*offset != 0) add_field(at + *offset, field_type(type, field));
    }
  }

  void add_field(uint64_t at, const FieldType& type) {
    const bool text = type.base == flatbuffers::ET_STRING;
    if (!type.repeating && !text && !type.is_table()) {
      if (at + value_size(type.base) <= bytes_.size()) {
        numbers.push_back({static_cast<uint32_t>(at), type.base});
      }
      return;
    }
    const auto target = add_link(at, type);
    if (!target) return;
    if (!type.repeating && !text) return add_table(*target, type.reference);
    const auto count = read<uint32_t>(*target);
    if (!count) return;
    const bool of_links = type.repeating && (text || type.is_table());
    const size_t width = !type.repeating ? 1 : value_size(type.base);
    lists.push_back({static_cast<uint32_t>(*target), *count, width, of_links});
    if (type.repeating) add_entries(*target + 4, *count, width, {type.base, false, type.reference});
  }

  void add_entries(uint64_t at, uint32_t count, size_t width, const FieldType& type) {
    constexpr uint32_t kMostEntries = 256;
    for (uint32_t i = 0; i < count && i < kMostEntries && !full(); ++i, at += width) {
      if (at + width > bytes_.size()) return;
      add_field(at, type);
    }
  }

  std::optional<uint64_t> add_link(uint64_t at, const FieldType& type) {
    const auto distance = read<uint32_t>(at);
    if (!distance || full() || at + *distance + 4 > bytes_.size()) return std::nullopt;
    const uint64_t target = at + *distance;
    // Lists of one type may stand for each other, and tables of one; texts are lists of bytes.
    static constexpr char kKinds[2][16] = {};
    const void* leads_to = type.is_table() && !type.repeating
                               ? static_cast<const void*>(type.reference)
                               : &kKinds[type.repeating ? 1 : 0][type.base];
    links.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(target), leads_to});
    return target;
  }

  const Bytes& bytes_;
};

template <class T>
const T& one_of(const std::vector<T>& values, Random& random) {
  return values[random.below(static_cast<uint32_t>(values.size()))];
}

template <class T>
void write(Bytes& bytes, uint64_t at, T value) {
  if (at <= bytes.size() && bytes.size() - at >= sizeof value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
}

template <class T, size_t N>
void write_one_of(Bytes& bytes, uint32_t at, const T (&edges)[N], Random& random) {
  write(bytes, at, edges[random.below(N)]);
}

template <class Real>
void write_real(Bytes& bytes, uint32_t at, Random& random) {
  using Type = std::numeric_limits<Real>;
  constexpr Real kEdges[] = {0,
                             static_cast<Real>(-0.0),
                             Type::denorm_min(),
                             -Type::denorm_min(),
                             Type::min(),
                             static_cast<Real>(1e-30),
                             1,
                             -1,
                             static_cast<Real>(1e30),
                             Type::max(),
                             Type::lowest(),
                             Type::infinity(),
                             -Type::infinity(),
                             Type::quiet_NaN()};
  write_one_of(bytes, at, kEdges, random);
}

void write_edge(Bytes& bytes, const Number& number, Random& random) {
  constexpr double kBeside[] = {1e-61, 1e-60, 1e-59, 1e52, 1e59, 1e60, 1e61};
  constexpr uint64_t kLong[] = {0,
                                1,
                                0x7fffffff,
                                0xffffffff,
                                uint64_t{1} << 32,
                                uint64_t{1} << 53,
                                uint64_t{1} << 62,
                                (uint64_t{1} << 63) - 1,
                                uint64_t{1} << 63,
                                ~uint64_t{0}};
  constexpr uint32_t kWord[] = {0, 1, 2, 3, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  constexpr uint8_t kByte[] = {0, 1, 2, 3, 4, 0x7f, 0xff};
  if (number.base == flatbuffers::ET_DOUBLE) {
    if (random.below(3) == 0) return write_one_of(bytes, number.at, kBeside, random);
    return write_real<double>(bytes, number.at, random);
  }
  if (number.base == flatbuffers::ET_FLOAT) return write_real<float>(bytes, number.at, random);
  const size_t size = value_size(number.base);
  if (size == 8) return write_one_of(bytes, number.at, kLong, random);
  if (size == 4) return write_one_of(bytes, number.at, kWord, random);
  write_one_of(bytes, number.at, kByte, random);
}

// What goes wrong between two numbers needs both at an edge.
bool change_numbers(Bytes& bytes, const Places& places, Random& random) {
  if (places.numbers.empty()) return false;
  for (uint32_t left = 1 + random.below(4); left > 0; --left) {
    write_edge(bytes, one_of(places.numbers, random), random);
  }
  return true;
}

bool copy_number(Bytes& bytes, const Places& places, Random& random) {
  if (places.numbers.empty()) return false;
  const Number& from = one_of(places.numbers, random);
  const Number& to = one_of(places.numbers, random);
  const size_t size = value_size(to.base);
  if (from.at + size > bytes.size()) return false;
  std::memmove(bytes.data() + to.at, bytes.data() + from.at, size);
  return true;
}

// Offsets lead forward only.
bool lead_to(Bytes& bytes, const Link& link, uint32_t target) {
  if (target <= link.at) return false;
  write(bytes, link.at, target - link.at);
  return true;
}

// To what another offset leads to: mostly something of the same type.
bool share(Bytes& bytes, const Places& places, Random& random) {
  if (places.links.empty()) return false;
  const bool any = random.below(4) == 0;
  const Link& link = one_of(places.links, random);
  for (int tries = 0; tries < 16; ++tries) {
    const Link& other = one_of(places.links, random);
    if (other.target == link.target || (!any && other.leads_to != link.leads_to)) continue;
    if (lead_to(bytes, link, other.target)) return true;
  }
  return false;
}

// All entries of a list lead to one: a small file describes a large thing.
bool share_all(Bytes& bytes, const Places& places, Random& random) {
  if (places.lists.empty()) return false;
  const List& list = one_of(places.lists, random);
  const uint32_t first = list.at + 4;
  if (!list.of_links || list.count == 0 || list.count > (bytes.size() - first) / 4) return false;
  const uint32_t chosen = first + 4 * random.below(list.count);
  const auto distance = places.read<uint32_t>(chosen);
  if (!distance) return false;
  for (uint32_t i = 0; i < list.count; ++i) {
    lead_to(bytes, {first + 4 * i, 0, nullptr}, chosen + *distance);
  }
  return true;
}

// Into the middle of what it led to, or of its neighbours.
bool overlap(Bytes& bytes, const Places& places, Random& random) {
  if (places.links.empty()) return false;
  const Link& link = one_of(places.links, random);
  return lead_to(bytes, link, link.target + 4 * random.below(9) - 16);
}

bool change_length(Bytes& bytes, const Places& places, Random& random) {
  if (places.lists.empty()) return false;
  const List& list = one_of(places.lists, random);
  const auto to_end = static_cast<uint32_t>((bytes.size() - list.at - 4) / list.width);
  const uint32_t lengths[] = {0,      1,          list.count - 1, list.count + 1, list.count * 2,
                              to_end, to_end + 1, 0x3fffffff,     0xffffffff};
  write_one_of(bytes, list.at, lengths, random);
  return true;
}

// Another table's vtable, of whatever type, or a place near its own.
bool change_vtable(Bytes& bytes, const Places& places, Random& random) {
  if (places.tables.empty()) return false;
  const uint32_t table = one_of(places.tables, random);
  const uint32_t vtable =
      one_of(places.vtables, random) + (random.below(4) == 0 ? 2 * random.below(5) - 4 : 0);
  write(bytes, table, static_cast<int32_t>(table - vtable));
  return true;
}

// A field lies where another does, beside it, or nowhere; or the table's own sizes are wrong.
bool change_slot(Bytes& bytes, const Places& places, Random& random) {
  if (places.vtables.empty()) return false;
  const uint32_t vtable = one_of(places.vtables, random);
  const auto slots = static_cast<uint32_t>(places.read<uint16_t>(vtable).value_or(4) / 2);
  if (slots == 0) return false;
  const uint32_t at = vtable + 2 * random.below(slots);
  const auto other = places.read<uint16_t>(vtable + 2 * random.below(slots));
  const auto own = places.read<uint16_t>(at);
  if (!own || !other) return false;
  const uint16_t choices[] = {0,
                              *other,
                              *other,
                              static_cast<uint16_t>(*own + 4),
                              static_cast<uint16_t>(*own - 4),
                              static_cast<uint16_t>(*own + 2)};
  write_one_of(bytes, at, choices, random);
  return true;
}

}  // namespace

bool mutate_tables(Bytes& bytes, const TypeTable* root, Random& random) {
  using Change = bool (*)(Bytes&, const Places&, Random&);
  constexpr Change kChanges[] = {change_numbers, change_numbers, change_numbers, copy_number,
                                 share,          share,          share_all,      overlap,
                                 change_length,  change_vtable,  change_slot};
  const Places places(bytes, root);
  if (places.tables.empty()) return false;
  for (int tries = 0; tries < 8; ++tries) {
    if (kChanges[random.below(std::size(kChanges))](bytes, places, random)) return true;
  }
  return false;
}

}  // namespace placeto::fuzz
