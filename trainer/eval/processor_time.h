// Processor time of the calling thread: other programs on the machine do not count.
#pragma once

#include <sys/resource.h>
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

// The same of the child processes that have ended.
class ChildrensTime {
 public:
  double milliseconds() const { return now() - start_; }

 private:
  static double now() {
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    const auto ms = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
    };
    return ms(used.ru_utime) + ms(used.ru_stime);
  }
  double start_ = now();
};

}  // namespace placeto::train
