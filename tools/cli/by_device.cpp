#include "tools/cli/by_device.h"

#include <fmt/format.h>

#include "tools/cli/common.h"
#include "tools/devices/providers.h"
#include "tools/engine/workers.h"

namespace placeto::cli {

Option& add_provider(Command& command, std::vector<std::string>& target,
                     const std::string& if_absent) {
  std::string help = "Execution provider of a device (gpu:0=cuda), or of all of a kind (gpu=cuda)";
  if (!if_absent.empty()) help += "; if absent " + if_absent;
  return command.list("--provider", "DEVICE=NAME", target, help);
}

void add_hold(Command& command, std::vector<std::string>& target) {
  command.list(
      "--hold", "DEVICE=SHARE", target,
      "Let a device compute that share of the time only, 0.001 to 1, to stand for a slower one");
}

std::vector<std::string> by_device(const DeviceNames& devices,
                                   const std::vector<std::string>& given, const char* option) {
  Result<std::vector<std::string>> values = device_settings(devices, given);
  if (values.ok()) return *std::move(values);
  throw Failure(kBadUsage, fmt::format("{} {}", option, values.status().message()));
}

void complete_providers(const DeviceNames& devices, std::vector<std::string>& providers) {
  for (size_t d = 0; d < providers.size(); ++d) {
    if (!providers[d].empty()) {
      providers[d] = provider_named(providers[d]);
      continue;
    }
    providers[d] = "cpu";
    const std::string& name = devices.names[d];
    const std::string kind = devices.kinds.empty() ? kind_in_name(name) : devices.kinds[d];
    if (kind == "cpu" || kind == name) continue;
    note(fmt::format("{} is run by the processor; --provider {}=NAME says what runs it", name,
                     name));
  }
}

std::vector<double> shares_by_device(const DeviceNames& devices,
                                     const std::vector<std::string>& given, const char* option) {
  std::vector<double> shares;
  if (given.empty()) return shares;
  for (const std::string& text : by_device(devices, given, option)) {
    double share = 1;
    const bool in_range =
        (text.empty() || parse_share(text, share)) && share >= kLeastShare && share <= 1;
    if (!in_range) {
      throw Failure(kBadUsage, fmt::format("{}: '{}' is no share of the time, expected {} to 1",
                                           option, text, kLeastShare));
    }
    shares.push_back(share);
  }
  return shares;
}

}  // namespace placeto::cli
