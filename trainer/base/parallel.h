// Independent jobs on several threads. Results must not depend on which thread runs which job.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace placeto::train {

// How many jobs are done, of how many.
using OnProgress = std::function<void(uint32_t done, uint32_t total)>;

// How many threads are meant: 0 is one per processor.
uint32_t thread_count(uint32_t threads);

// job(0) .. job(count - 1), each once; 0 threads: one per processor. on_progress, if any, is called
// after each, on one thread at a time. What a job throws first is thrown here, once the jobs that
// had begun are done; no others begin.
void parallel_for(uint32_t count, uint32_t threads, const std::function<void(uint32_t)>& job,
                  const OnProgress& on_progress = {});

// What the jobs return, in their order, without those that return nothing.
template <class T>
std::vector<T> parallel_collect(uint32_t count, uint32_t threads,
                                const std::function<std::optional<T>(uint32_t)>& job,
                                const OnProgress& on_progress = {}) {
  std::vector<std::optional<T>> found(count);
  parallel_for(
      count, threads, [&](uint32_t i) { found[i] = job(i); }, on_progress);
  std::vector<T> kept;
  for (std::optional<T>& one : found) {
    if (one) kept.push_back(std::move(*one));
  }
  return kept;
}

}  // namespace placeto::train
