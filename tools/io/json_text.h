// JSON as text, whatever its strings hold.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace placeto {

// One line, or lines indented by so many blanks. What is not UTF-8, as a file's name may be,
// becomes U+FFFD; dump() alone throws there.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace placeto
