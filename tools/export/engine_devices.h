// What engines call the devices of a topology.
//
// In session options of ONNX Runtime: cpu, gpu, gpu:<ordinal or vendor>, npu, fpga, cuda, dml,
// accelerator, or the exact name of an execution provider (ONNX Runtime 1.30,
// core/framework/layering_annotations.cc). It only logs a name that it does not know and then
// places the nodes as it likes, so names are checked here, and those of providers that people use
// (tools/devices/providers.h) become the exact ones.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/export/placed.h"

namespace placeto {

// The engine's name for each device, "" for those without nodes: the one that is given, or else the
// part of the device's name before the colon. `given`: per device, "" where nothing is; empty: none
// is. Fails with kInvalidArgument for names that the engine does not know, and when two devices
// would share an execution provider: a session has one instance of each, so placements on several
// GPUs need one model per device (split.h).
Result<std::vector<std::string>> engine_devices(const Placed& placed,
                                                std::span<const std::string> given);

// Where all processors have one name, and GPUs their numbers: the name that is given, or else
// `cpu`, or `gpu` and the number in the device's name. Fails with kInvalidArgument for a device
// with nodes that has no such name; `counterpart` says what it lacks, "buffer type for".
Result<std::vector<std::string>> numbered_devices(const Placed& placed,
                                                  std::span<const std::string> given,
                                                  const std::string& cpu, const std::string& gpu,
                                                  const std::string& counterpart);

}  // namespace placeto
