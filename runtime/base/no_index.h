// What stands where there is no index and no time.
#pragma once

#include <cstdint>
#include <limits>

namespace placeto {

inline constexpr uint32_t kNoIndex = 0xffffffffu;  // no node, group, device, stage, place ...
inline constexpr double kNever = std::numeric_limits<double>::infinity();  // later than all times

}  // namespace placeto
