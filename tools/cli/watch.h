// What ends a command before it is done: --deadline-ms and signals.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/progress.h"
#include "runtime/base/stop.h"
#include "runtime/heuristics/method.h"
#include "tools/cli/common.h"
#include "tools/io/interruption.h"
#include "tools/report/status_line.h"

namespace placeto::cli {

// From its making to its end. The first Ctrl-C, SIGTERM or SIGHUP stops what looks at it; a second
// ends the program.
// People who wait for more than a second are told the best so far and how long it will take.
class Watch {
 public:
  // 0: no deadline. `budget`: of the search that looks at it. `listens`: to signals.
  Watch(double deadline_ms, const Budget& budget, bool listens);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Whether a signal came while any of them listened.
  static bool interrupted() { return Interruption::came(); }
  Stop& stop() { return stop_; }
  PlacingProgress& progress() { return progress_; }  // of the placing that looks at it
  // Until the deadline; 0 once it is over, or a signal came.
  double left_ms() const;
  // From now on people are told how many of so many things are done, not how the placing goes.
  void counts(std::string_view verb, size_t total);
  void note_done(size_t count) { done_ = count; }
  // Takes what it told people off the terminal, and tells nothing more.
  void be_quiet();
  // What is left to do ends with the program: signals do that from now on.
  void stop_listening() { signals_.reset(); }

 private:
  static bool ask(void* watch) { return static_cast<Watch*>(watch)->look(); }
  bool look();
  double elapsed_ms() const;
  double expected_ms(double now_ms) const;
  std::string placing_text(double now_ms) const;
  std::string counting_text(double now_ms) const;

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double deadline_ms_, search_began_ms_ = -1, counts_since_ms_ = 0, shown_at_ms_ = 0;
  Budget budget_;
  bool is_quiet_ = false;
  std::optional<Interruption> signals_;
  StatusLine line_;
  std::string verb_;  // of what it counts; none: it watches a placing
  size_t done_ = 0, total_ = 0;
  PlacingProgress progress_;
  Stop stop_;
};

}  // namespace placeto::cli
