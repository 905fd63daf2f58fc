// Profiles of the engines that are known, told by what they hold.
#pragma once

#include <string>
#include <string_view>

#include "tools/costs/profile.h"

namespace placeto {

// A profile of ONNX Runtime (profile.h), of TensorRT's trtexec (tensorrt_profile.h) or of
// OpenVINO's benchmark_app (openvino_profile.h).
Result<Profile> parse_any_profile(std::string_view text, const ProfileLimits& limits = {});
Result<Profile> read_any_profile(const std::string& path, const ProfileLimits& limits = {});

}  // namespace placeto
