// Signals that end a program, taken back until what it is doing is saved. tools/cli/interruption.h
// does so for the commands of `placeto`.
#pragma once

#include <atomic>
#include <string_view>

namespace placeto::train {

// From its making to its end; one at a time. SIGINT, SIGTERM and SIGHUP, where they are not
// ignored, set the flag and say so on standard error; a second one ends the program at once.
class StopSignals {
 public:
  // `said`: a constant, on a line of its own.
  explicit StopSignals(std::string_view said);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  const std::atomic<bool>* flag() const;
  // Of the signal that came: "SIGTERM".
  std::string_view name() const;
  // Ends the program as that signal would have, if one came: what waits for it then sees a signal,
  // a shell 128 and its number.
  void obey() const;
};

}  // namespace placeto::train
