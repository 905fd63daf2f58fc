#include "trainer/base/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <new>
#include <stdexcept>

using namespace placeto::train;

TEST_CASE("every job runs once, whatever the number of threads") {
  for (const uint32_t threads : {0u, 1u, 3u, 100u}) {
    std::vector<std::atomic<int>> runs(20);
    uint32_t last = 0;
    parallel_for(
        20, threads, [&](uint32_t i) { ++runs[i]; }, [&](uint32_t done, uint32_t) { last = done; });
    for (const auto& count : runs) CHECK(count == 1);
    CHECK(last == 20);
  }
}

TEST_CASE("what a job throws reaches the caller, and no further job begins") {
  for (const uint32_t threads : {1u, 4u}) {
    std::atomic<uint32_t> begun{0};
    const auto job = [&](uint32_t) {
      ++begun;
      throw std::bad_alloc();
    };
    CHECK_THROWS_AS(parallel_for(1'000, threads, job), std::bad_alloc);
    CHECK(begun <= threads);
    const auto report = [](uint32_t, uint32_t) { throw std::runtime_error("closed"); };
    CHECK_THROWS_AS(parallel_for(
                        8, threads, [](uint32_t) {}, report),
                    std::runtime_error);
  }
}
