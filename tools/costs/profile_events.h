// The events of a profile, in JSON, as ONNX Runtime writes it. Private to profile.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace placeto {

// What is wrong with event `i`.
Status bad_event(size_t i, const std::string& what);

using TakeEvent = std::function<Status(const nlohmann::json& event, size_t i)>;

// Calls take(event, i) for one after the other, so that no document of the whole file is built and
// a cut file is readable; ends with what fails. Depth and sizes are bounded by what an event holds.
Status for_each_event(std::string_view text, size_t max_events, const TakeEvent& take);

}  // namespace placeto
