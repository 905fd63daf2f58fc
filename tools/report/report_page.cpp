#include "tools/report/report_page.h"

#include <map>
#include <string_view>

#include "tools/report/html.h"
#include "tools/report/page_files.h"
#include "tools/report/report_data.h"

namespace placeto {
namespace {

// Replaces each {{key}} of the template once, in one pass, so that values are never searched.
std::string fill(std::string_view text,
                 const std::map<std::string_view, std::string_view>& values) {
  std::string page;
  for (;;) {
    const size_t open = text.find("{{"), close = text.find("}}", open);
    page += text.substr(0, open);
    if (open == std::string_view::npos || close == std::string_view::npos) return page;
    const auto it = values.find(text.substr(open + 2, close - open - 2));
    if (it != values.end()) page += it->second;
    text.remove_prefix(close + 2);
  }
}

// The parts of the script share one function's scope, in this order.
std::string script() {
  std::string text = "(() => {\n\"use strict\";\n";
  for (const std::string_view part :
       {page::base_js, page::model_js, page::tables_js, page::timeline_js, page::memory_js,
        page::groups_js, page::graph_js, page::main_js}) {
    text += part;
  }
  return text + "})();\n";
}

std::string licences() {
  return "uPlot\n\n" + std::string(page::uplot_LICENSE) + "\n\n\ndagre and graphlib\n\n" +
         std::string(page::dagre_LICENSE);
}

// Without the trailing comment that names a source map, which would be a reference to a file.
std::string_view without_source_map(std::string_view code) {
  return code.substr(0, code.find("//# sourceMappingURL"));
}

}  // namespace

std::string report_page(const Problem& problem, const LowerBounds& bounds,
                        std::span<const ReportPlacement> placements) {
  const std::string title =
      escape_html(problem.graph().name() + " on " + problem.topology().name());
  const std::string data = report_data(problem, bounds, placements);
  const std::string code = script(), texts = escape_html(licences());
  return fill(page::report_html, {{"title", title},
                                  {"style", page::report_css},
                                  {"uplot_style", page::uplot_min_css},
                                  {"uplot", page::uplot_min_js},
                                  {"dagre", without_source_map(page::dagre_min_js)},
                                  {"licences", texts},
                                  {"script", code},
                                  {"data", data}});
}

}  // namespace placeto
