// Private to the kernels: the dense layer on oneDNN (https://uxlfoundation.github.io/oneDNN).
// oneDNN's own types stay in the .cpp.
#pragma once

#include <memory>

#include "runtime/policy/net/kernels.h"

namespace placeto {

class OneDnnDense {
 public:
  // False if oneDNN was built with threads that cannot be kept to the calling one.
  static bool available();
  // nullptr if not available or if oneDNN has no engine for this processor.
  static std::unique_ptr<OneDnnDense> create();
  ~OneDnnDense();

  // Like Kernels::dense. False: oneDNN cannot run this shape, or the cache is full; y is unchanged
  // or partly written.
  bool run(const DenseLayer& layer, const float* x, size_t x_stride, float* y, size_t y_stride,
           uint32_t rows);
  size_t cached_primitives() const;

 private:
  struct State;
  explicit OneDnnDense(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace placeto
