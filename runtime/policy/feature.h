// Features: what networks see. Each architecture lists its own once; the list names the columns
// that the runtime computes, the trainer records and policy files refer to.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace placeto {

struct Feature {
  std::string_view name;  // of a literal: ends with a NUL
  std::string_view meaning;
  float low, high;  // range; values beyond it are clamped to it
};

// From a list FEATURES(X) of X(name, meaning, low, high): an enumeration of k_name, their number,
// and the list as data.
#define PLACETO_FEATURE_ENUM(name, meaning, low, high) k_##name,
#define PLACETO_FEATURE_ROW(name, meaning, low, high) Feature{#name, meaning, low, high},
#define PLACETO_DEFINE_FEATURES(Enum, count, list, FEATURES)             \
  enum class Enum : uint32_t { FEATURES(PLACETO_FEATURE_ENUM) kCount };  \
  inline constexpr uint32_t count = static_cast<uint32_t>(Enum::kCount); \
  inline constexpr std::array<Feature, count> list = {FEATURES(PLACETO_FEATURE_ROW)};

// How features are made of two figures: 0 where there is nothing to divide by.
inline double ratio(double a, double b) {
  return b > 0 ? a / b : 0;
}

}  // namespace placeto
