// One HTML page about a placed model that has run: the measured timeline above the predicted one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace placeto {

// Times in microseconds from the start of the request.
struct RunStage {
  std::string name;
  uint32_t device = 0;
  double measured_start_us = 0, measured_us = 0;
  double predicted_start_us = 0, predicted_us = 0;  // predicted_us 0: nothing was predicted
};

struct RunReport {
  std::string title;
  std::vector<std::string> devices;
  std::vector<RunStage> stages;
  double measured_us = 0, predicted_us = 0;                // of a request
  std::vector<std::pair<std::string, std::string>> facts;  // what else is known, as text
};

// Needs no network and no script. Both timelines have one scale; a stage says its times when the
// pointer rests on it, and in the table below.
std::string run_page(const RunReport& report);

}  // namespace placeto
