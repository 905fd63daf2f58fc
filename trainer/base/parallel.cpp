#include "trainer/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace placeto::train {

void parallel_for(uint32_t count, uint32_t threads, const std::function<void(uint32_t)>& job,
                  const OnProgress& on_progress) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  std::atomic<uint32_t> next{0};
  std::mutex progress;
  uint32_t done = 0;
  const auto work = [&] {
    for (uint32_t i = next++; i < count; i = next++) {
      job(i);
      if (!on_progress) continue;
      const std::lock_guard lock(progress);
      on_progress(++done, count);
    }
  };
  std::vector<std::thread> others;
  for (uint32_t t = 1; t < std::min(threads, count); ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

}  // namespace placeto::train
