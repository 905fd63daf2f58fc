// Dense math behind one small interface: everything a policy network computes that costs time.
//
// Two implementations. The portable one is written so that every number it returns is the same sum
// in the same order on every machine: bias first, then inputs 0, 1, 2, ..., one multiplication and
// one addition each, vectorised over outputs and never over inputs. oneDNN chooses order and fused
// multiply-adds by instruction set, so its last bits differ between machines, and so may an arg max
// over what it computes. Placing therefore uses kPortable unless the caller gives that promise up;
// README.md has the measurements that say how little this costs. For exact-sum networks (grid.h)
// every choice returns the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace placeto {

enum class Activation : uint8_t { kNone, kRelu };  // kRelu: x > 0 ? x : 0, so NaN becomes 0

enum class KernelChoice : uint8_t {
  kAuto,      // whichever is faster for the shape, by measurement
  kPortable,  // always portable loops: the same bits on every machine
  kOneDnn,    // oneDNN for every shape; portable loops where it cannot run (see Kernels)
};

// One fully connected layer. Does not own the numbers it points to.
struct DenseLayer {
  uint32_t inputs = 0;             // K
  uint32_t outputs = 0;            // N
  const float* weights = nullptr;  // K x N, row-major, contiguous
  const float* bias = nullptr;     // N
  Activation activation = Activation::kNone;
};

class OneDnnDense;
using DenseFunction = void (*)(const DenseLayer& layer, const float* x, size_t x_stride, float* y,
                               size_t y_stride, uint32_t rows);

// Executes layers. Owns what an implementation caches (oneDNN: one primitive per shape), so keep
// one per placer and use it from one thread at a time.
//
// Creates no threads: oneDNN runs inside a scope that limits OpenMP to the calling thread, and is
// not used at all where its threading cannot be limited that way.
class Kernels {
 public:
  explicit Kernels(KernelChoice choice);
  ~Kernels();
  Kernels(Kernels&&) noexcept;
  Kernels& operator=(Kernels&&) noexcept;

  // y[rows x N] = activation(x[rows x K] * weights + bias). Strides are the distances between rows
  // in floats: x_stride >= K, y_stride >= N. y must not overlap x, weights or bias. Allocates only
  // when oneDNN meets a shape for the first time.
  //
  // The portable sum starts at the bias and runs over the inputs in order, so a layer over
  // concatenated inputs [a | b] may be computed in two steps with equal bits: first a with the
  // rows of the weights that belong to it and no activation, then b with that result as its bias.
  void dense(const DenseLayer& layer, const float* x, size_t x_stride, float* y, size_t y_stride,
             uint32_t rows);

  // Which implementation dense() asks first for this shape: kPortable or kOneDnn.
  KernelChoice choose(const DenseLayer& layer, uint32_t rows) const;

  // True if this build and machine can run oneDNN under the conditions above.
  static bool onednn_available();
  // Shapes for which a oneDNN primitive exists; at most kMaxPrimitives, further shapes run
  // portably.
  size_t cached_primitives() const;
  static constexpr size_t kMaxPrimitives = 64;

 private:
  KernelChoice choice_;
  DenseFunction portable_;
  std::unique_ptr<OneDnnDense> onednn_;  // null: not wanted or not available
};

}  // namespace placeto
