// The dense layer as a oneDNN matmul with bias and ReLU, through the C API: the C++ one throws.
//
// Threads. Distributions build oneDNN on OpenMP, and a primitive runs on as many threads as OpenMP
// allows at that moment. The limit is a per-thread setting of OpenMP (its nthreads-var belongs to
// the calling thread's task), so SingleThread below lowers it around each call and restores it:
// no thread is created, no other thread of the host is affected. The two functions are declared
// weak and come from whichever OpenMP library oneDNN itself brought; naming one to link would risk
// a second one. Without them, or with oneDNN on TBB or a thread pool, available() is false.
#include "runtime/policy/net/onednn_dense.h"

#include <oneapi/dnnl/dnnl.h>

#include <vector>

extern "C" {
int omp_get_max_threads() __attribute__((weak));
void omp_set_num_threads(int threads) __attribute__((weak));
}

namespace placeto {
namespace {

class SingleThread {
 public:
  SingleThread() {
    if (omp_set_num_threads == nullptr) return;
    before_ = omp_get_max_threads();
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~SingleThread() {
    if (before_ > 1) omp_set_num_threads(before_);
  }
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int before_ = 1;
};

// Everything that a primitive depends on. Weights and bias are arguments, not part of it.
struct Shape {
  uint32_t rows, inputs, outputs;
  size_t x_stride, y_stride;
  Activation activation;
  friend bool operator==(const Shape&, const Shape&) = default;
};

// A two-dimensional float matrix description; 3.x made the type opaque.
class Matrix {
 public:
  Matrix(uint32_t rows, uint32_t columns, size_t stride) {
    const dnnl_dims_t dims = {rows, columns};
    const dnnl_dims_t strides = {static_cast<dnnl_dim_t>(stride), 1};
#if DNNL_VERSION_MAJOR >= 3
    ok_ = dnnl_memory_desc_create_with_strides(&desc_, 2, dims, dnnl_f32, strides) == dnnl_success;
#else
    ok_ = dnnl_memory_desc_init_by_strides(&desc_, 2, dims, dnnl_f32, strides) == dnnl_success;
#endif
  }
#if DNNL_VERSION_MAJOR >= 3
  ~Matrix() {
    dnnl_memory_desc_destroy(desc_);
  }
  const_dnnl_memory_desc_t get() const {
    return desc_;
  }
#else
  const dnnl_memory_desc_t* get() const {
    return &desc_;
  }
#endif
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  bool ok() const {
    return ok_;
  }

 private:
  dnnl_memory_desc_t desc_{};
  bool ok_;
};

dnnl_status_t append_relu(dnnl_post_ops_t ops) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0, 0);
#else
  return dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_relu, 0, 0);
#endif
}

// Whatever the process or its environment has as a default: floats are not rounded to fewer bits.
// Versions before 2.5 never do.
dnnl_status_t keep_all_bits([[maybe_unused]] dnnl_primitive_attr_t attributes) {
#if DNNL_VERSION_MAJOR > 2 || (DNNL_VERSION_MAJOR == 2 && DNNL_VERSION_MINOR >= 5)
  return dnnl_primitive_attr_set_fpmath_mode(attributes, dnnl_fpmath_mode_strict);
#else
  return dnnl_success;
#endif
}

// nullptr on failure. The attribute copies the operations it is given.
dnnl_primitive_attr_t create_attributes(Activation activation) {
  dnnl_primitive_attr_t attributes = nullptr;
  if (dnnl_primitive_attr_create(&attributes) != dnnl_success) return nullptr;
  bool ok = keep_all_bits(attributes) == dnnl_success;
  if (activation == Activation::kRelu) {
    dnnl_post_ops_t ops = nullptr;
    ok = ok && dnnl_post_ops_create(&ops) == dnnl_success && append_relu(ops) == dnnl_success &&
         dnnl_primitive_attr_set_post_ops(attributes, ops) == dnnl_success;
    dnnl_post_ops_destroy(ops);
  }
  if (ok) return attributes;
  dnnl_primitive_attr_destroy(attributes);
  return nullptr;
}

dnnl_status_t describe_matmul(dnnl_primitive_desc_t* out, dnnl_engine_t engine, const Matrix& x,
                              const Matrix& weights, const Matrix& bias, const Matrix& y,
                              const_dnnl_primitive_attr_t attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_matmul_primitive_desc_create(out, engine, x.get(), weights.get(), bias.get(), y.get(),
                                           attributes);
#else
  dnnl_matmul_desc_t matmul;
  const dnnl_status_t status =
      dnnl_matmul_desc_init(&matmul, x.get(), weights.get(), bias.get(), y.get());
  if (status != dnnl_success) return status;
  return dnnl_primitive_desc_create(out, &matmul, attributes, engine, nullptr);
#endif
}

// One compiled shape with the four memory objects its calls point at their data.
struct Primitive {
  explicit Primitive(const Shape& s) : shape(s) {}
  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;
  ~Primitive() {
    for (dnnl_memory_t m : memory) dnnl_memory_destroy(m);
    dnnl_primitive_destroy(matmul);
  }

  bool compile(dnnl_engine_t engine) {
    const Matrix x(shape.rows, shape.inputs, shape.x_stride);
    const Matrix weights(shape.inputs, shape.outputs, shape.outputs);
    const Matrix bias(1, shape.outputs, shape.outputs);
    const Matrix y(shape.rows, shape.outputs, shape.y_stride);
    if (!x.ok() || !weights.ok() || !bias.ok() || !y.ok()) return false;
    dnnl_primitive_attr_t attributes = create_attributes(shape.activation);
    if (attributes == nullptr) return false;
    dnnl_primitive_desc_t desc = nullptr;
    bool ok = describe_matmul(&desc, engine, x, weights, bias, y, attributes) == dnnl_success &&
              dnnl_primitive_create(&matmul, desc) == dnnl_success;
    dnnl_primitive_desc_destroy(desc);
    dnnl_primitive_attr_destroy(attributes);
    const Matrix* matrices[] = {&x, &weights, &bias, &y};
    for (int i = 0; ok && i < 4; ++i) {
      ok = dnnl_memory_create(&memory[i], matrices[i]->get(), engine, DNNL_MEMORY_NONE) ==
           dnnl_success;
    }
    return ok;
  }

  bool execute(dnnl_stream_t stream, const DenseLayer& layer, const float* x, float* y) {
    // oneDNN takes every pointer as mutable; it writes only through the destination's.
    const float* data[] = {x, layer.weights, layer.bias, y};
    constexpr int kArguments[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST};
    dnnl_exec_arg_t arguments[4];
    for (int i = 0; i < 4; ++i) {
      if (dnnl_memory_set_data_handle(memory[i], const_cast<float*>(data[i])) != dnnl_success) {
        return false;
      }
      arguments[i] = {kArguments[i], memory[i]};
    }
    return dnnl_primitive_execute(matmul, stream, 4, arguments) == dnnl_success &&
           dnnl_stream_wait(stream) == dnnl_success;
  }

  Shape shape;
  dnnl_primitive_t matmul = nullptr;
  dnnl_memory_t memory[4] = {};
};

}  // namespace

struct OneDnnDense::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    primitives.clear();
    dnnl_stream_destroy(stream);
    dnnl_engine_destroy(engine);
  }

  // A linear search: a policy has a handful of shapes, and the last one found is likely the next.
  Primitive* find(const Shape& shape) {
    for (const auto& p : primitives) {
      if (p->shape == shape) return p.get();
    }
    return nullptr;
  }

  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
  std::vector<std::unique_ptr<Primitive>> primitives;
};

bool OneDnnDense::available() {
  const unsigned runtime = dnnl_version()->cpu_runtime;
  if (runtime == DNNL_RUNTIME_SEQ) return true;
  return runtime == DNNL_RUNTIME_OMP && omp_get_max_threads != nullptr &&
         omp_set_num_threads != nullptr;
}

std::unique_ptr<OneDnnDense> OneDnnDense::create() {
  if (!available()) return nullptr;
  const SingleThread scope;
  auto state = std::make_unique<State>();
  if (dnnl_engine_create(&state->engine, dnnl_cpu, 0) != dnnl_success ||
      dnnl_stream_create(&state->stream, state->engine, dnnl_stream_default_flags) !=
          dnnl_success) {
    return nullptr;
  }
  return std::unique_ptr<OneDnnDense>(new OneDnnDense(std::move(state)));
}

OneDnnDense::OneDnnDense(std::unique_ptr<State> state) : state_(std::move(state)) {}
OneDnnDense::~OneDnnDense() = default;

bool OneDnnDense::run(const DenseLayer& layer, const float* x, size_t x_stride, float* y,
                      size_t y_stride, uint32_t rows) {
  if (layer.outputs == 1 && y_stride != 1) return false;  // oneDNN 3.7 writes between the rows
  const Shape shape{rows, layer.inputs, layer.outputs, x_stride, y_stride, layer.activation};
  const SingleThread scope;
  Primitive* primitive = state_->find(shape);
  if (primitive == nullptr) {
    if (state_->primitives.size() == Kernels::kMaxPrimitives) return false;
    auto made = std::make_unique<Primitive>(shape);
    if (!made->compile(state_->engine)) return false;
    primitive = made.get();
    state_->primitives.push_back(std::move(made));
  }
  return primitive->execute(state_->stream, layer, x, y);
}

size_t OneDnnDense::cached_primitives() const {
  return state_->primitives.size();
}

}  // namespace placeto
