// JSON that does nothing to a terminal that it is printed on.
#pragma once

#include <string>
#include <string_view>

namespace placeto {

// The same JSON, with escapes (\u009b) for what its strings hold of DEL, of the control characters
// of C1, and of the characters that reorder what follows them on a screen (U+202A to U+202E, U+2066
// to U+2069). JSON itself asks for escapes of C0 alone.
std::string with_escapes(std::string_view json);

}  // namespace placeto
