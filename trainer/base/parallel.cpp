#include "trainer/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace placeto::train {

uint32_t thread_count(uint32_t threads) {
  return threads == 0 ? std::max(1u, std::thread::hardware_concurrency()) : threads;
}

void parallel_for(uint32_t count, uint32_t threads, const std::function<void(uint32_t)>& job,
                  const OnProgress& on_progress) {
  threads = thread_count(threads);
  std::atomic<uint32_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;  // of the following two
  uint32_t done = 0;
  std::exception_ptr first;
  const auto keep = [&](std::exception_ptr thrown) {
    const std::lock_guard lock(mutex);
    if (first == nullptr) first = std::move(thrown);
    failed = true;
  };
  // An exception that left a thread would end the process.
  const auto work = [&] {
    try {
      for (uint32_t i = next++; i < count && !failed; i = next++) {
        job(i);
        if (!on_progress) continue;
        const std::lock_guard lock(mutex);
        on_progress(++done, count);
      }
    } catch (...) {
      keep(std::current_exception());
    }
  };
  std::vector<std::thread> others;
  try {
    for (uint32_t t = 1; t < std::min(threads, count); ++t) others.emplace_back(work);
  } catch (...) {  // no more threads
    keep(std::current_exception());
  }
  work();
  for (std::thread& other : others) other.join();
  if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace placeto::train
