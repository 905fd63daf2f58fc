#include "runtime/policy/net/network.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "runtime/policy/net/grid.h"

namespace placeto {
namespace {

// A row of a few layers of some 32 x 32 weights, in units of Stop::spend.
constexpr uint32_t kWorkPerRow = 8;

void grow(std::vector<float>& buffer, size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

// to += from, column by column.
void add(const float* from, float* to, uint32_t width) {
  for (uint32_t i = 0; i < width; ++i) to[i] += from[i];
}

void sum_rows(std::span<const uint32_t> rows, const float* x, size_t x_stride, uint32_t width,
              float* y) {
  std::fill_n(y, width, 0.0f);
  for (const uint32_t row : rows) add(x + row * x_stride, y, width);
}

}  // namespace

void Workspace::plan(uint32_t nodes, uint32_t embedding, uint32_t widest) {
  for (auto& buffer : hidden_) grow(buffer, size_t{kBlockRows} * widest);
  grow(messages_, size_t{nodes} * embedding);
  grow(sums_, size_t{kBlockRows} * embedding);
  grow(updates_, size_t{kBlockRows} * embedding);
}

size_t Workspace::bytes() const {
  return sizeof(float) * (hidden_[0].capacity() + hidden_[1].capacity() + messages_.capacity() +
                          sums_.capacity() + updates_.capacity());
}

Mlp::Mlp(std::vector<DenseLayer> layers, uint32_t grid) : layers_(std::move(layers)), grid_(grid) {
  assert(!layers_.empty());
  for (size_t i = 1; i < layers_.size(); ++i) assert(layers_[i].inputs == layers_[i - 1].outputs);
}

uint32_t Mlp::widest() const {
  uint32_t widest = 0;
  for (size_t i = 0; i + 1 < layers_.size(); ++i) widest = std::max(widest, layers_[i].outputs);
  return widest;
}

void Mlp::run(const float* x, size_t x_stride, float* y, size_t y_stride, uint32_t rows,
              Kernels& kernels, Workspace& workspace, Stop* stop) const {
  const size_t last = layers_.size() - 1;
  for (uint32_t begin = 0; begin < rows; begin += Workspace::kBlockRows) {
    const uint32_t count = std::min(Workspace::kBlockRows, rows - begin);
    const float* in = x + begin * x_stride;
    size_t in_stride = x_stride;
    for (size_t i = 0; i < last; ++i) {
      std::vector<float>& hidden = workspace.hidden_[i % 2];
      const uint32_t outputs = layers_[i].outputs;
      assert(hidden.size() >= size_t{Workspace::kBlockRows} * outputs);
      kernels.dense(layers_[i], in, in_stride, hidden.data(), outputs, count);
      snap(hidden.data(), size_t{count} * outputs, grid_);
      in = hidden.data();
      in_stride = outputs;
    }
    kernels.dense(layers_[last], in, in_stride, y + begin * y_stride, y_stride, count);
    if (spend(stop, size_t{kWorkPerRow} * count)) return;
  }
}

MessagePassing::MessagePassing(Mlp f, Mlp g) : f_(std::move(f)), g_(std::move(g)) {
  assert(f_.inputs() == f_.outputs() && g_.inputs() == g_.outputs());
  assert(f_.outputs() == g_.inputs());
}

uint32_t MessagePassing::widest() const {
  return std::max(f_.widest(), g_.widest());
}

void MessagePassing::run(const Lists& senders, float* x, Kernels& kernels, Workspace& workspace,
                         Stop* stop) const {
  const uint32_t nodes = senders.size(), width = f_.outputs();
  assert(workspace.messages_.size() >= size_t{nodes} * width);
  float* const messages = workspace.messages_.data();
  float* const sums = workspace.sums_.data();
  float* const updates = workspace.updates_.data();
  f_.run(x, width, messages, width, nodes, kernels, workspace, stop);
  if (stopped(stop)) return;
  const uint32_t grid = f_.grid();
  snap(messages, size_t{nodes} * width, grid);
  for (uint32_t begin = 0; begin < nodes; begin += Workspace::kBlockRows) {
    const uint32_t count = std::min(Workspace::kBlockRows, nodes - begin);
    for (uint32_t i = 0; i < count; ++i) {
      sum_rows(senders[begin + i], messages, width, width, sums + size_t{i} * width);
      if (spend(stop, kWorkPerRow + senders[begin + i].size())) return;
    }
    snap(sums, size_t{count} * width, grid);
    g_.run(sums, width, updates, width, count, kernels, workspace);
    for (uint32_t i = 0; i < count; ++i) {
      add(updates + size_t{i} * width, x + size_t{begin + i} * width, width);
    }
    snap(x + size_t{begin} * width, size_t{count} * width, grid);
  }
}

void GraphNetwork::plan(uint32_t nodes, Workspace& workspace) const {
  if (rounds == 0) return workspace.plan(0, 0, encoder.widest());
  workspace.plan(nodes, width(), std::max({encoder.widest(), along.widest(), against.widest()}));
}

void GraphNetwork::embed(const float* features, size_t features_stride, const Lists& predecessors,
                         const Lists& successors, float* x, Kernels& kernels, Workspace& workspace,
                         Stop* stop) const {
  encoder.run(features, features_stride, x, width(), predecessors.size(), kernels, workspace, stop);
  snap(x, size_t{predecessors.size()} * width(), encoder.grid());
  for (uint32_t round = 0; round < rounds && !stopped(stop); ++round) {
    along.run(predecessors, x, kernels, workspace, stop);
    if (!stopped(stop)) against.run(successors, x, kernels, workspace, stop);
  }
}

}  // namespace placeto
