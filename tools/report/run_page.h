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

// A tensor that passes from one stage to another.
struct RunCut {
  std::string name;
  uint32_t from = 0, to = 0;  // stages
  uint64_t bytes = 0;
  double wait_us = 0, predicted_wait_us = -1;  // predicted < 0: nothing was predicted
};

struct RunReport {
  std::string title;
  std::vector<std::string> remarks;  // that follow the times in the sentence at the top
  std::vector<std::string> devices;
  std::vector<RunStage> stages;
  std::vector<RunCut> cuts;
  double measured_us = 0, predicted_us = 0;                // of a request
  std::vector<std::pair<std::string, std::string>> facts;  // what else is known, as text
  std::string note;                                        // below the timelines; "": none
};

// As the page writes times: "174.1 µs".
std::string page_time(double us);

// Needs no network and no script. Both timelines have one scale; a bar has the number of its stage
// and its time where they fit, and a stage says all its times when the pointer rests on it, and in
// the table below.
std::string run_page(const RunReport& report);

}  // namespace placeto
