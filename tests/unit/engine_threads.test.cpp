// What threads of the runner have to themselves: memory and cores.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "tools/engine/cores.h"
#include "tools/engine/thread_arena.h"

namespace placeto {
namespace {

// On a thread of its own, which has ended when this returns.
template <class Run>
void elsewhere(const Run& run) {
  std::thread(run).join();
}

TEST_CASE("blocks are aligned, as long as asked for, and apart") {
  std::vector<std::pair<unsigned char*, size_t>> blocks;
  for (size_t bytes = 1; bytes < 40'000'000; bytes += 1 + bytes / 3) {
    for (const size_t size : {bytes, bytes + 1}) {
      auto* block = static_cast<unsigned char*>(arena_allocate(size));
      REQUIRE(block != nullptr);
      CHECK(reinterpret_cast<uintptr_t>(block) % 64 == 0);
      std::memset(block, static_cast<int>(blocks.size()), size);
      blocks.emplace_back(block, size);
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [block, size] = blocks[i];
    CHECK(block[0] == static_cast<unsigned char>(i));
    CHECK(block[size - 1] == static_cast<unsigned char>(i));
    arena_release(block);
  }
}

TEST_CASE("a thread gets again what it freed last, and nobody else does") {
  elsewhere([] {
    void* first = arena_allocate(1000);
    void* second = arena_allocate(1000);
    arena_release(first);
    arena_release(second);
    elsewhere([&] {
      void* other = arena_allocate(1000);
      CHECK(other != first);
      CHECK(other != second);
      arena_release(other);
    });
    CHECK(arena_allocate(1010) == second);
    CHECK(arena_allocate(700) == first);  // large enough, and not by far too large
    arena_release(first);
    void* small = arena_allocate(100);
    CHECK(small != first);
    arena_release(small);
    arena_release(second);
  });
}

TEST_CASE("a block goes back to the thread it came from, whoever frees it, even to none") {
  elsewhere([] {
    void* block = arena_allocate(5000);
    elsewhere([&] { arena_release(block); });
    CHECK(arena_allocate(5000) == block);
    arena_release(block);
  });
  void* orphan = nullptr;
  elsewhere([&] { orphan = arena_allocate(5000); });
  std::memset(orphan, 1, 5000);
  arena_release(orphan);
  arena_release(nullptr);
}

TEST_CASE("more memory than there is is refused") {
  CHECK(arena_allocate(SIZE_MAX) == nullptr);
  CHECK(arena_allocate(SIZE_MAX / 2) == nullptr);
  CHECK(arena_allocate(size_t{1} << 60) == nullptr);
}

TEST_CASE("a thread leaves the cores that others have, and stays where all are taken") {
  elsewhere([] {
    const int core = this_core();
    if (core < 0 || usable_cores() < 2) return;
    leave_cores(std::vector{core});
    CHECK(this_core() != core);
    const int now = this_core();
    leave_cores(std::vector{now});  // back to the first, or to any other
    CHECK(this_core() != now);
    std::vector<int> all;
    for (int c = 0; c < 1024; ++c) all.push_back(c);
    leave_cores(all);
    CHECK(this_core() != now);
  });
}

}  // namespace
}  // namespace placeto
