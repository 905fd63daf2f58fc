#include "tools/cli/by_device.h"

#include <fmt/format.h>

#include "tools/cli/common.h"
#include "tools/engine/provider_names.h"
#include "tools/engine/workers.h"
#include "tools/export/engine_devices.h"

namespace placeto::cli {

std::vector<std::string> by_device(const std::vector<std::string>& devices,
                                   const std::vector<std::string>& given, const char* option,
                                   const std::string& absent) {
  std::vector<std::string> values(devices.size(), absent);
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    bool used = false;
    for (size_t d = 0; d < devices.size() && equals != std::string::npos; ++d) {
      if (key != devices[d] && key != device_prefix(devices[d])) continue;
      values[d] = text.substr(equals + 1);
      used = true;
    }
    if (used) continue;
    throw Failure(kBadUsage, fmt::format("{} '{}': expected DEVICE=VALUE with one of the devices, "
                                         "{} being the first",
                                         option, text, devices.empty() ? "" : devices[0]));
  }
  return values;
}

std::vector<std::string> providers_by_device(const std::vector<std::string>& devices,
                                             const std::vector<std::string>& given) {
  std::vector<std::string> values = by_device(devices, given, "--provider", "");
  for (size_t d = 0; d < devices.size(); ++d) {
    if (!values[d].empty()) {
      values[d] = provider_named(values[d]);
      continue;
    }
    values[d] = "cpu";
    const std::string kind = device_prefix(devices[d]);
    if (kind != devices[d] && kind != "cpu") {
      note(fmt::format("note: {} is run by the processor; --provider {}=NAME says what runs it",
                       devices[d], devices[d]));
    }
  }
  return values;
}

std::vector<double> shares_by_device(const std::vector<std::string>& devices,
                                     const std::vector<std::string>& given, const char* option) {
  std::vector<double> shares;
  if (given.empty()) return shares;
  for (const std::string& text : by_device(devices, given, option, "1")) {
    double share = 0;
    const bool in_range = parse_share(text, share) && share >= kLeastShare && share <= 1;
    if (!in_range) {
      throw Failure(kBadUsage, fmt::format("{}: '{}' is no share of the time, expected {} to 1",
                                           option, text, kLeastShare));
    }
    shares.push_back(share);
  }
  return shares;
}

}  // namespace placeto::cli
