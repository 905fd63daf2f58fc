// Profiles that TensorRT's trtexec writes (--exportProfile=FILE): a JSON list whose first entry is
// the number of runs, and whose others are layers with their times in milliseconds.
#pragma once

#include <string_view>

#include "tools/costs/profile.h"

namespace placeto {

// Whether the text begins as such a profile does.
bool looks_like_tensorrt_profile(std::string_view text);

// The median of each layer, or the mean in the files of versions that write no median. Fails with
// kBadInput, naming the entry, when it is no such list or holds no layer.
Result<Profile> parse_tensorrt_profile(std::string_view text);

}  // namespace placeto
