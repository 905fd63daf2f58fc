#include "trainer/train/metrics_log.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trainer/base/files.h"
#include "trainer/train/tensorboard.h"

namespace placeto::train {
namespace {

constexpr const char* kJson = MetricsLog::kFiles[0];
constexpr const char* kCsv = MetricsLog::kFiles[1];
constexpr const char* kEvents = MetricsLog::kFiles[2];

std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null";
}

// A line of each: names, and values, which are empty where they are no number.
struct CsvLines {
  std::string names, values;
};

CsvLines csv_of(const Metrics& metrics) {
  CsvLines lines;
  for (const auto& [name, value] : metrics) {
    lines.names += (lines.names.empty() ? "" : ",") + name;
    lines.values +=
        (lines.values.empty() ? "" : ",") + (std::isfinite(value) ? json_number(value) : "");
  }
  lines.names += "\n";
  lines.values += "\n";
  return lines;
}

// The same values under the names that the first line of a CSV has; those without a value are
// empty.
std::string csv_line_below(std::string_view first_line, const Metrics& metrics) {
  std::istringstream names{std::string(first_line)};
  Metrics kept;
  for (std::string name; std::getline(names, name, ',');) {
    const auto same = [&](const auto& metric) { return metric.first == name; };
    const auto found = std::find_if(metrics.begin(), metrics.end(), same);
    kept.emplace_back(name, found == metrics.end() ? std::nan("") : found->second);
  }
  return csv_of(kept).values;
}

// The CSV of lines of JSON, as far as they are what append() writes.
std::string csv_of_json(const std::string& json) {
  std::istringstream lines(json);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const auto object = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!object.is_object()) break;
    Metrics metrics;
    for (const auto& [name, value] : object.items()) {
      metrics.emplace_back(name, value.is_number() ? value.get<double>() : std::nan(""));
    }
    const CsvLines csv = csv_of(metrics);
    text += (text.empty() ? csv.names : "") + csv.values;
  }
  return text;
}

}  // namespace

// Both files name the iteration first: {"iteration": 12, ... and 12,... A last line without an end
// is cut.
Status MetricsLog::truncate(uint32_t iteration) const {
  for (const char* name : {kJson, kCsv}) {
    if (!is_there(file(name))) continue;
    Result<std::string> old = read_text(file(name));
    if (!old.ok()) return old.status();
    std::istringstream lines(*old);
    std::string line, kept;
    while (std::getline(lines, line) && !lines.eof()) {
      const size_t digit = line.find_first_of("0123456789");
      if (digit == std::string::npos || std::strtoul(&line[digit], nullptr, 10) <= iteration) {
        kept += line + "\n";
      }
    }
    if (Status s = write_whole(file(name), kept); !s.ok()) return s;
  }
  if (has_content(file(kJson)) && !has_content(file(kCsv))) {
    const Result<std::string> json = read_text(file(kJson));
    if (!json.ok()) return json.status();
    if (Status s = write_whole(file(kCsv), csv_of_json(*json)); !s.ok()) return s;
  }
  if (!is_there(file(kEvents))) return {};
  Result<std::string> old = read_text(file(kEvents));
  if (!old.ok()) return old.status();
  return write_whole(file(kEvents), keep_events(*old, iteration));
}

Status MetricsLog::append(const Metrics& metrics) const {
  std::string json;
  for (const auto& [name, value] : metrics) {
    json += fmt::format("{}\"{}\": {}", json.empty() ? "{" : ", ", name, json_number(value));
  }
  if (Status s = train::append(file(kJson), json + "}\n"); !s.ok()) return s;
  if (Status s = train::append(file(kCsv), csv_lines(metrics)); !s.ok()) return s;
  return append_event(metrics);
}

std::string MetricsLog::csv_lines(const Metrics& metrics) const {
  if (!has_content(file(kCsv))) {
    const CsvLines csv = csv_of(metrics);
    return csv.names + csv.values;
  }
  std::ifstream written(file(kCsv));
  std::string first_line;
  std::getline(written, first_line);
  return csv_line_below(first_line, metrics);
}

Status MetricsLog::append_event(const Metrics& metrics) const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double seconds = std::chrono::duration<double>(now).count();
  const std::string header = has_content(file(kEvents)) ? "" : event_file_header(seconds);
  const auto step = static_cast<int64_t>(metrics.front().second);
  return train::append(file(kEvents), header + event_record(seconds, step, metrics));
}

}  // namespace placeto::train
