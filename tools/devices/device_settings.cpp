#include "tools/devices/device_settings.h"

#include <string_view>

#include "runtime/graph/text.h"

namespace placeto {
namespace {

// How closely a key describes a device.
enum class Fit : uint8_t { kNone, kBeginning, kKind, kName };

Fit fit_of(std::string_view key, const DeviceNames& devices, size_t d) {
  const std::string_view name = devices.names[d];
  if (name == key) return Fit::kName;
  if (!devices.kinds.empty() && devices.kinds[d] == key) return Fit::kKind;
  const bool begins = name.starts_with(key) && name.substr(key.size()).starts_with(':');
  return begins ? Fit::kBeginning : Fit::kNone;
}

Status refusal(const std::string& text, const DeviceNames& devices) {
  constexpr size_t kMost = 12;
  std::string message = in_quotes(text) + ": expected DEVICE=VALUE with a kind or a device of ";
  for (size_t d = 0; d < devices.names.size() && d <= kMost; ++d) {
    if (d > 0) message += ", ";
    message += d < kMost ? devices.names[d] : "...";
    if (d < kMost && !devices.kinds.empty()) message += " (" + devices.kinds[d] + ")";
  }
  return Status::invalid(std::move(message));
}

}  // namespace

std::string kind_in_name(const std::string& device) {
  return device.substr(0, device.find(':'));
}

Result<std::vector<std::string>> device_settings(const DeviceNames& devices,
                                                 std::span<const std::string> texts) {
  std::vector<std::string> values(devices.names.size());
  std::vector<Fit> best(values.size());
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');  // names of devices may have one
    const bool complete = equals != text.npos && equals > 0 && equals + 1 < text.size();
    bool used = false;
    for (size_t d = 0; d < values.size() && complete; ++d) {
      const Fit fit = fit_of(std::string_view(text).substr(0, equals), devices, d);
      if (fit == Fit::kNone) continue;
      used = true;
      if (fit < best[d]) continue;
      best[d] = fit;
      values[d] = text.substr(equals + 1);
    }
    if (!used) return refusal(text, devices);
  }
  return values;
}

}  // namespace placeto
