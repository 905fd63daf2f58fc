// How far a long work is: one line on standard error, rewritten, and only on a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "trainer/base/parallel.h"

namespace placeto::train {

// "h:mm:ss".
std::string duration(double seconds);

// Shows "12/92  0:03:20 left"; gone with the object. On one thread at a time.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void clear() const;

  // Empty where nothing is shown. Valid as long as the object.
  OnProgress callback();

 private:
  void show(uint32_t done, uint32_t total);

  bool shown_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace placeto::train
