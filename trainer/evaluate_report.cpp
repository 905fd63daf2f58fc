#include "trainer/evaluate_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/report/table.h"

namespace placeto::train {
namespace {

// Families as columns: all networks together.
std::string column_of(const Graded& g) {
  if (g.set != "mixed") return g.set;
  return g.ccr == 0 ? "networks" : g.family;
}

std::vector<std::string> columns_of(std::span<const Graded> graded) {
  std::vector<std::string> columns = {"mixed"};
  for (const Graded& g : graded) {
    if (std::find(columns.begin(), columns.end(), column_of(g)) == columns.end()) {
      columns.push_back(column_of(g));
    }
  }
  std::sort(columns.begin() + 1, columns.end());
  return columns;
}

bool in_column(const Graded& g, const std::string& column) {
  return g.set == column || column_of(g) == column;
}

double geometric_mean(std::span<const Graded> graded, const std::string& method,
                      const std::string& column) {
  double sum = 0, n = 0;
  for (const Graded& g : graded) {
    if (!in_column(g, column)) continue;
    sum += std::log(g.makespan_us(method) / g.best_known_us);
    n += 1;
  }
  return std::exp(sum / n);
}

std::string ratio_text(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.3f}", ratio) : "-";
}

// Mean time and evaluations of one method on a set.
std::pair<double, double> mean_cost(std::span<const Graded> graded, size_t outcome,
                                    const std::string& set) {
  double milliseconds = 0, evaluations = 0, n = 0;
  for (const Graded& g : graded) {
    if (g.set != set) continue;
    milliseconds += g.outcomes[outcome].milliseconds;
    evaluations += static_cast<double>(g.outcomes[outcome].evaluations);
    n += 1;
  }
  return {milliseconds / n, evaluations / n};
}

}  // namespace

std::string report_table(std::span<const Graded> graded, bool color) {
  if (graded.empty()) return "no problem has a feasible start\n";
  const std::vector<std::string> columns = columns_of(graded);
  std::vector<Table::Column> titles = {{"method", Align::kLeft}};
  std::vector<std::string> counts = {"problems"};
  for (const std::string& column : columns) {
    titles.push_back({column, Align::kRight});
    counts.push_back(std::to_string(std::count_if(
        graded.begin(), graded.end(), [&](const Graded& g) { return in_column(g, column); })));
  }
  titles.push_back({"evaluations", Align::kRight});
  titles.push_back({"ms", Align::kRight});
  Table table(titles);
  table.add_row(counts, Emphasis::kFaint);
  for (size_t i = 0; i < graded[0].outcomes.size(); ++i) {
    const std::string& method = graded[0].outcomes[i].method;
    std::vector<std::string> cells = {method};
    for (const std::string& column : columns) {
      cells.push_back(ratio_text(geometric_mean(graded, method, column)));
    }
    const auto [milliseconds, evaluations] = mean_cost(graded, i, "mixed");
    cells.push_back(fmt::format("{:.0f}", evaluations));
    cells.push_back(fmt::format("{:.2f}", milliseconds));
    table.add_row(cells, method.find("policy") == 0 ? Emphasis::kStrong : Emphasis::kNone);
  }
  return table.render(color);
}

std::string report_json(std::span<const Graded> graded, std::string_view policy_name) {
  nlohmann::ordered_json json;
  json["policy"] = policy_name;
  json["ratio"] = "geometric mean of makespan over the best known";
  for (const std::string& column : columns_of(graded)) {
    for (size_t i = 0; !graded.empty() && i < graded[0].outcomes.size(); ++i) {
      const std::string& method = graded[0].outcomes[i].method;
      const double ratio = geometric_mean(graded, method, column);
      json["summary"][column][method] =
          std::isfinite(ratio) ? nlohmann::ordered_json(ratio) : nlohmann::ordered_json();
    }
  }
  for (const Graded& g : graded) {
    nlohmann::ordered_json problem = {{"set", g.set},     {"family", g.family},
                                      {"nodes", g.nodes}, {"devices", g.devices},
                                      {"ccr", g.ccr},     {"best_known_us", g.best_known_us}};
    for (const Outcome& o : g.outcomes) {
      problem["makespan_us"][o.method] = std::isfinite(o.makespan_us)
                                             ? nlohmann::ordered_json(o.makespan_us)
                                             : nlohmann::ordered_json();
    }
    json["problems"].push_back(std::move(problem));
  }
  return json.dump(2) + "\n";
}

std::string report_csv(std::span<const Graded> graded) {
  std::string text =
      "problem,set,family,nodes,devices,ccr,method,makespan_us,best_known_us,evaluations,ms\n";
  for (size_t i = 0; i < graded.size(); ++i) {
    const Graded& g = graded[i];
    for (const Outcome& o : g.outcomes) {
      text += fmt::format("{},{},{},{},{},{:.4g},{},{:.9g},{:.9g},{},{:.4g}\n", i, g.set, g.family,
                          g.nodes, g.devices, g.ccr, o.method, o.makespan_us, g.best_known_us,
                          o.evaluations, o.milliseconds);
    }
  }
  return text;
}

std::string report_svg(std::span<const Graded> graded, std::span<const std::string> methods) {
  constexpr const char* kColors[] = {"#888888", "#1b7837", "#2166ac",
                                     "#b2182b", "#e08214", "#542788"};
  constexpr double kLeft = 50, kTop = 20, kWidth = 560, kHeight = 320, kMost = 0.25;
  const auto x_of = [&](double ratio) {
    return kLeft + kWidth * std::min(ratio - 1, kMost) / kMost;
  };
  const auto y_of = [&](double share) { return kTop + kHeight * (1 - share); };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"400\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"640\" height=\"400\" fill=\"white\"/>\n");
  for (int i = 0; i <= 5; ++i) {
    const double ratio = 1 + kMost * i / 5, share = i / 5.0;
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.2f}</text>\n",
                       x_of(ratio), kTop + kHeight + 18, ratio);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.1f}</text>\n",
                       kLeft - 6, y_of(share) + 4, share);
    svg += fmt::format("<path d=\"M{0:.1f} {1:.1f}H{2:.1f}\" stroke=\"#dddddd\"/>\n", kLeft,
                       y_of(share), kLeft + kWidth);
  }
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">makespan / best known"
      "</text>\n",
      kLeft + kWidth / 2, kTop + kHeight + 40);
  for (size_t m = 0; m < methods.size(); ++m) {
    std::vector<double> ratios;
    for (const Graded& g : graded) ratios.push_back(g.makespan_us(methods[m]) / g.best_known_us);
    std::sort(ratios.begin(), ratios.end());
    std::string path = fmt::format("M{:.1f} {:.1f}", x_of(1), y_of(0));
    for (size_t i = 0; i < ratios.size(); ++i) {
      path += fmt::format("H{:.1f}V{:.1f}", x_of(ratios[i]),
                          y_of(double(i + 1) / double(ratios.size())));
    }
    const char* color = kColors[m % std::size(kColors)];
    svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path,
                       color);
    svg += fmt::format("<text x=\"440\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n",
                       kTop + kHeight - 16.0 * double(methods.size() - m), color, methods[m]);
  }
  return svg + "</svg>\n";
}

}  // namespace placeto::train
