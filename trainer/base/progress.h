// How far a long work is, on standard error: on a terminal one line, rewritten; elsewhere, as in
// the log of a batch job, a line of its own now and then.
#pragma once

#include <chrono>
#include <cstdio>
#include <string_view>

#include "tools/report/status_line.h"
#include "trainer/base/parallel.h"

namespace placeto::train {

// On a terminal its last line is gone with the object. On one thread at a time.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;

  // Lines of a log are so far apart, and the first so far from the beginning.
  explicit ProgressLine(std::FILE* to = stderr, Clock::duration apart = std::chrono::minutes(1));

  // What a log has no line for yet is not shown there, but for what is the last.
  void show(std::string_view text, bool last = false);
  // Before something else is written.
  void clear() { line_.clear(); }

  // Shows "12/92  3 min left". Valid as long as the object.
  OnProgress callback();

 private:
  std::FILE* to_;
  StatusLine line_;
  Clock::duration apart_;
  Clock::time_point began_, shown_at_;
};

}  // namespace placeto::train
