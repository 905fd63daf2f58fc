// Options that give something for a device, "gpu:0=cuda", or for all of a kind, "gpu=cuda".
#pragma once

#include <string>
#include <vector>

namespace placeto::cli {

// A value per device; `absent` where nothing is given. A Failure, naming the option, for text that
// names no device. Kinds are what stands before the colon in the devices' names.
std::vector<std::string> by_device(const std::vector<std::string>& devices,
                                   const std::vector<std::string>& given, const char* option,
                                   const std::string& absent);
// The same of the engine's providers: the processor's where none is given, with a note for a device
// that is of another kind.
std::vector<std::string> providers_by_device(const std::vector<std::string>& devices,
                                             const std::vector<std::string>& given);
// The same of shares of the time, from kLeastShare (tools/engine/workers.h) to 1; empty if none is
// given.
std::vector<double> shares_by_device(const std::vector<std::string>& devices,
                                     const std::vector<std::string>& given, const char* option);

}  // namespace placeto::cli
