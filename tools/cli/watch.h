// What ends a command before it is done: --deadline-ms and Ctrl-C.
#pragma once

#include <chrono>

#include "runtime/base/stop.h"
#include "runtime/heuristics/method.h"

namespace placeto::cli {

// From its making to its end. The first Ctrl-C stops what looks at it; a second ends the program.
// People who wait for more than a second are told the best so far and how long it will take.
class Watch {
 public:
  // 0: no deadline. `budget`: of the search that looks at it. `listens`: to Ctrl-C.
  Watch(double deadline_ms, const Budget& budget, bool listens);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Whether Ctrl-C was pressed while any of them listened.
  static bool interrupted();
  Stop& stop() { return stop_; }
  // Until the deadline; 0 once it is over, or Ctrl-C was pressed.
  double left_ms() const;
  // Takes what it told people off the terminal again.
  void clear();
  // What is left to do ends with the program: Ctrl-C does that from now on.
  void stop_listening();

 private:
  static bool ask(void* watch) { return static_cast<Watch*>(watch)->look(); }
  bool look();
  double elapsed_ms() const;
  double expected_ms(double now_ms) const;
  void show(double now_ms);

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double deadline_ms_, search_began_ms_ = -1, shown_at_ms_ = 0;
  Budget budget_;
  bool listens_, is_shown_;
  Stop stop_;
};

}  // namespace placeto::cli
