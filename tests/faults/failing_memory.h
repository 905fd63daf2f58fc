// Replaces operator new in the program that it is linked into, so that one of the
// main thread's allocations fails; nothing else runs.
#pragma once

#include <cstdint>

namespace placeto::test {

struct FailingMemory {
  uint64_t fail_in = 0;  // counts down to the allocation that fails; 0: none does
  bool has_failed = false, has_thrown = false;
  uint64_t asked = 0;  // allocations so far
  int64_t alive = 0;   // those not freed yet
};
extern FailingMemory failing_memory;

}  // namespace placeto::test
