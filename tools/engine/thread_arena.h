// Memory of the engine's sessions, kept by the thread that uses it.
//
// One arena for the whole process, the engine's own way to share one, has one lock: two devices
// that compute at the same time ask for memory at the same time, one falls asleep, and operators of
// 10 us take 50. An arena for each session has no such lock, but a stage then works in memory that
// has left the cache since its last run. An arena for each thread has neither fault: what a stage
// has freed is still in its core's cache when the next stage of the device asks for memory.
#pragma once

#include <cstddef>

namespace placeto {

// At least `bytes`, aligned to 64, not cleared; nullptr if there is no memory.
void* arena_allocate(size_t bytes);

// Takes back what arena_allocate() gave, from any thread, into the arena it came from; nothing for
// nullptr. An arena keeps what is free for as long as its thread lives.
void arena_release(void* memory);

}  // namespace placeto
