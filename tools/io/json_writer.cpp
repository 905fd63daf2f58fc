#include "tools/io/json_writer.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "runtime/graph/text.h"
#include "tools/io/json_escapes.h"
#include "tools/io/json_forms.h"
#include "tools/io/reflection.h"

namespace placeto {
namespace {

using flatbuffers::Table;
using flatbuffers::TypeTable;
using flatbuffers::uoffset_t;

template <class T>
T load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

class Writer {
 public:
  Result<std::string> write(const Table* root, const TypeTable* type) {
    write_table(root, type, 0);
    out_ += '\n';
    if (!error_.ok()) return error_;
    return with_escapes(out_);
  }

 private:
  // A field of a table, or an entry of a list.
  // depth 0: the root, whose fields have a line each; entries of its lists of tables as well.
  void write_table(const Table* table, const TypeTable* type, int depth);
  void write_list(const uint8_t* list, const FieldType& type, int depth);
  void write_value(const uint8_t* at, const FieldType& type, int depth);
  void write_text(std::string_view text);
  template <class T>
  void write_number(T value);
  void fail(const std::string& message);

  std::string out_;
  std::vector<JsonStep> path_;  // to what is being written; put into words for messages only
  Status error_;                // the first one
};

void Writer::fail(const std::string& message) {
  if (!error_.ok()) return;
  const std::string place = path_text(path_);
  error_ = Status::invalid(place + message);
}

void Writer::write_table(const Table* table, const TypeTable* type, int depth) {
  const char* separator = depth == 0 ? "{\n  " : "{ ";
  bool empty = true;
  for (size_t field = 0; field < type->num_elems; ++field) {
    const uint8_t* at = table->GetAddressOf(field_slot(field));
    if (at == nullptr) continue;
    out_ += separator;
    out_ += '"';
    out_ += type->names[field];
    out_ += "\": ";
    path_.push_back({type->names[field], 0});
    write_value(at, field_type(type, field), depth);
    path_.pop_back();
    separator = depth == 0 ? ",\n  " : ", ";
    empty = false;
  }
  out_ += empty ? "{}" : depth == 0 ? "\n}" : " }";
}

void Writer::write_list(const uint8_t* list, const FieldType& type, int depth) {
  const FieldType entry = {type.base, false, type.reference};
  const bool line_each = depth == 0 && type.is_table();
  const auto count = load<uoffset_t>(list);
  out_ += line_each ? "[\n    " : "[";
  for (uoffset_t i = 0; i < count; ++i) {
    if (i > 0) out_ += line_each ? ",\n    " : ", ";
    path_.push_back({nullptr, i});
    write_value(list + sizeof(uoffset_t) + i * value_size(type.base), entry, depth);
    path_.pop_back();
  }
  out_ += line_each ? "\n  ]" : "]";
}

void Writer::write_value(const uint8_t* at, const FieldType& type, int depth) {
  const auto target = [at] { return at + load<uoffset_t>(at); };
  if (type.repeating) return write_list(target(), type, depth);
  if (type.is_table()) {
    return write_table(reinterpret_cast<const Table*>(target()), type.reference, depth + 1);
  }
  if (type.is_enumeration() && value_size(type.base) == 1) {
    const int64_t value = load<uint8_t>(at);
    for (size_t i = 0; i < type.reference->num_elems; ++i) {
      if (enumerator_value(type.reference, i) == value) return write_text(type.reference->names[i]);
    }
  }
  switch (type.base) {
    case flatbuffers::ET_BOOL:
      out_ += load<uint8_t>(at) != 0 ? "true" : "false";
      return;
    case flatbuffers::ET_CHAR:
      return write_number(load<int8_t>(at));
    case flatbuffers::ET_UCHAR:
      return write_number(load<uint8_t>(at));
    case flatbuffers::ET_SHORT:
      return write_number(load<int16_t>(at));
    case flatbuffers::ET_USHORT:
      return write_number(load<uint16_t>(at));
    case flatbuffers::ET_INT:
      return write_number(load<int32_t>(at));
    case flatbuffers::ET_UINT:
      return write_number(load<uint32_t>(at));
    case flatbuffers::ET_LONG:
      return write_number(load<int64_t>(at));
    case flatbuffers::ET_ULONG:
      return write_number(load<uint64_t>(at));
    case flatbuffers::ET_FLOAT:
      return write_number(load<float>(at));
    case flatbuffers::ET_DOUBLE:
      return write_number(load<double>(at));
    case flatbuffers::ET_STRING: {
      const auto* text = reinterpret_cast<const char*>(target());
      return write_text({text + sizeof(uoffset_t), load<uoffset_t>(target())});
    }
    default:
      return fail(": this field's type has no JSON form here");
  }
}

void Writer::write_text(std::string_view text) {
  if (valid_utf8_prefix(text) != text.size()) {
    return fail(" is " + in_quotes(text) + ", expected UTF-8: JSON holds nothing else");
  }
  constexpr char kDigits[] = "0123456789abcdef";
  out_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out_ += "\\u00";
      out_ += kDigits[c >> 4];
      out_ += kDigits[c & 15];
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

template <class T>
void Writer::write_number(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      return fail(" is " + number_text(value) +
                  ", expected a finite number: JSON holds nothing else");
    }
  }
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out_.append(digits, end);
}

}  // namespace

Result<std::string> buffer_to_json(std::span<const uint8_t> buffer, FileKind kind) {
  return Writer().write(flatbuffers::GetRoot<Table>(buffer.data()), root_of(kind));
}

}  // namespace placeto
