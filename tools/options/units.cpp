#include "tools/options/units.h"

#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <system_error>

namespace placeto::cli {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr Unit kDecimal[] = {{"k", 1e3}, {"K", 1e3},  {"M", 1e6},
                             {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};
constexpr Unit kMilliseconds[] = {
    {"us", 1e-3}, {"ms", 1}, {"s", 1e3}, {"min", 60e3}, {"h", 3600e3}};
constexpr Unit kBytes[] = {{"B", 1},        {"k", 1e3},      {"K", 1e3},     {"M", 1e6},
                           {"G", 1e9},      {"T", 1e12},     {"kB", 1e3},    {"KB", 1e3},
                           {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},   {"KiB", 0x1p10},
                           {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};

// A number and one of the units, or none.
bool parse_scaled(std::string_view text, std::span<const Unit> units, double& value) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    double number = 0;
    std::string_view digits = text.substr(0, text.size() - unit.name.size());
    if (digits.ends_with(' ')) digits.remove_suffix(1);
    if (!parse_number(digits, number)) continue;
    value = number * unit.factor;
    return std::isfinite(value);
  }
  return parse_number(text, value);
}

// Exact below 2^53, which no count or size of ours comes near.
bool as_whole(double number, uint64_t& value) {
  if (number != std::floor(number) || number > 0x1p53) return false;
  value = static_cast<uint64_t>(number);
  return true;
}

}  // namespace

bool parse_count(std::string_view text, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 10);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_number(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) &&
         !std::signbit(value);
}

bool parse_large_count(std::string_view text, uint64_t& value) {
  double number = 0;
  return parse_count(text, value) ||
         (parse_scaled(text, kDecimal, number) && as_whole(number, value));
}

bool parse_large_number(std::string_view text, double& value) {
  return parse_scaled(text, kDecimal, value);
}

bool parse_rate(std::string_view text, double& value) {
  for (const std::string_view per_second : {"FLOP/s", "FLOPS", "flop/s", "/s"}) {
    if (!text.ends_with(per_second)) continue;
    text.remove_suffix(per_second.size());
    break;
  }
  return parse_scaled(text, kDecimal, value) || parse_scaled(text, kBytes, value);
}

bool parse_share(std::string_view text, double& value) {
  if (!text.ends_with('%')) return parse_number(text, value);
  text.remove_suffix(1);
  if (text.ends_with(' ')) text.remove_suffix(1);
  double percent = 0;
  if (!parse_number(text, percent)) return false;
  // 99.9% is 0.999, to which dividing by 100 comes near only.
  if (!parse_number(std::string(text) + "e-2", value)) value = percent / 100;
  return true;
}

bool parse_milliseconds(std::string_view text, double& value) {
  return parse_scaled(text, kMilliseconds, value);
}

}  // namespace placeto::cli
