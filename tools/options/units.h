// Numbers as people write them: 100k, 1e5, 10%, 2s, 8GiB. Never NaN, infinity, a sign or garbage.
#pragma once

#include <cstdint>
#include <string_view>

namespace placeto::cli {

// A whole number in decimal digits; false if it is anything else.
bool parse_count(std::string_view text, uint64_t& value);
// A finite number that is not negative, without unit.
bool parse_number(std::string_view text, double& value);

// A whole number, also as 100k, 2M or 1e5.
bool parse_large_count(std::string_view text, uint64_t& value);
// A number, also as 312T: k, M, G, T, P are decimal.
bool parse_large_number(std::string_view text, double& value);
// The same of what happens in a second, the unit with it: 240G, 240GB, 240GB/s, 900GiB/s, 4TFLOPS.
bool parse_rate(std::string_view text, double& value);
// 0.1 or 10%.
bool parse_share(std::string_view text, double& value);
// 500us, 20ms, 2s, 1.5min, 1h; milliseconds without a unit.
bool parse_milliseconds(std::string_view text, double& value);

}  // namespace placeto::cli
