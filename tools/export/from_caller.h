// What stands for the stage of a tensor that no stage makes, in a split model and in its manifest.
#pragma once

#include "runtime/base/no_index.h"

namespace placeto {

// The caller gives it: an input of the model, or an output that is an input handed through.
inline constexpr uint32_t kFromCaller = kNoIndex;

}  // namespace placeto
