// What policy networks are built from: stacks of dense layers, message passing over a graph, and
// pooling over sets of nodes. Everything is batched: a call handles all nodes or all sets.
//
// Matrices are row-major, one row per node. Sums over neighbours and members run in the order in
// which they are listed, so with portable kernels every result has the same bits on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/stop.h"
#include "runtime/policy/net/kernels.h"

namespace placeto {

// Lists of indices in compressed sparse rows: list i is
// index[offset[i]] .. index[offset[i + 1] - 1].
struct Lists {
  std::span<const uint32_t> offset;  // one more than there are lists, from 0, ascending
  std::span<const uint32_t> index;
  uint32_t size() const { return static_cast<uint32_t>(offset.size()) - 1; }
  std::span<const uint32_t> operator[](uint32_t i) const {
    return index.subspan(offset[i], offset[i + 1] - offset[i]);
  }
};

// Scratch for the functions below. plan() once for the largest graph and the widest network; after
// that nothing is allocated. One per thread.
class Workspace {
 public:
  // Layers are evaluated this many rows at a time: their intermediate results stay in cache, and
  // oneDNN sees one shape per layer.
  static constexpr uint32_t kBlockRows = 256;

  // Makes room for message passing over `nodes` rows of `embedding` floats (0, 0: none) and for
  // layers of up to `widest` outputs. Only ever grows.
  void plan(uint32_t nodes, uint32_t embedding, uint32_t widest);
  size_t bytes() const;

 private:
  friend class Mlp;
  friend class MessagePassing;
  std::array<std::vector<float>, 2> hidden_;  // kBlockRows x widest
  std::vector<float> messages_;               // nodes x embedding
  std::vector<float> sums_, updates_;         // kBlockRows x embedding
};

// Dense layers one after the other. Does not own the weights.
class Mlp {
 public:
  Mlp() = default;
  // At least one layer; each takes as many inputs as the one before has outputs.
  // grid > 0: of an exact-sum network (grid.h). Its inputs are on that grid; so are hidden
  // activations. Outputs are exact sums, to be put on it by whoever feeds them to another network.
  explicit Mlp(std::vector<DenseLayer> layers, uint32_t grid = 0);

  uint32_t inputs() const { return layers_.front().inputs; }
  uint32_t outputs() const { return layers_.back().outputs; }
  uint32_t grid() const { return grid_; }
  // Largest number of outputs of a hidden layer: what Workspace::plan wants to know; 0 if none.
  uint32_t widest() const;
  std::span<const DenseLayer> layers() const { return layers_; }

  // y[rows x outputs] from x[rows x inputs]. Strides as in Kernels::dense; y must not overlap x.
  // Incomplete if stopped.
  void run(const float* x, size_t x_stride, float* y, size_t y_stride, uint32_t rows,
           Kernels& kernels, Workspace& workspace, Stop* stop = nullptr) const;

 private:
  std::vector<DenseLayer> layers_;
  uint32_t grid_ = 0;
};

// x_v <- g(sum over the senders u of v of f(x_u)) + x_v, for all nodes at once: every message is
// made from x as it was before. Addanki et al., NeurIPS 2019, section 3.2.
class MessagePassing {
 public:
  MessagePassing() = default;
  // f: width -> width, g: width -> width.
  MessagePassing(Mlp f, Mlp g);

  uint32_t widest() const;
  const Mlp& f() const { return f_; }
  const Mlp& g() const { return g_; }

  // Updates x[nodes x width] in place; senders has one list per node. A node without senders gets
  // g(0).
  void run(const Lists& senders, float* x, Kernels& kernels, Workspace& workspace,
           Stop* stop = nullptr) const;

 private:
  Mlp f_, g_;
};

// Node features to node embeddings: the encoder on every node, then rounds of message passing, each
// along the edges first (a node hears its predecessors) and then against them (its successors).
struct GraphNetwork {
  Mlp encoder;
  MessagePassing along, against;
  uint32_t rounds = 0;

  uint32_t width() const { return encoder.outputs(); }
  void plan(uint32_t nodes, Workspace& workspace) const;

  // x[nodes x width], contiguous, from features[nodes x encoder.inputs()] with the given stride.
  // Incomplete if stopped.
  void embed(const float* features, size_t features_stride, const Lists& predecessors,
             const Lists& successors, float* x, Kernels& kernels, Workspace& workspace,
             Stop* stop = nullptr) const;
};

}  // namespace placeto
