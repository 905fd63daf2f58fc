#include "tools/cli/candidate_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/outcome.h"

namespace placeto::cli {
namespace {

// Devices that share a column.
struct Column {
  std::string title;
  std::vector<uint32_t> devices;
  bool unlike = false;  // a cell says which of them it is about
};
using Columns = std::vector<Column>;

// Devices that follow each other and have everything in common but their names.
Columns equal_devices(const Problem& problem) {
  Columns columns;
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    const Topology& topology = problem.topology();
    if (d == 0 || !topology.device(d - 1).same_but_name(topology.device(d))) columns.emplace_back();
    columns.back().devices.push_back(d);
  }
  for (Column& column : columns) {
    column.title = device_range(problem.topology(), column.devices.front(), column.devices.back());
    if (column.devices.size() > 1) column.title = "fullest of " + column.title;
  }
  return columns;
}

Columns every_device(const Problem& problem) {
  Columns columns(problem.device_count());
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    columns[d].title = shortened(problem.topology().device(d).name, 16);
    columns[d].devices = {d};
  }
  return columns;
}

Columns all_devices(const Problem& problem) {
  Columns columns(1);
  columns[0].title = "fullest device";
  columns[0].unlike = true;
  for (uint32_t d = 0; d < problem.device_count(); ++d) columns[0].devices.push_back(d);
  return columns;
}

// The memory of the fullest of them; its name, where they are unlike.
std::string fullest(const Problem& problem, const Column& column,
                    const std::vector<uint64_t>& peaks) {
  if (peaks.empty()) return "-";
  uint32_t worst = column.devices[0];
  const auto share = [&](uint32_t d) {
    return static_cast<double>(peaks[d]) / static_cast<double>(problem.memory_limit(d));
  };
  for (const uint32_t d : column.devices) {
    if (share(d) > share(worst)) worst = d;
  }
  const std::string cell = memory_cell(peaks[worst], problem.memory_limit(worst));
  if (!column.unlike) return cell;
  const std::string& name = problem.topology().device(worst).name;
  return cell + " on " + (output_columns() == 0 ? name : shortened(name, 16));
}

std::string ratio(double value, double base) {
  return base > 0 && std::isfinite(value) ? fmt::format("{:.3f}", value / base) : "-";
}

// Whether both rows say the same of equal neighbours, each alone.
bool alike(const Problem& problem, const CandidateRow& a, const CandidateRow& b) {
  const Topology& topology = problem.topology();
  return a.only_device && b.only_device && *b.only_device == *a.only_device + 1 && !a.chosen &&
         !b.chosen && a.feasible == b.feasible && a.makespan_us == b.makespan_us &&
         a.bottleneck_us == b.bottleneck_us &&
         a.peak_memory_bytes.size() == b.peak_memory_bytes.size() &&
         topology.device(*a.only_device).same_but_name(topology.device(*b.only_device));
}

// Rows of equal devices as one, "single gpu:0 to gpu:7": what each would hold, alone.
std::vector<CandidateRow> folded(const Problem& problem, std::span<const CandidateRow> rows) {
  std::vector<CandidateRow> result;
  for (size_t first = 0; first < rows.size();) {
    CandidateRow row = rows[first];
    size_t next = first + 1;
    for (; next < rows.size() && alike(problem, rows[next - 1], rows[next]); ++next) {
      for (size_t d = 0; d < row.peak_memory_bytes.size(); ++d) {
        row.peak_memory_bytes[d] =
            std::max(row.peak_memory_bytes[d], rows[next].peak_memory_bytes[d]);
      }
    }
    if (next > first + 1) {
      row.method += " to " + problem.topology().device(*rows[next - 1].only_device).name;
    }
    result.push_back(std::move(row));
    first = next;
  }
  return result;
}

Table table_with(const Problem& problem, const LowerBounds& bounds,
                 std::span<const CandidateRow> rows, const Columns& memory) {
  std::vector<Table::Column> columns{
      {"", Align::kLeft}, {"method", Align::kLeft}, {"makespan", Align::kRight}};
  // The bound is of the makespan, which is not what such a placement is about.
  const bool throughput = !problem.is_for_latency();
  columns.push_back({throughput ? "bottleneck" : "/ bound", Align::kRight});
  for (const Column& column : memory) columns.push_back({column.title, Align::kRight});
  columns.push_back({"fits", Align::kLeft});
  Table table(columns);
  for (const CandidateRow& row : rows) {
    const bool is_known = row.makespan_us > 0 || !row.peak_memory_bytes.empty();
    std::vector<std::string> cells{
        row.chosen ? "*" : "", row.method, is_known ? format_us(row.makespan_us) : "-",
        throughput ? format_us(row.bottleneck_us) : ratio(row.makespan_us, bounds.best_us())};
    for (const Column& column : memory) {
      cells.push_back(fullest(problem, column, row.peak_memory_bytes));
    }
    cells.emplace_back(row.feasible ? "yes" : "no");
    table.add_row(std::move(cells), row.chosen     ? Emphasis::kGood
                                    : row.feasible ? Emphasis::kNone
                                                   : Emphasis::kBad);
  }
  return table;
}

CandidateRow row_of(const Candidate& candidate, const Timeline& timeline, bool is_chosen) {
  return {candidate.method,
          timeline.makespan_us,
          timeline.bottleneck_us,
          timeline.peak_memory_bytes,
          candidate.score.feasible(),
          is_chosen,
          only_device(candidate.assignment)};
}

// What the placing knows of it, which compared scores: no memory, and of the two times one.
CandidateRow row_by_score(const Problem& problem, const Candidate& candidate) {
  CandidateRow row;
  row.method = candidate.method;
  (problem.is_for_latency() ? row.makespan_us : row.bottleneck_us) = candidate.score.objective_us;
  row.feasible = candidate.score.feasible();
  row.only_device = only_device(candidate.assignment);
  return row;
}

}  // namespace

std::string memory_cell(uint64_t bytes, uint64_t limit) {
  if (limit == Problem::kUnlimited) return format_bytes(bytes);
  const char* over = bytes > limit ? " !" : "";
  return format_bytes(bytes) + over;
}

std::vector<CandidateRow> candidate_rows(const Problem& problem, const PlaceResult& result,
                                         Stop* stop) {
  std::vector<CandidateRow> rows;
  Simulator simulator(problem, stop);
  for (size_t i = 0; i < result.candidates.size(); ++i) {
    const Candidate& candidate = result.candidates[i];
    if (i == result.won) {
      rows.push_back(row_of(candidate, result.timeline, true));
      continue;
    }
    rows.push_back(row_by_score(problem, candidate));
    if (stopped(stop)) continue;
    const Timeline& timeline = simulator.run(candidate.assignment, candidate.division);
    if (!stopped(stop)) rows.back() = row_of(candidate, timeline, false);
  }
  return rows;
}

// The most detailed of three that is not too wide, for the terminal or, in a file, for people.
std::string candidate_table(const Problem& problem, const LowerBounds& bounds,
                            std::span<const CandidateRow> every_row) {
  constexpr size_t kMostColumns = 8;
  const size_t terminal = output_columns();
  const std::vector<CandidateRow> rows = folded(problem, every_row);
  for (const Columns& columns : {every_device(problem), equal_devices(problem)}) {
    if (columns.size() > kMostColumns) continue;
    const Table table = table_with(problem, bounds, rows, columns);
    if (terminal == 0 || table.width() <= terminal) return table.render();
  }
  return table_with(problem, bounds, rows, all_devices(problem)).render();
}

}  // namespace placeto::cli
