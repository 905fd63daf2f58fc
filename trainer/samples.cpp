#include "trainer/samples.h"

#include "trainer/bytes.h"

namespace placeto::train {

void Samples::append(const Samples& other) {
  const uint32_t first = row_count();
  rows.insert(rows.end(), other.rows.begin(), other.rows.end());
  gains.insert(gains.end(), other.gains.begin(), other.gains.end());
  expert.insert(expert.end(), other.expert.begin(), other.expert.end());
  for (uint32_t i = 1; i < other.offset.size(); ++i) offset.push_back(first + other.offset[i]);
}

void Samples::append_group(const Samples& other, uint32_t group) {
  const auto from = other.offset[group], to = other.offset[group + 1];
  rows.insert(rows.end(), other.rows.begin() + size_t{from} * kPairFeatures,
              other.rows.begin() + size_t{to} * kPairFeatures);
  gains.insert(gains.end(), other.gains.begin() + from, other.gains.begin() + to);
  close_group(other.expert[group]);
}

std::string Samples::to_bytes() const {
  std::string bytes;
  put(offset, bytes);
  put(rows, bytes);
  put(gains, bytes);
  put(expert, bytes);
  return bytes;
}

bool Samples::from_bytes(std::string_view bytes) {
  return get(offset, bytes) && get(rows, bytes) && get(gains, bytes) && get(expert, bytes) &&
         bytes.empty() && !offset.empty() && offset.back() == gains.size() &&
         expert.size() == groups() && rows.size() == gains.size() * kPairFeatures;
}

}  // namespace placeto::train
