// One recursive descent over the text, led by the reflection table that flatc generates from the
// schema. flatbuffers::Parser does the same job from the .fbs text, but takes much that is not JSON
// (identifiers, functions such as rad(180), numbers in quotes, null, nan) and reports places by
// line only; being strict here needs less code than guarding against that would.
#include "tools/io/json_reader.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstring>
#include <limits>
#include <string>

#include "runtime/base/message.h"
#include "runtime/format/buffer.h"
#include "runtime/format/placement.h"
#include "runtime/graph/text.h"
#include "tools/io/json_forms.h"
#include "tools/io/json_scanner.h"
#include "tools/io/reflection.h"

namespace placeto {
namespace {

using flatbuffers::Offset;
using flatbuffers::TypeTable;
using flatbuffers::uoffset_t;

constexpr size_t kMaxFields = 32;

// How long the lists of one field may be, and how many entries those of a whole file may have
// together: a list of a few bytes of text in each of millions of nodes must not take gigabytes.
struct ListLimit {
  std::string_view field;  // empty: those that are not named
  uint64_t most = 0;
  uint64_t most_in_all = 0;
  uint64_t seen = 0;  // in all
};

// Tensors of policies are as long as files may be, a digit and a comma for each number; what else
// has no limit of its own describes a policy: features, widths, where it comes from.
std::array<ListLimit, 17> list_limits(const Limits& limits) {
  constexpr uint64_t kMostDescribing = 4'096, kMostDescribingInAll = 65'536;
  const uint64_t nodes = limits.max_nodes, devices = limits.max_devices, kinds = limits.max_kinds;
  const uint64_t of_all_nodes = kinds + 8 * nodes, data = limits.max_file_bytes / 2;
  return {{{"nodes", nodes, nodes},
           {"assignment", nodes, nodes},
           {"stages", nodes, nodes},
           {"order", nodes, nodes},
           {"reasons", nodes, nodes},
           {"edges", limits.max_edges, limits.max_edges},
           {"outputs", limits.max_outputs, limits.max_outputs},
           {"devices", devices, devices},
           {"links", limits.max_links, limits.max_links},
           {"peak_memory_bytes", devices, devices + devices * kMostCandidates},
           {"kinds", kinds, kinds},
           {"allowed_kinds", kinds, of_all_nodes},
           {"input_types", kMostInputTypes, of_all_nodes},
           {"cost_us", kinds, of_all_nodes},
           {"candidates", kMostCandidates, kMostCandidates},
           {"data", data, data},
           {"", kMostDescribing, kMostDescribingInAll}}};
}

struct Value {
  uint64_t bits = 0;    // the number's object representation, or the offset of what was stored
  bool given = false;   // the field stands in the text
  bool stored = false;  // false for empty text and empty lists: left out, like their default
};

template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T value_of(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// What a list holds, in as many bytes as an entry has in the binary form: a text of two characters
// for each entry must not become many times its size.
class Entries {
 public:
  explicit Entries(size_t width) : width_(width) {}
  size_t size() const { return bytes_.size() / width_; }
  void push_back(uint64_t bits) {
    const auto* first = reinterpret_cast<const uint8_t*>(&bits);  // little-endian, like the format
    bytes_.insert(bytes_.end(), first, first + width_);
  }
  template <class T>
  T at(size_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof value, sizeof value);
    return value;
  }

 private:
  size_t width_;
  std::vector<uint8_t> bytes_;
};

class Reader {
 public:
  Reader(std::string_view text, const Limits& limits)
      : scan_(text, std::max<uint64_t>(limits.max_name_bytes, 1 << 20)),
        lists_(list_limits(limits)) {}

  Result<std::vector<uint8_t>> read(FileKind kind) {
    Value value;
    if (!read_table(root_of(kind), value) || !read_end()) return error_;
    builder_.Finish(Offset<void>(static_cast<uoffset_t>(value.bits)), identifier_of(kind));
    return finished_bytes(builder_);
  }

 private:
  // Where in the object the reader is: in a field of a table, or at an entry of a list.
  // These return false, for their callers to return it in turn.
  bool fail_at(size_t offset, const std::string& message);
  bool expected(const std::string& what) {
    return fail_at(scan_.offset(), "found " + scan_.found() + ", expected " + what);
  }

  bool read_end() {
    scan_.peek();
    return scan_.at_end() || expected("the end of the text after the object");
  }
  bool read_table(const TypeTable* table, Value& value);
  bool read_field(const TypeTable* table, std::array<Value, kMaxFields>& fields, size_t hint);
  bool find_field(const TypeTable* table, size_t place, size_t hint, size_t& field);
  bool read_value(const FieldType& type, Value& value);
  bool read_list(const FieldType& type, Value& value);
  bool read_entries(const FieldType& type, Entries& entries);
  bool count_entry(size_t before, ListLimit& list);
  ListLimit& limit_of_list();
  bool read_one(const FieldType& type, Value& value);
  bool read_enumerator(const TypeTable* enumeration, Value& value);
  bool read_bool(Value& value);
  bool read_text(Value& value);
  template <class T>
  bool read_whole(Value& value);
  template <class T>
  bool read_real(Value& value);

  bool has_room(uint64_t bytes);
  void add_field(flatbuffers::voffset_t slot, const FieldType& type, uint64_t bits);
  uoffset_t add_list(const FieldType& type, const Entries& entries);
  template <class T>
  uoffset_t add_numbers(const Entries& entries);

  JsonScanner scan_;
  std::array<ListLimit, 17> lists_;
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<JsonStep> path_;
  std::string text_;  // the last string read
  Status error_;
};

bool Reader::fail_at(size_t offset, const std::string& message) {
  const std::string place = path_text(path_);
  error_ = Status::bad_input(scan_.line_of(offset) + ": " + (place.empty() ? "" : place + ": ") +
                             message);
  return false;
}

bool Reader::read_table(const TypeTable* table, Value& value) {
  assert(table->num_elems <= kMaxFields);
  if (!scan_.accept('{')) return expected("an object with " + names_of(table));
  std::array<Value, kMaxFields> fields{};
  if (!scan_.accept('}')) {
    size_t count = 0;
    do {
      if (!read_field(table, fields, count++)) return false;
    } while (scan_.accept(','));
    if (!scan_.accept('}')) return expected("',' or '}' after a field");
  }
  if (!has_room(16 * kMaxFields)) return false;
  const uoffset_t start = builder_.StartTable();
  for (size_t size = 8; size > 0; size /= 2) {  // large ones first: no padding between them
    for (size_t field = 0; field < table->num_elems; ++field) {
      const FieldType type = field_type(table, field);
      const size_t own = type.repeating ? sizeof(uoffset_t) : value_size(type.base);
      if (fields[field].stored && own == size) {
        add_field(field_slot(field), type, fields[field].bits);
      }
    }
  }
  value = {builder_.EndTable(start), true, true};
  return true;
}

// `"name": value`. hint: the position where the name is looked for first, since most writers keep
// the schema's order.
bool Reader::read_field(const TypeTable* table, std::array<Value, kMaxFields>& fields,
                        size_t hint) {
  if (scan_.peek() != '"') return expected("a field name in double quotes");
  const size_t place = scan_.offset();
  if (std::string wrong = scan_.read_string(text_); !wrong.empty()) {
    return fail_at(scan_.offset(), wrong);
  }
  size_t field = 0;
  if (!find_field(table, place, hint, field)) return false;
  if (fields[field].given) {
    return fail_at(place, "field " + in_quotes(text_) + " is given twice, expected it once");
  }
  path_.push_back({table->names[field], 0});
  if (!scan_.accept(':')) return expected("':' after a field name");
  if (!read_value(field_type(table, field), fields[field])) return false;
  path_.pop_back();
  fields[field].given = true;
  return true;
}

bool Reader::find_field(const TypeTable* table, size_t place, size_t hint, size_t& field) {
  for (size_t i = 0; i < table->num_elems; ++i) {
    field = (hint + i) % table->num_elems;
    if (text_ == table->names[field]) return true;
  }
  return fail_at(place,
                 "unknown field " + in_quotes(text_) + ", expected one of " + names_of(table));
}

bool Reader::read_value(const FieldType& type, Value& value) {
  scan_.peek();
  return type.repeating ? read_list(type, value) : read_one(type, value);
}

bool Reader::read_list(const FieldType& type, Value& value) {
  if (!scan_.accept('[')) return expected("a list");
  if (scan_.accept(']')) return true;
  Entries entries(value_size(type.base));
  path_.push_back({nullptr, 0});
  if (!read_entries(type, entries)) return false;
  path_.pop_back();
  if (!scan_.accept(']')) return expected("',' or ']' after an entry");
  if (!has_room(entries.size() * value_size(type.base) + 32)) return false;
  value = {add_list(type, entries), true, true};
  return true;
}

// The limit of the list that the reader is in.
ListLimit& Reader::limit_of_list() {
  const std::string_view field = path_[path_.size() - 2].field;
  const auto named = [&](const ListLimit& list) { return list.field == field; };
  return *std::find_if(lists_.begin(), lists_.end() - 1, named);
}

bool Reader::count_entry(size_t before, ListLimit& list) {
  const auto more_than = [&](uint64_t most, const std::string& where) {
    return fail_at(scan_.offset(), "more than " + std::to_string(most) + " entries" + where +
                                       ", expected at most that many");
  };
  if (before >= list.most) return more_than(list.most, "");
  if (list.seen++ < list.most_in_all) return true;
  return more_than(list.most_in_all, " in all lists of this name");
}

bool Reader::read_entries(const FieldType& type, Entries& entries) {
  const FieldType entry_type = {type.base, false, type.reference};
  ListLimit& list = limit_of_list();
  do {
    scan_.peek();
    path_.back().entry = entries.size();
    if (!count_entry(entries.size(), list)) return false;
    Value entry;
    if (!read_one(entry_type, entry)) return false;
    if (type.base == flatbuffers::ET_STRING && !entry.stored) {  // empty, yet an entry
      if (!has_room(32)) return false;
      entry.bits = builder_.CreateString("", 0).o;
    }
    entries.push_back(entry.bits);
  } while (scan_.accept(','));
  return true;
}

bool Reader::read_one(const FieldType& type, Value& value) {
  if (type.is_table()) return read_table(type.reference, value);
  if (type.is_enumeration() && scan_.peek() == '"') return read_enumerator(type.reference, value);
  switch (type.base) {
    case flatbuffers::ET_BOOL:
      return read_bool(value);
    case flatbuffers::ET_CHAR:
      return read_whole<int8_t>(value);
    case flatbuffers::ET_UCHAR:
      return read_whole<uint8_t>(value);
    case flatbuffers::ET_SHORT:
      return read_whole<int16_t>(value);
    case flatbuffers::ET_USHORT:
      return read_whole<uint16_t>(value);
    case flatbuffers::ET_INT:
      return read_whole<int32_t>(value);
    case flatbuffers::ET_UINT:
      return read_whole<uint32_t>(value);
    case flatbuffers::ET_LONG:
      return read_whole<int64_t>(value);
    case flatbuffers::ET_ULONG:
      return read_whole<uint64_t>(value);
    case flatbuffers::ET_FLOAT:
      return read_real<float>(value);
    case flatbuffers::ET_DOUBLE:
      return read_real<double>(value);
    case flatbuffers::ET_STRING:
      return read_text(value);
    default:
      return expected("nothing: this field's type has no JSON form here");
  }
}

bool Reader::read_enumerator(const TypeTable* enumeration, Value& value) {
  const size_t place = scan_.offset();
  if (std::string wrong = scan_.read_string(text_); !wrong.empty()) {
    return fail_at(scan_.offset(), wrong);
  }
  for (size_t i = 0; i < enumeration->num_elems; ++i) {
    if (text_ != enumeration->names[i]) continue;
    value = {static_cast<uint64_t>(enumerator_value(enumeration, i)), true, true};
    return true;
  }
  return fail_at(place, "is " + in_quotes(text_) + ", expected one of " + names_of(enumeration));
}

bool Reader::read_bool(Value& value) {
  for (const bool b : {false, true}) {
    if (!scan_.accept_word(b ? "true" : "false")) continue;
    value = {b ? 1u : 0u, true, true};
    return true;
  }
  return expected("true or false");
}

bool Reader::read_text(Value& value) {
  if (scan_.peek() != '"') return expected("text in double quotes");
  if (std::string wrong = scan_.read_string(text_); !wrong.empty()) {
    return fail_at(scan_.offset(), wrong);
  }
  if (text_.empty()) return true;
  if (!has_room(text_.size() + 32)) return false;
  value = {builder_.CreateString(text_).o, true, true};
  return true;
}

template <class T>
bool Reader::read_whole(Value& value) {
  const auto wanted = [] {
    return "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
           std::to_string(std::numeric_limits<T>::max());
  };
  const size_t place = scan_.offset();
  const std::string_view number = scan_.read_number();
  if (number.empty()) return expected(wanted());
  T whole = 0;
  // "-0" is 0, which from_chars does not take for unsigned types.
  const char* first = number.data() + (number == "-0" ? 1 : 0);
  const char* last = number.data() + number.size();
  if (const auto [end, error] = std::from_chars(first, last, whole);
      error != std::errc() || end != last) {
    return fail_at(place, "is " + std::string(number.substr(0, 64)) + ", expected " + wanted());
  }
  value = {bits_of(whole), true, true};
  return true;
}

template <class T>
bool Reader::read_real(Value& value) {
  const size_t place = scan_.offset();
  const std::string_view number = scan_.read_number();
  if (number.empty()) return expected("a number");
  T real = 0;
  // Out of range means too large, or so small that it would silently become 0.
  if (std::from_chars(number.data(), number.data() + number.size(), real).ec != std::errc()) {
    return fail_at(place, "is " + std::string(number.substr(0, 64)) +
                              ", expected a number in the range of a " +
                              (sizeof(T) == 8 ? "64" : "32") + "-bit float");
  }
  value = {bits_of(real), true, true};
  return true;
}

bool Reader::has_room(uint64_t bytes) {
  if (builder_.GetSize() + bytes <= kMaxBufferBytes) return true;
  return fail_at(scan_.offset(), "up to here the binary form needs more than " +
                                     bytes_text(kMaxBufferBytes) + ", expected at most that");
}

void Reader::add_field(flatbuffers::voffset_t slot, const FieldType& type, uint64_t bits) {
  const bool is_offset = type.repeating || type.base == flatbuffers::ET_STRING ||
                         type.base == flatbuffers::ET_SEQUENCE;
  if (is_offset) return builder_.AddOffset(slot, Offset<void>(static_cast<uoffset_t>(bits)));
  // Without a default: what the text gives is stored. Numbers go by size, their bits as they are.
  switch (value_size(type.base)) {
    case 8:
      return builder_.AddElement(slot, bits);
    case 4:
      return builder_.AddElement(slot, value_of<uint32_t>(bits));
    case 2:
      return builder_.AddElement(slot, value_of<uint16_t>(bits));
    default:
      return builder_.AddElement(slot, value_of<uint8_t>(bits));
  }
}

// FlatBuffers asks for the alignment, too, from version 23 on.
template <class T, class Builder>
void start_vector(Builder& builder, size_t size) {
  if constexpr (requires { builder.StartVector(size, sizeof(T), alignof(T)); }) {
    builder.StartVector(size, sizeof(T), alignof(T));
  } else {
    builder.StartVector(size, sizeof(T));
  }
}

// Backwards, as the builder grows.
template <class T>
uoffset_t Reader::add_numbers(const Entries& entries) {
  start_vector<T>(builder_, entries.size());
  for (size_t i = entries.size(); i-- > 0;) builder_.PushElement(entries.at<T>(i));
  return builder_.EndVector(entries.size());
}

uoffset_t Reader::add_list(const FieldType& type, const Entries& entries) {
  if (type.base == flatbuffers::ET_STRING || type.base == flatbuffers::ET_SEQUENCE) {
    start_vector<uoffset_t>(builder_, entries.size());
    for (size_t i = entries.size(); i-- > 0;) {
      builder_.PushElement(Offset<void>(entries.at<uoffset_t>(i)));
    }
    return builder_.EndVector(entries.size());
  }
  switch (value_size(type.base)) {
    case 8:
      return add_numbers<uint64_t>(entries);
    case 4:
      return add_numbers<uint32_t>(entries);
    case 2:
      return add_numbers<uint16_t>(entries);
    default:
      return add_numbers<uint8_t>(entries);
  }
}

}  // namespace

Result<std::vector<uint8_t>> json_to_buffer(std::string_view text, FileKind kind,
                                            const Limits& limits) {
  return Reader(text, limits).read(kind);
}

}  // namespace placeto
