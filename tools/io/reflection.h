// What the reflection tables of the generated code say about a field. Private to tools/io.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <span>
#include <string>

namespace placeto {

struct FieldType {
  flatbuffers::ElementaryType base;
  bool repeating;                           // a list of `base`
  const flatbuffers::TypeTable* reference;  // of a table or an enumeration, else null

  bool is_table() const { return reference != nullptr && reference->st == flatbuffers::ST_TABLE; }
  bool is_enumeration() const {
    return reference != nullptr && reference->st == flatbuffers::ST_ENUM;
  }
};

// Type of the field of that position in the table. Structs, unions and fixed-size arrays are used
// by no schema here and not supported.
inline FieldType field_type(const flatbuffers::TypeTable* table, size_t field) {
  const flatbuffers::TypeCode code = table->type_codes[field];
  return {static_cast<flatbuffers::ElementaryType>(code.base_type), code.is_repeating != 0,
          code.sequence_ref < 0 ? nullptr : table->type_refs[code.sequence_ref]()};
}

// Bytes of one value, or of the offset to it.
inline size_t value_size(flatbuffers::ElementaryType base) {
  switch (base) {
    case flatbuffers::ET_UTYPE:
    case flatbuffers::ET_BOOL:
    case flatbuffers::ET_CHAR:
    case flatbuffers::ET_UCHAR:
      return 1;
    case flatbuffers::ET_SHORT:
    case flatbuffers::ET_USHORT:
      return 2;
    case flatbuffers::ET_LONG:
    case flatbuffers::ET_ULONG:
    case flatbuffers::ET_DOUBLE:
      return 8;
    default:
      return 4;
  }
}

// Slot of a field in the vtable.
inline flatbuffers::voffset_t field_slot(size_t field) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * field);
}

// Value of an enumeration's name by position.
inline int64_t enumerator_value(const flatbuffers::TypeTable* enumeration, size_t i) {
  return enumeration->values != nullptr ? enumeration->values[i] : static_cast<int64_t>(i);
}

// "a, b, c": the fields of a table or the names of an enumeration.
inline std::string names_of(const flatbuffers::TypeTable* type) {
  std::string text;
  for (size_t i = 0; i < type->num_elems; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(type->names[i]);
  }
  return text;
}

// On the way to a value.
struct JsonStep {
  const char* field;  // null: an entry
  size_t entry;
};

// "nodes[3].cost_us[1]".
inline std::string path_text(std::span<const JsonStep> path) {
  std::string text;
  for (const JsonStep& step : path) {
    if (step.field == nullptr) {
      text += "[" + std::to_string(step.entry) + "]";
    } else {
      text += (text.empty() ? "" : ".") + std::string(step.field);
    }
  }
  return text;
}

}  // namespace placeto
