#include "trainer/eval/evaluate_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/report/table.h"
#include "trainer/eval/figure.h"

namespace placeto::train {
namespace {

// Families as columns: all networks together.
std::string column_of(const Graded& g) {
  if (g.set != "mixed") return g.set;
  return g.ccr == 0 ? "networks" : g.family;
}

// Sets in the order they come; behind `mixed` its families.
std::vector<std::string> columns_of(std::span<const Graded> graded) {
  std::vector<std::string> columns;
  const auto add = [&](const std::string& column) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end())
      columns.push_back(column);
  };
  for (const Graded& g : graded) add(g.set);
  const auto mixed = std::find(columns.begin(), columns.end(), "mixed");
  if (mixed != columns.end()) {
    std::set<std::string> families;
    for (const Graded& g : graded) {
      if (g.set == "mixed") families.insert(column_of(g));
    }
    columns.insert(mixed + 1, families.begin(), families.end());
  }
  return columns;
}

bool in_column(const Graded& g, const std::string& column) {
  return g.set == column || column_of(g) == column;
}

std::vector<std::string> methods_of(std::span<const Graded> graded) {
  std::vector<std::string> methods;
  for (const Graded& g : graded) {
    for (const Outcome& o : g.outcomes) {
      if (std::find(methods.begin(), methods.end(), o.method) == methods.end()) {
        methods.push_back(o.method);
      }
    }
  }
  return methods;
}

double geometric_mean(std::span<const Graded> graded, const std::string& method,
                      const std::string& column) {
  double sum = 0, n = 0;
  for (const Graded& g : graded) {
    if (!in_column(g, column)) continue;
    sum += std::log(g.ratio(method));
    n += 1;
  }
  return std::exp(sum / n);
}

std::string number_text(const char* format, double value) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
}

std::string ratio_text(double ratio) {
  return number_text("{:.3f}", ratio);
}

struct MeanCost {
  double milliseconds = 0, evaluations = 0;
};

// Over the problems of a set that the method was run on; all sets if `set` is empty.
MeanCost mean_cost(std::span<const Graded> graded, const std::string& method,
                   const std::string& set) {
  MeanCost sum;
  double n = 0;
  for (const Graded& g : graded) {
    if (!set.empty() && g.set != set) continue;
    for (const Outcome& o : g.outcomes) {
      if (o.method != method) continue;
      sum.milliseconds += o.milliseconds;
      sum.evaluations += static_cast<double>(o.evaluations);
      n += 1;
    }
  }
  return {sum.milliseconds / n, sum.evaluations / n};
}

// "policy + guided" of "policy + guided 300"; nothing if there is no number at the end.
std::optional<std::string> kind_of(const std::string& method) {
  const size_t space = method.find_last_of(' ');
  if (space == std::string::npos || method.starts_with("long")) return std::nullopt;
  if (method.find_first_not_of("0123456789", space + 1) != std::string::npos) return std::nullopt;
  return method.substr(0, space);
}

std::vector<double> sorted_ratios(std::span<const Graded> graded, const std::string& method) {
  std::vector<double> ratios;
  for (const Graded& g : graded) {
    const double ratio = g.ratio(method);
    if (!std::isnan(ratio)) ratios.push_back(ratio);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
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
  for (const std::string& method : methods_of(graded)) {
    std::vector<std::string> cells = {method};
    for (const std::string& column : columns) {
      cells.push_back(ratio_text(geometric_mean(graded, method, column)));
    }
    const MeanCost cost = mean_cost(graded, method, graded[0].set);
    cells.push_back(number_text("{:.0f}", cost.evaluations));
    cells.push_back(number_text("{:.2f}", cost.milliseconds));
    table.add_row(cells, method.starts_with("policy") ? Emphasis::kStrong : Emphasis::kNone);
  }
  return table.render(color);
}

std::string report_json(std::span<const Graded> graded, std::string_view policy_name) {
  nlohmann::ordered_json json;
  json["policy"] = policy_name;
  json["ratio"] = "geometric mean of makespan over the best known";
  for (const std::string& column : columns_of(graded)) {
    for (const std::string& method : methods_of(graded)) {
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

std::vector<std::string> methods_to_show(std::span<const Graded> graded) {
  const std::vector<std::string> all = methods_of(graded);
  std::vector<std::string> shown;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].starts_with("long")) continue;
    const auto kind = kind_of(all[i]);
    // Lengths come in ascending order: the last of a kind is the longest.
    const bool longer = kind && std::any_of(all.begin() + static_cast<ptrdiff_t>(i) + 1, all.end(),
                                            [&](const auto& m) { return kind_of(m) == kind; });
    if (!longer) shown.push_back(all[i]);
  }
  return shown;
}

std::string cdf_svg(std::span<const Graded> graded, std::span<const std::string> methods) {
  LineFigure figure{"Share of graphs within a ratio of the best known",
                    {.title = "makespan / best known", .least = 1, .most = 1.25},
                    {.title = "share of graphs", .format = "{:.1f}"},
                    {}};
  for (const std::string& method : methods) {
    const std::vector<double> ratios = sorted_ratios(graded, method);
    if (ratios.empty()) continue;
    const double typical = ratios[ratios.size() * 3 / 4];
    if (std::isfinite(typical)) {
      figure.x.most = std::clamp(std::ceil(typical * 20) / 20, figure.x.most, 1.5);
    }
    Line line{.name = method, .points = {{1, 0}}, .steps = true};
    for (size_t i = 0; i < ratios.size(); ++i) {
      if (!std::isfinite(ratios[i])) break;
      line.points.push_back({ratios[i], double(i + 1) / double(ratios.size())});
    }
    figure.lines.push_back(std::move(line));
  }
  // A line ends at the right edge, not where its last point is beyond it.
  for (Line& line : figure.lines) {
    std::erase_if(line.points, [&](const auto& p) { return p.first > figure.x.most; });
    line.points.push_back({figure.x.most, line.points.back().second});
  }
  return draw(figure);
}

std::string cdf_csv(std::span<const Graded> graded, std::span<const std::string> methods) {
  std::string text = "method,ratio,share\n";
  for (const std::string& method : methods) {
    const std::vector<double> ratios = sorted_ratios(graded, method);
    for (size_t i = 0; i < ratios.size(); ++i) {
      text += fmt::format("{},{:.6g},{:.4f}\n", method, ratios[i],
                          double(i + 1) / double(ratios.size()));
    }
  }
  return text;
}

std::string effort_svg(std::span<const Graded> graded) {
  LineFigure figure{"Placements evaluated, and what they are worth",
                    {.title = "placements evaluated (mean over graphs)",
                     .least = 10,
                     .most = 1'000,
                     .logarithmic = true,
                     .format = "{:.0f}"},
                    {.title = "makespan / best known (geometric mean)", .least = 1, .most = 1.1},
                    {}};
  const auto mean = [&](const std::string& method) {
    double sum = 0, n = 0;
    for (const Graded& g : graded) {
      if (!std::isnan(g.ratio(method))) sum += std::log(g.ratio(method)), n += 1;
    }
    return std::exp(sum / n);
  };
  std::map<std::string, Line> lines;
  for (const std::string& method : methods_of(graded)) {
    const auto kind = kind_of(method);
    const double evaluations = std::max(1.0, mean_cost(graded, method, "").evaluations);
    const double ratio = mean(method);
    if (!std::isfinite(ratio) || (!kind && method != "policy")) continue;
    Line& line = lines[kind.value_or(method)];
    line.name = kind.value_or(method);
    line.marks = true;
    line.points.push_back({evaluations, ratio});
    figure.x.least = std::min(figure.x.least, evaluations);
    figure.x.most = std::max(figure.x.most, evaluations);
    figure.y.most = std::clamp(ratio + 0.02, figure.y.most, 1.6);
  }
  const double heuristics = mean("auto");
  figure.y.most = std::max(figure.y.most, heuristics + 0.02);
  figure.lines.push_back({.name = "auto (no search)",
                          .points = {{figure.x.least, heuristics}, {figure.x.most, heuristics}},
                          .dashed = true});
  for (auto& [name, line] : lines) figure.lines.push_back(std::move(line));
  return draw(figure);
}

std::string sets_svg(std::span<const Graded> graded, std::span<const std::string> methods) {
  BarFigure figure{
      "Makespan over the best known, by test set",
      {.title = "geometric mean of the ratio", .least = 1, .most = 1.1, .format = "{:.3f}"},
      {},
      {}};
  for (const Graded& g : graded) {
    if (std::find(figure.groups.begin(), figure.groups.end(), g.set) == figure.groups.end()) {
      figure.groups.push_back(g.set);
    }
  }
  for (const std::string& method : methods) {
    std::vector<double> values;
    for (const std::string& set : figure.groups) {
      values.push_back(geometric_mean(graded, method, set));
      if (std::isfinite(values.back())) {
        figure.y.most = std::clamp(values.back() + 0.03, figure.y.most, 2.0);
      }
    }
    figure.bars.push_back({method, std::move(values)});
  }
  return draw(figure);
}

}  // namespace placeto::train
