// The files of page/, embedded at build time by embed.cmake.
#pragma once

#include <string_view>

namespace placeto::page {

extern const std::string_view timeline_html;
extern const std::string_view timeline_css;
extern const std::string_view timeline_js;

}  // namespace placeto::page
