// Networks whose drawn weights depend on their seed alone. For files that see LibTorch.
#pragma once

#include <torch/torch.h>

#include <mutex>

namespace placeto::train {

inline std::mutex g_drawing;  // held by who draws from LibTorch's generator

// LibTorch, and what multiplies matrices for it, from now on: sums are the same on every machine,
// however many processors it has.
void compute_with_one_thread();

// What `make` makes, its weights drawn by seed. LibTorch's generator is one for the process, so
// those that make networks on several threads take turns. LibTorch computes with one thread from
// then on.
template <class Make>
auto make_seeded(uint64_t seed, const Make& make) {
  const std::lock_guard lock(g_drawing);
  compute_with_one_thread();
  torch::manual_seed(seed);
  return make();
}

}  // namespace placeto::train
