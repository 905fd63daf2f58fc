#include "trainer/eval/evaluate_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/io/json_text.h"
#include "tools/report/table.h"
#include "trainer/base/csv_field.h"
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

std::vector<Way> ways_of(std::span<const Graded> graded) {
  std::vector<Way> ways;
  for (const Graded& g : graded) {
    for (const Outcome& o : g.outcomes) {
      if (std::find(ways.begin(), ways.end(), o.way) == ways.end()) ways.push_back(o.way);
    }
  }
  return ways;
}

double geometric_mean(std::span<const Graded> graded, const Way& way, const std::string& column) {
  double sum = 0, n = 0;
  for (const Graded& g : graded) {
    if (!in_column(g, column)) continue;
    sum += std::log(g.ratio(way));
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

// Not a number where there is nothing to take the mean of.
struct MeanCost {
  double milliseconds = 0, evaluations = 0;
};

// Over the problems of a set that it was tried on, of evaluations those that were counted; all sets
// if `set` is empty.
MeanCost mean_cost(std::span<const Graded> graded, const Way& way, const std::string& set) {
  MeanCost sum;
  double n = 0, counted = 0;
  for (const Graded& g : graded) {
    if (!set.empty() && g.set != set) continue;
    for (const Outcome& o : g.outcomes) {
      if (o.way != way) continue;
      sum.milliseconds += o.milliseconds;
      n += 1;
      if (!o.evaluations) continue;
      sum.evaluations += static_cast<double>(*o.evaluations);
      counted += 1;
    }
  }
  return {sum.milliseconds / n, sum.evaluations / counted};
}

std::vector<double> sorted_ratios(std::span<const Graded> graded, const Way& way) {
  std::vector<double> ratios;
  for (const Graded& g : graded) {
    const double ratio = g.ratio(way);
    if (!std::isnan(ratio)) ratios.push_back(ratio);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

}  // namespace

std::string report_table(std::span<const Graded> graded) {
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
  for (const Way& way : ways_of(graded)) {
    std::vector<std::string> cells = {way.label()};
    for (const std::string& column : columns) {
      cells.push_back(ratio_text(geometric_mean(graded, way, column)));
    }
    const MeanCost cost = mean_cost(graded, way, graded[0].set);
    cells.push_back(number_text("{:.0f}", cost.evaluations));
    cells.push_back(number_text("{:.2f}", cost.milliseconds));
    table.add_row(cells, way.uses_policy() ? Emphasis::kStrong : Emphasis::kNone);
  }
  return table.render();
}

std::string report_json(std::span<const Graded> graded, std::span<const std::string> policies) {
  nlohmann::ordered_json json;
  if (policies.size() == 1) json["policy"] = policies[0];
  json["policies"] = policies;
  json["ratio"] = "geometric mean of makespan over the best known";
  for (const std::string& column : columns_of(graded)) {
    for (const Way& way : ways_of(graded)) {
      const double ratio = geometric_mean(graded, way, column);
      json["summary"][column][way.label()] =
          std::isfinite(ratio) ? nlohmann::ordered_json(ratio) : nlohmann::ordered_json();
    }
  }
  for (const Graded& g : graded) {
    nlohmann::ordered_json problem = {{"set", g.set},
                                      {"family", g.family},
                                      {"topology", g.topology},
                                      {"nodes", g.nodes},
                                      {"devices", g.devices},
                                      {"ccr", g.ccr},
                                      {"best_known_us", g.best_known_us}};
    for (const Outcome& o : g.outcomes) {
      problem["makespan_us"][o.way.label()] = std::isfinite(o.makespan_us)
                                                  ? nlohmann::ordered_json(o.makespan_us)
                                                  : nlohmann::ordered_json();
    }
    json["problems"].push_back(std::move(problem));
  }
  return json_text(json, 2) + "\n";
}

std::string report_csv(std::span<const Graded> graded) {
  std::string text =
      "problem,set,family,nodes,devices,ccr,method,makespan_us,best_known_us,evaluations,ms,"
      "topology\n";
  for (size_t i = 0; i < graded.size(); ++i) {
    const Graded& g = graded[i];
    for (const Outcome& o : g.outcomes) {
      text += fmt::format("{},{},{},{},{},{:.4g},{},{:.9g},{:.9g},{},{:.4g},{}\n", i, g.set,
                          csv_field(g.family), g.nodes, g.devices, g.ccr, csv_field(o.way.label()),
                          o.makespan_us, g.best_known_us,
                          o.evaluations ? std::to_string(*o.evaluations) : "", o.milliseconds,
                          csv_field(g.topology));
    }
  }
  return text;
}

std::vector<Way> ways_to_show(std::span<const Graded> graded) {
  const std::vector<Way> all = ways_of(graded);
  std::vector<Way> shown;
  for (const Way& way : all) {
    if (way.approach == Approach::kLongSearch) continue;
    const bool longer = std::any_of(all.begin(), all.end(), [&](const Way& other) {
      return other.of_any_length() == way.of_any_length() && other.length > way.length;
    });
    if (!longer) shown.push_back(way);
  }
  return shown;
}

// As many as one can tell apart: the best by what three quarters of the graphs stay within.
static std::vector<Way> drawn(std::span<const Graded> graded, std::span<const Way> ways) {
  constexpr size_t kMost = 8;
  std::vector<std::pair<double, size_t>> typical;
  for (size_t i = 0; i < ways.size(); ++i) {
    const std::vector<double> ratios = sorted_ratios(graded, ways[i]);
    if (!ratios.empty()) typical.emplace_back(ratios[ratios.size() * 3 / 4], i);
  }
  std::stable_sort(typical.begin(), typical.end());
  if (typical.size() > kMost) typical.resize(kMost);
  std::vector<Way> best;
  for (size_t i = 0; i < ways.size(); ++i) {
    const auto is_it = [i](const auto& entry) { return entry.second == i; };
    if (std::any_of(typical.begin(), typical.end(), is_it)) best.push_back(ways[i]);
  }
  return best;
}

std::string cdf_svg(std::span<const Graded> graded, std::span<const Way> ways) {
  LineFigure figure{"Share of graphs within a ratio of the best known",
                    {.title = "makespan / best known", .least = 1, .most = 1.25},
                    {.title = "share of graphs", .format = "{:.1f}"},
                    {}};
  for (const Way& way : drawn(graded, ways)) {
    const std::vector<double> ratios = sorted_ratios(graded, way);
    const double typical = ratios[ratios.size() * 3 / 4];
    if (std::isfinite(typical)) {
      figure.x.most = std::clamp(std::ceil(typical * 20) / 20, figure.x.most, 1.5);
    }
    Line line{.name = way.label(), .points = {{1, 0}}, .steps = true};
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

std::string cdf_csv(std::span<const Graded> graded, std::span<const Way> ways) {
  std::string text = "method,ratio,share\n";
  for (const Way& way : ways) {
    const std::vector<double> ratios = sorted_ratios(graded, way);
    for (size_t i = 0; i < ratios.size(); ++i) {
      text += fmt::format("{},{:.6g},{:.4f}\n", csv_field(way.label()), ratios[i],
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
  const auto mean = [&](const Way& way) {
    double sum = 0, n = 0;
    for (const Graded& g : graded) {
      if (!std::isnan(g.ratio(way))) sum += std::log(g.ratio(way)), n += 1;
    }
    return std::exp(sum / n);
  };
  std::map<std::string, Line> lines;
  for (const Way& way : ways_of(graded)) {
    const double counted = mean_cost(graded, way, "").evaluations, ratio = mean(way);
    const bool has_effort = way.comes_in_lengths() || way.uses_policy();
    if (!std::isfinite(ratio) || !std::isfinite(counted) || !has_effort) continue;
    const double evaluations = std::max(1.0, counted);
    const std::string name = way.of_any_length().label();
    Line& line = lines[name];
    line.name = name;
    line.marks = true;
    line.points.push_back({evaluations, ratio});
    figure.x.least = std::min(figure.x.least, evaluations);
    figure.x.most = std::max(figure.x.most, evaluations);
    figure.y.most = std::max(figure.y.most, ratio + 0.02);
  }
  const double heuristics = mean({Approach::kAuto});
  figure.y.most = std::max(figure.y.most, heuristics + 0.02);
  figure.lines.push_back({.name = "auto (no search)",
                          .points = {{0, heuristics}, {figure.x.most, heuristics}},
                          .dashed = true});
  for (auto& [name, line] : lines) figure.lines.push_back(std::move(line));
  return draw(figure);
}

std::string sets_svg(std::span<const Graded> graded, std::span<const Way> ways) {
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
  for (const Way& way : ways) {
    std::vector<double> values;
    for (const std::string& set : figure.groups) {
      values.push_back(geometric_mean(graded, way, set));
      if (std::isfinite(values.back())) {
        figure.y.most = std::clamp(values.back() + 0.03, figure.y.most, 2.0);
      }
    }
    figure.bars.push_back({way.label(), std::move(values)});
  }
  return draw(figure);
}

}  // namespace placeto::train
