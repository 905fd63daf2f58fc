#include "runtime/policy/net/kernels.h"

#include "runtime/policy/net/dense_portable.h"
#if PLACETO_ONEDNN
#include "runtime/policy/net/onednn_dense.h"
#endif

namespace placeto {

#if !PLACETO_ONEDNN
class OneDnnDense {};  // a build without oneDNN never makes one
#endif

Kernels::Kernels(KernelChoice choice)
    : choice_(choice), portable_(portable_dense_variants().back().run) {
#if PLACETO_ONEDNN
  if (choice != KernelChoice::kPortable) onednn_ = OneDnnDense::create();
#endif
}
Kernels::~Kernels() = default;
Kernels::Kernels(Kernels&&) noexcept = default;
Kernels& Kernels::operator=(Kernels&&) noexcept = default;

void Kernels::dense(const DenseLayer& layer, const float* x, size_t x_stride, float* y,
                    size_t y_stride, uint32_t rows) {
#if PLACETO_ONEDNN
  if (choose(layer, rows) == KernelChoice::kOneDnn &&
      onednn_->run(layer, x, x_stride, y, y_stride, rows)) {
    return;
  }
#endif
  portable_(layer, x, x_stride, y, y_stride, rows);
}

KernelChoice Kernels::choose(const DenseLayer& layer, uint32_t rows) const {
  // An empty matrix is no work for either, and not every version of oneDNN takes one.
  if (!onednn_ || rows == 0 || layer.inputs == 0) return KernelChoice::kPortable;
  if (choice_ == KernelChoice::kOneDnn) return KernelChoice::kOneDnn;
  // Measured (README.md): a call of oneDNN costs 0.3 us before it computes anything and a new shape
  // 0.2 ms; from 256 rows of 16 x 32 on it is 1.2 to 1.5 times as fast as the portable loops.
  constexpr uint32_t kMinRows = 256, kMinOutputs = 16;
  constexpr uint64_t kMinProduct = 512;
  const bool large = rows >= kMinRows && layer.outputs >= kMinOutputs &&
                     uint64_t{layer.inputs} * layer.outputs >= kMinProduct;
  return large ? KernelChoice::kOneDnn : KernelChoice::kPortable;
}

bool Kernels::onednn_available() {
#if PLACETO_ONEDNN
  return OneDnnDense::available();
#else
  return false;
#endif
}

size_t Kernels::cached_primitives() const {
#if PLACETO_ONEDNN
  if (onednn_) return onednn_->cached_primitives();
#endif
  return 0;
}

}  // namespace placeto
