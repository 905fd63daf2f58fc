// Text in pages.
#pragma once

#include <string>
#include <string_view>

namespace placeto {

// As the content of an element or of an attribute in quotes.
std::string escape_html(std::string_view text);

}  // namespace placeto
