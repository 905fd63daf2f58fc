// Independent jobs on several threads. Results must not depend on which thread runs which job.
#pragma once

#include <cstdint>
#include <functional>

namespace placeto::train {

// job(0) .. job(count - 1), each once; 0 threads: one per processor.
void parallel_for(uint32_t count, uint32_t threads, const std::function<void(uint32_t)>& job);

}  // namespace placeto::train
