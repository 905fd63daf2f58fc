// Telling whether two paths lead to one file, before one of them is written.
#pragma once

#include <string>

namespace placeto {

// Equal for paths of one file, however they are written: "x", "./x" and a link to x, whether x is
// there or not.
std::string one_name(const std::string& path);

}  // namespace placeto
