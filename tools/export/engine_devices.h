// What devices of a topology are called in session options of ONNX Runtime.
//
// The engine's names: cpu, gpu, gpu:<ordinal or vendor>, npu, fpga, cuda, dml, accelerator, or the
// exact name of an execution provider (ONNX Runtime 1.30, core/framework/layering_annotations.cc).
// It only logs a name that it does not know and then places the nodes as it likes, so names are
// checked here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/export/placed.h"

namespace placeto {

// "gpu:0=cuda": a device of the topology, or what stands before the colon in the names of several,
// and its name in the engine.
struct DeviceAlias {
  std::string device, engine;
};

// kInvalidArgument unless the text has the form DEVICE=NAME.
Result<DeviceAlias> parse_device_alias(const std::string& text);

// The alias's name for the device: one for the whole name, else one for what stands before the
// colon; "" if there is none.
std::string find_alias(const std::string& device, std::span<const DeviceAlias> aliases);

// "gpu" of "gpu:0".
std::string device_prefix(const std::string& device);

// The engine's name for each device, "" for those without nodes. Without an alias it is the part of
// the device's name before the colon. Fails with kInvalidArgument for names that the engine does
// not know, and when two devices would share an execution provider: a session has one instance of
// each, so placements on several GPUs need one model per device (split.h).
Result<std::vector<std::string>> engine_devices(const Placed& placed,
                                                std::span<const DeviceAlias> aliases);

}  // namespace placeto
