// Signals that end a program, taken back until what it had begun to write is saved or removed.
#pragma once

#include <atomic>
#include <string_view>

namespace placeto {

// From its making to its end; one at a time. The first SIGINT, SIGTERM or SIGHUP that is not
// ignored sets the flag; a second, of whatever kind, ends the program at once, as the first would
// have. Within half a second it is taken for the same request: `timeout` and service managers
// signal a process and then its group.
class Interruption {
 public:
  // `said` on standard error when it comes: a constant.
  explicit Interruption(std::string_view said = {});
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  const std::atomic<bool>* flag() const;

  // Of the first that came, whether there is an Interruption yet or still.
  static bool came();
  static const char* name();  // "Ctrl-C", "SIGTERM" or "SIGHUP"
  static bool is_ctrl_c();    // and not a signal that wants the program gone
  // Ends the program as the signal would have, if one came: what waits for it then sees a signal, a
  // shell 128 and its number.
  static void obey();
};

}  // namespace placeto
