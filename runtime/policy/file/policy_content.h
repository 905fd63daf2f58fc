// Private to the policy file code: absent fields read as empty ones.
#pragma once

#include <policy_generated.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/policy/file/policy_spec.h"

namespace placeto {

// In the file.
inline std::string_view text_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : text->string_view();
}

template <class T>
std::vector<T> list_of(const flatbuffers::Vector<T>* list) {
  if (list == nullptr) return {};
  std::vector<T> copy(list->size());
  if (!copy.empty()) std::memcpy(copy.data(), list->Data(), copy.size() * sizeof(T));
  return copy;
}

inline size_t size_of(const auto* list) {
  return list == nullptr ? 0 : list->size();
}

inline PolicyDimensions dimensions_of(const schema::Dimensions& from) {
  return {from.embedding(),
          from.rounds(),
          from.devices(),
          list_of(from.encoder_hidden()),
          list_of(from.message_hidden()),
          list_of(from.pool_hidden()),
          list_of(from.head_hidden()),
          from.directions(),
          from.grid(),
          list_of(from.leap_hidden())};
}

}  // namespace placeto
