#include "tools/engine/cores.h"

#include <algorithm>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace placeto {

#ifdef __linux__
namespace {

// Empty where there are more cores than a set has room for (1,024).
cpu_set_t allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}

}  // namespace

unsigned usable_cores() {
  const cpu_set_t allowed = allowed_cores();
  const int count = CPU_COUNT(&allowed);
  return count > 0 ? static_cast<unsigned>(count)
                   : std::max(1u, std::thread::hardware_concurrency());
}

int this_core() {
  return sched_getcpu();
}

void leave_cores(std::span<const int> taken) {
  thread_local const cpu_set_t allowed = allowed_cores();
  cpu_set_t left = allowed;
  for (const int core : taken) {
    if (core >= 0 && core < CPU_SETSIZE) CPU_CLR(core, &left);
  }
  if (CPU_COUNT(&left) > 0) sched_setaffinity(0, sizeof left, &left);
}

#else

unsigned usable_cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

int this_core() {
  return -1;
}

void leave_cores(std::span<const int>) {}

#endif

}  // namespace placeto
