// Signals that end a program, taken back until what it had begun to write is removed.
#pragma once

#include <atomic>

namespace placeto::cli {

// From its making to its end; one at a time. SIGINT, SIGTERM and SIGHUP set the flag; the second of
// a kind ends the program, whatever is left then.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  const std::atomic<bool>* flag() const;
  // Ends the program as the signal would have, if one came.
  void obey() const;

  // The same, whether one of them is there or has been.
  static bool came();
  static const char* name();  // "Ctrl-C", "SIGTERM" or "SIGHUP"
  static bool is_ctrl_c();    // and not a signal that wants the program gone
  static void obey_what_came();
};

}  // namespace placeto::cli
