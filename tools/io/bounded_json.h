// JSON of others as a tree. A tree takes 16 to 80 bytes for one of the text, so its size is bounded
// while it is read.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace placeto {

// Discarded, like what is no JSON, if it holds more values and names of fields, or is deeper.
template <class Json>
Json parse_bounded(std::string_view text, size_t most_values) {
  constexpr int kMostDepth = 64;
  size_t values = 0;
  bool fits = true;
  const auto count = [&](int depth, typename Json::parse_event_t, Json&) {
    fits = fits && depth <= kMostDepth && ++values <= most_values;
    return fits;
  };
  Json tree = Json::parse(text, count, false);
  return fits ? tree : Json(Json::value_t::discarded);
}

}  // namespace placeto
