#include "tools/costs/openvino_profile.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/graph/text.h"

namespace placeto {
namespace {

constexpr std::string_view kCounterHeading = "layerName;";
constexpr size_t kWithin = 4096;
constexpr double kMostUs = 1e15;  // some thirty years

struct CounterColumns {
  size_t time = 0, status = 0;
  double us = 1;  // of one unit of time
};

struct CountedLayer {
  std::string name;
  double total_us = 0;
  uint32_t rows = 0;
  bool ran = false;
};

std::vector<std::string_view> split_counters(std::string_view line) {
  std::vector<std::string_view> fields;
  for (size_t end; (end = line.find(';')) != std::string_view::npos;) {
    fields.push_back(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  fields.push_back(line);
  return fields;
}

class CounterReader {
 public:
  // A failure is about this line.
  Status read(std::string_view line) {
    if (line.starts_with(kCounterHeading)) return begin_table(split_counters(line));
    if (!columns_) return {};
    if (line.empty() || line.starts_with("Total;") || line == "Total") {
      columns_.reset();
      return {};
    }
    return add_row(split_counters(line));
  }

  Result<Profile> finish() const {
    Profile profile;
    for (const CountedLayer& layer : layers_) {
      profile.runs = std::max(profile.runs, layer.rows);
      if (!layer.ran) continue;
      ProfiledNode& node = profile.nodes.emplace_back();
      node.name = layer.name;
      node.index = kNoIndex;
      node.median_us = layer.total_us / layer.rows;
    }
    if (!profile.nodes.empty()) return profile;
    return Status::bad_input("holds no layer that ran, expected counters of OpenVINO");
  }

 private:
  Status begin_table(const std::vector<std::string_view>& fields) {
    CounterColumns columns;
    for (size_t i = 1; i < fields.size(); ++i) {
      if (fields[i] == "execStatus") columns.status = i;
      if (fields[i] != "realTime (ms)" && fields[i] != "realTime (us)") continue;
      columns.time = i;
      columns.us = fields[i] == "realTime (ms)" ? 1000 : 1;
    }
    if (columns.time == 0 || columns.status == 0) {
      return Status::bad_input(
          "a heading without both \"execStatus\" and \"realTime (ms)\" or \"realTime (us)\", "
          "expected them");
    }
    columns_ = columns;
    return {};
  }

  Status add_row(const std::vector<std::string_view>& fields) {
    const size_t last = std::max(columns_->time, columns_->status);
    if (fields.size() <= last || fields[0].empty()) {
      return Status::bad_input("has " + std::to_string(fields.size()) +
                               " fields, expected a layer and at least " +
                               std::to_string(last + 1));
    }
    const std::string_view text = fields[columns_->time];
    double time = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(time >= 0 && time * columns_->us <= kMostUs)) {
      return Status::bad_input(in_quotes(text) + " is not a time, expected a number from 0");
    }
    const auto [at, fresh] = place_.emplace(fields[0], layers_.size());
    if (fresh) layers_.push_back({std::string(fields[0])});
    CountedLayer& layer = layers_[at->second];
    layer.total_us += time * columns_->us;
    ++layer.rows;
    layer.ran = layer.ran || fields[columns_->status].ends_with("EXECUTED");
    return {};
  }

  std::optional<CounterColumns> columns_;  // of the table that is being read
  std::vector<CountedLayer> layers_;
  std::map<std::string, size_t> place_;
};

}  // namespace

bool looks_like_openvino_profile(std::string_view text) {
  if (text.starts_with(kCounterHeading)) return true;
  return text.substr(0, kWithin).find("\n" + std::string(kCounterHeading)) !=
         std::string_view::npos;
}

Result<Profile> parse_openvino_profile(std::string_view text) {
  CounterReader reader;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (Status s = reader.read(line); !s.ok()) return s.at("line " + std::to_string(number));
  }
  return reader.finish();
}

}  // namespace placeto
