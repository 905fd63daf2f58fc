#include "tests/faults/failing_memory.h"

#include <cstdlib>
#include <new>

namespace placeto::test {

FailingMemory failing_memory;

namespace {

void* allocate(size_t bytes, size_t alignment = 0) noexcept {
  FailingMemory& state = failing_memory;
  ++state.asked;
  if (state.fail_in != 0 && --state.fail_in == 0) {
    state.has_failed = true;
    return nullptr;
  }
  void* memory = nullptr;
  if (alignment == 0) {
    memory = std::malloc(bytes == 0 ? 1 : bytes);
  } else {
    memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  }
  if (memory != nullptr) ++state.alive;
  return memory;
}

void* allocate_or_throw(size_t bytes, size_t alignment = 0) {
  void* memory = allocate(bytes, alignment);
  if (memory != nullptr) return memory;
  failing_memory.has_thrown = true;
  if (const std::new_handler handler = std::get_new_handler()) handler();  // it throws, or notes
  throw std::bad_alloc();
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  --failing_memory.alive;
  std::free(memory);
}

}  // namespace
}  // namespace placeto::test

using placeto::test::allocate;
using placeto::test::allocate_or_throw;
using placeto::test::release;

void* operator new(size_t bytes) {
  return allocate_or_throw(bytes);
}
void* operator new[](size_t bytes) {
  return allocate_or_throw(bytes);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
