#include "trainer/samples.h"

#include <cstring>

namespace placeto::train {
namespace {

template <class T>
void put(const std::vector<T>& values, std::string& bytes) {
  const uint64_t count = values.size();
  bytes.append(reinterpret_cast<const char*>(&count), sizeof count);
  bytes.append(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
}

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

}  // namespace

void Samples::append(const Samples& other) {
  const uint32_t first = row_count();
  rows.insert(rows.end(), other.rows.begin(), other.rows.end());
  gains.insert(gains.end(), other.gains.begin(), other.gains.end());
  for (uint32_t i = 1; i < other.offset.size(); ++i) offset.push_back(first + other.offset[i]);
}

void Samples::append_group(const Samples& other, uint32_t group) {
  const auto from = other.offset[group], to = other.offset[group + 1];
  rows.insert(rows.end(), other.rows.begin() + size_t{from} * kPairFeatures,
              other.rows.begin() + size_t{to} * kPairFeatures);
  gains.insert(gains.end(), other.gains.begin() + from, other.gains.begin() + to);
  close_group();
}

std::string Samples::to_bytes() const {
  std::string bytes;
  put(offset, bytes);
  put(rows, bytes);
  put(gains, bytes);
  return bytes;
}

bool Samples::from_bytes(std::string_view bytes) {
  return get(offset, bytes) && get(rows, bytes) && get(gains, bytes) && bytes.empty() &&
         !offset.empty() && offset.back() == gains.size() &&
         rows.size() == gains.size() * kPairFeatures;
}

}  // namespace placeto::train
