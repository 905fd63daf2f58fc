// What options give for a device, "gpu:0=cuda", or for several, "gpu=cuda".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/graph/topology.h"

namespace placeto {

struct DeviceNames {
  std::vector<std::string> names;
  std::vector<std::string> kinds = {};  // of each; empty: not known, as of a placement's devices
};
inline DeviceNames device_names(const TopologySpec& topology) {
  DeviceNames devices;
  for (const DeviceSpec& device : topology.devices) {
    devices.names.push_back(device.name);
    devices.kinds.push_back(device.kind);
  }
  return devices;
}

// "gpu" of "gpu:0": the kind of a device of which nothing but the name is known.
std::string kind_in_name(const std::string& device);

// A value for each device, "" where none is given, from texts of the form DEVICE=VALUE. DEVICE is
// the name of a device, or a kind, or what names begin with before a colon, which where kinds are
// not known stands for them. For each device a name goes before a kind and that before the
// beginning of a name, in whatever order they are given; of two of the same sort the last holds.
// Fails with kInvalidArgument, naming the text, if it has not that form or means no device.
Result<std::vector<std::string>> device_settings(const DeviceNames& devices,
                                                 std::span<const std::string> texts);

}  // namespace placeto
