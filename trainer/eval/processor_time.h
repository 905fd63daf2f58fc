// Processor time of the calling thread: other programs on the machine do not count.
#pragma once

#include <time.h>

namespace placeto::train {

class ProcessorTime {
 public:
  double milliseconds() const { return now() - start_; }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
  }
  double start_ = now();
};

}  // namespace placeto::train
