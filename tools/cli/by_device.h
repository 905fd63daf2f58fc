// Options that give something for a device, "gpu:0=cuda", or for several, "gpu=cuda"
// (tools/devices/device_settings.h).
#pragma once

#include <string>
#include <vector>

#include "tools/devices/device_settings.h"
#include "tools/options/options.h"

namespace placeto::cli {

// --provider; `if_absent` is what holds then, as in "cpu".
Option& add_provider(Command& command, std::vector<std::string>& target,
                     const std::string& if_absent = "");
// --hold
void add_hold(Command& command, std::vector<std::string>& target);

// A value per device; "" where nothing is given. A Failure, naming the option, for text that names
// no device.
std::vector<std::string> by_device(const DeviceNames& devices,
                                   const std::vector<std::string>& given, const char* option);
// Names the processor's provider where there is none, with a note for a device of another kind.
void complete_providers(const DeviceNames& devices, std::vector<std::string>& providers);
// Shares of the time, from kLeastShare (tools/engine/workers.h) to 1; empty if none is given.
std::vector<double> shares_by_device(const DeviceNames& devices,
                                     const std::vector<std::string>& given, const char* option);

}  // namespace placeto::cli
