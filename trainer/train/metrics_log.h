// MetricsLog: the metrics of a run, in three files of its folder. Unlike its other files they are
// appended to, so what is cut short is dropped when the run continues.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/result.h"

namespace placeto::train {

// Values by name.
using Metrics = std::vector<std::pair<std::string, double>>;

class MetricsLog {
 public:
  // The last is TensorBoard's, which looks for "tfevents".
  static constexpr const char* kFiles[] = {"metrics.jsonl", "metrics.csv", "events.out.tfevents"};

  explicit MetricsLog(std::string folder) : folder_(std::move(folder)) {}

  // Drops lines and events of iterations from `iteration` on, which a run that continues there
  // writes again. A CSV that is gone is made anew of the JSON.
  Status truncate(uint32_t iteration) const;
  // One object of numbers, the iteration first. The CSV keeps the columns that its first line
  // names, whatever the version that began it.
  Status append(const Metrics& metrics) const;

 private:
  std::string file(const char* name) const { return folder_ + "/" + name; }
  std::string csv_lines(const Metrics& metrics) const;
  Status append_event(const Metrics& metrics) const;

  std::string folder_;
};

}  // namespace placeto::train
