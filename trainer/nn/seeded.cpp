#include "trainer/nn/seeded.h"

#include <dlfcn.h>

namespace placeto::train {

// at::set_num_threads does not reach OpenBLAS, whose threads each add up a part of a sum. LibTorch
// may have been built with another library: then there is no such function.
void compute_with_one_thread() {
  at::set_num_threads(1);
  using SetThreads = void (*)(int);
  void* const function = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
  if (function != nullptr) reinterpret_cast<SetThreads>(function)(1);
}

}  // namespace placeto::train
