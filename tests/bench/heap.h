// How much memory the program holds through operator new: now, and at most since the last reset.
// Linking heap.cpp replaces operator new and delete. Counts without locks: for one thread only.
#pragma once

#include <cstddef>

namespace placeto::bench {

size_t heap_bytes();
size_t heap_peak_bytes();
void reset_heap_peak();

}  // namespace placeto::bench
