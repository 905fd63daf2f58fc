// The files of page/ and vendor/, embedded at build time by embed.cmake.
#pragma once

#include <string_view>

namespace placeto::page {

extern const std::string_view report_html;
extern const std::string_view report_css;
extern const std::string_view base_js;
extern const std::string_view model_js;
extern const std::string_view tables_js;
extern const std::string_view timeline_js;
extern const std::string_view memory_js;
extern const std::string_view groups_js;
extern const std::string_view graph_js;
extern const std::string_view main_js;

extern const std::string_view uplot_min_js;
extern const std::string_view uplot_min_css;
extern const std::string_view uplot_LICENSE;
extern const std::string_view dagre_min_js;
extern const std::string_view dagre_LICENSE;

}  // namespace placeto::page
