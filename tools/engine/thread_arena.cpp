#include "tools/engine/thread_arena.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace placeto {
namespace {

constexpr size_t kBlockAlignment = 64;
// Sizes are rounded up to four steps per doubling, from 256 bytes on: at most a quarter is lost.
// In powers of two: the least size, the largest, and the steps per doubling.
constexpr size_t kSmallest = 8, kLargest = 46, kStepBits = 2;
constexpr size_t kSteps = size_t{1} << kStepBits;
constexpr size_t kSizes = (kLargest - kSmallest) * kSteps + 1;
// A larger block is taken rather than a new one up to nearly twice the size.
constexpr size_t kStepsTooLarge = kSteps - 1;

class Arena;

// In front of every block.
struct alignas(kBlockAlignment) Header {
  Arena* arena = nullptr;
  Header* next = nullptr;  // free block of the same size, freed before this one
  size_t size = 0;         // index of its size

  void* memory() { return this + 1; }
};

constexpr size_t bytes_of(size_t size) {
  return (kSteps + size % kSteps) << (kSmallest - kStepBits + size / kSteps);
}

// The least size that has room; kSizes or more if none has.
size_t size_for(size_t bytes) {
  if (bytes <= bytes_of(0)) return 0;
  // 2^doubling < bytes <= 2^(doubling + 1)
  const size_t doubling = static_cast<size_t>(std::bit_width(bytes - 1)) - 1;
  const size_t steps = (bytes - 1) >> (doubling - kStepBits);
  return (doubling - kSmallest) * kSteps + steps - kSteps + 1;
}

class Arena {
 public:
  void* allocate(size_t size);
  void release(Header* block);
  void open();
  void close();  // its thread has ended: nothing stays free in it

 private:
  std::mutex mutex_;  // others ask for it only when they free what this thread allocated
  std::array<Header*, kSizes> free_{};
  bool open_ = false;
};

void* Arena::allocate(size_t size) {
  {
    const std::lock_guard lock(mutex_);
    for (size_t s = size; s < std::min(kSizes, size + 1 + kStepsTooLarge); ++s) {
      if (Header* block = free_[s]) {
        free_[s] = block->next;
        return block->memory();
      }
    }
  }
  void* memory = std::aligned_alloc(kBlockAlignment, sizeof(Header) + bytes_of(size));
  if (memory == nullptr) return nullptr;
  return (new (memory) Header{this, nullptr, size})->memory();
}

void Arena::release(Header* block) {
  const std::lock_guard lock(mutex_);
  if (!open_) return std::free(block);
  block->next = free_[block->size];
  free_[block->size] = block;
}

void Arena::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
}

void Arena::close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
  for (Header*& first : free_) {
    while (Header* block = first) {
      first = block->next;
      std::free(block);
    }
  }
}

// Arenas that no thread has. Blocks outlive their threads, and arenas their blocks: an arena is
// never destroyed, but goes to the next thread.
struct Idle {
  std::mutex mutex;
  std::vector<Arena*> arenas;
};

Idle& idle() {
  static Idle* const instance = new Idle;
  return *instance;
}

Arena* take_arena() {
  const std::lock_guard lock(idle().mutex);
  if (idle().arenas.empty()) return new Arena;
  Arena* arena = idle().arenas.back();
  idle().arenas.pop_back();
  return arena;
}

class Lease {
 public:
  Lease() : arena(take_arena()) { arena->open(); }
  ~Lease() {
    arena->close();
    const std::lock_guard lock(idle().mutex);
    idle().arenas.push_back(arena);
  }
  Arena* const arena;
};

Arena& arena_of_this_thread() {
  thread_local Arena* arena = nullptr;  // past the end of the lease too: the arena is closed then
  if (arena == nullptr) {
    thread_local const Lease lease;
    arena = lease.arena;
  }
  return *arena;
}

}  // namespace

void* arena_allocate(size_t bytes) {
  const size_t size = size_for(bytes);
  return size < kSizes ? arena_of_this_thread().allocate(size) : nullptr;
}

void arena_release(void* memory) {
  if (memory == nullptr) return;
  Header* block = static_cast<Header*>(memory) - 1;
  block->arena->release(block);
}

}  // namespace placeto
