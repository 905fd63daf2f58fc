// Lists of numbers, and text, as bytes: a count of 64 bits, then the values as they lie in memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace placeto::train {

template <class T>
void put(const std::vector<T>& values, std::string& bytes) {
  const uint64_t count = values.size();
  bytes.append(reinterpret_cast<const char*>(&count), sizeof count);
  bytes.append(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
}

// Takes them from the front; false if the bytes end before.
template <class T>
bool get(std::vector<T>& values, std::string_view& bytes) {
  uint64_t count = 0;
  if (bytes.size() < sizeof count) return false;
  std::memcpy(&count, bytes.data(), sizeof count);
  bytes.remove_prefix(sizeof count);
  if (count > bytes.size() / sizeof(T)) return false;
  values.resize(count);
  std::memcpy(values.data(), bytes.data(), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
  return true;
}

inline void put(const std::string& text, std::string& bytes) {
  put(std::vector<char>(text.begin(), text.end()), bytes);
}

inline bool get(std::string& text, std::string_view& bytes) {
  std::vector<char> characters;
  if (!get(characters, bytes)) return false;
  text.assign(characters.begin(), characters.end());
  return true;
}

}  // namespace placeto::train
