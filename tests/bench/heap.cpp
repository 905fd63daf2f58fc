#include "tests/bench/heap.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {
size_t held = 0, peak = 0;
}

// The other forms of the C++ library end in these two.
void* operator new(size_t size) {
  void* memory = std::malloc(std::max<size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  held += malloc_usable_size(memory);
  peak = std::max(peak, held);
  return memory;
}

void operator delete(void* memory) noexcept {
  held -= malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, size_t /*size*/) noexcept {
  operator delete(memory);
}

namespace placeto::bench {

size_t heap_bytes() {
  return held;
}
size_t heap_peak_bytes() {
  return peak;
}
void reset_heap_peak() {
  peak = held;
}

}  // namespace placeto::bench
