#include "runtime/policy/published/placeto_network.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace placeto {
namespace {

constexpr uint32_t kBlock = PaddedMlp::kBlockRows;

// Four floats that the compiler keeps in a register.
typedef float Float4 __attribute__((vector_size(16)));

}  // namespace

void PaddedMlp::run(const float* x, size_t x_stride, float* y, size_t y_stride, uint32_t rows,
                    Kernels& kernels, Scratch& scratch) const {
  if (layers_.empty()) {
    for (uint32_t r = 0; r < rows; ++r) std::copy_n(x + r * x_stride, y_stride, y + r * y_stride);
    return;
  }
  for (uint32_t begin = 0; begin < rows; begin += kBlockRows) {
    const uint32_t count = std::min(kBlockRows, rows - begin);
    const float* in = x + begin * x_stride;
    size_t in_stride = x_stride;
    for (size_t i = 0; i + 1 < layers_.size(); ++i) {
      float* const hidden = scratch[i % 2].data();
      kernels.dense(layers_[i], in, in_stride, hidden, layers_[i].outputs, count);
      in = hidden;
      in_stride = layers_[i].outputs;
    }
    kernels.dense(layers_.back(), in, in_stride, y + begin * y_stride, y_stride, count);
  }
}

void PlacetoNetwork::embed(const float* inputs, std::span<const uint32_t> changed) {
  all_ = !keep_ || !embedded_;
  rows_.assign(changed.begin(), changed.end());
  embedded_ = true;
  encode(inputs);
  for (uint32_t half_round = 0; half_round < half_rounds_; ++half_round) {
    all_ = all_ || rows_.size() > nodes_ / 2;
    if (all_) {
      update_all(half_round);
    } else {
      update_rows(half_round);
    }
  }
}

void PlacetoNetwork::encode(const float* inputs) {
  all_ = all_ || rows_.size() > nodes_ / 2;
  if (all_) {
    encoder_.run(inputs, inputs_, stage(0), stride_, nodes_, kernels_, scratch_);
    return;
  }
  for (size_t begin = 0; begin < rows_.size(); begin += kBlock) {
    const auto block =
        std::span(rows_).subspan(begin, std::min<size_t>(kBlock, rows_.size() - begin));
    for (size_t i = 0; i < block.size(); ++i) {
      std::copy_n(inputs + size_t{block[i]} * inputs_, inputs_, &block_in_[i * inputs_]);
    }
    encoder_.run(block_in_.data(), inputs_, block_out_.data(), stride_,
                 static_cast<uint32_t>(block.size()), kernels_, scratch_);
    for (size_t i = 0; i < block.size(); ++i) {
      std::copy_n(&block_out_[i * stride_], stride_, stage(0) + size_t{block[i]} * stride_);
    }
  }
}

// Into row i of block_in_: the sum of the messages that node_at(i) hears, in the order in which its
// edges are listed, and behind it how many they are.
template <class NodeAt>
void PlacetoNetwork::sum_senders(const Direction& d, const float* sent, size_t count,
                                 NodeAt node_at) {
  static_assert(PaddedMlp::kLanes == 16);
  const uint32_t* const offset = d.offset.data();
  const uint32_t* const senders = d.senders.data();
  const size_t stride = message_stride_, sum_stride = sum_stride_, width = d.message.width;
  float* sum = block_in_.data();
  for (size_t r = 0; r < count; ++r, sum += sum_stride) {
    const uint32_t node = node_at(r), begin = offset[node], end = offset[node + 1];
    for (size_t c = 0; c < stride; c += PaddedMlp::kLanes) {
      Float4 lanes[4] = {};
      for (uint32_t e = begin; e != end; ++e) {
        Float4 row[4];
        std::memcpy(row, sent + senders[e] * stride + c, sizeof row);
        for (int i = 0; i < 4; ++i) lanes[i] += row[i];
      }
      std::memcpy(sum + c, lanes, sizeof lanes);
    }
    sum[width] = static_cast<float>(end - begin);
  }
}

void PlacetoNetwork::update_all(uint32_t half_round) {
  const Direction& d = directions_[half_round % 2];
  const float* const x = stage(half_round);
  float* const next = stage(half_round + 1);  // x itself unless half rounds are kept
  float* const sent = messages(half_round);
  d.message.each.run(x, stride_, sent, message_stride_, nodes_, kernels_, scratch_);
  for (uint32_t begin = 0; begin < nodes_; begin += kBlock) {
    const uint32_t count = std::min(kBlock, nodes_ - begin);
    sum_senders(d, sent, count, [begin](size_t i) { return begin + static_cast<uint32_t>(i); });
    d.message.total.run(block_in_.data(), sum_stride_, block_out_.data(), stride_, count, kernels_,
                        scratch_);
    const size_t first = size_t{begin} * stride_, size = size_t{count} * stride_;
    for (size_t i = 0; i < size; ++i) next[first + i] = block_out_[i] + x[first + i];
  }
  rows_updated_ += nodes_;
}

void PlacetoNetwork::gather(std::span<const uint32_t> rows, const float* from, size_t width,
                            float* to) const {
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(from + rows[i] * width, width, to + i * width);
  }
}

// New messages from the rows in play.
void PlacetoNetwork::send_messages(const Direction& d, uint32_t half_round) {
  float* const sent = messages(half_round);
  for (size_t begin = 0; begin < rows_.size(); begin += kBlock) {
    const auto block =
        std::span(rows_).subspan(begin, std::min<size_t>(kBlock, rows_.size() - begin));
    gather(block, stage(half_round), stride_, block_in_.data());
    d.message.each.run(block_in_.data(), stride_, block_out_.data(), message_stride_,
                       static_cast<uint32_t>(block.size()), kernels_, scratch_);
    for (size_t i = 0; i < block.size(); ++i) {
      std::copy_n(&block_out_[i * message_stride_], message_stride_,
                  sent + size_t{block[i]} * message_stride_);
    }
  }
}

// The rows in play and everyone who hears one of them.
void PlacetoNetwork::find_affected(const Direction& d) {
  affected_.clear();
  const auto add = [this](uint32_t v) {
    if (is_affected_[v]) return;
    is_affected_[v] = 1;
    affected_.push_back(v);
  };
  for (const uint32_t v : rows_) {
    add(v);
    for (uint32_t i = d.receiver_offset[v]; i < d.receiver_offset[v + 1]; ++i) add(d.receivers[i]);
  }
  for (const uint32_t v : affected_) is_affected_[v] = 0;
}

// Leaves in rows_ the rows that came out different.
void PlacetoNetwork::update_rows(uint32_t half_round) {
  const Direction& d = directions_[half_round % 2];
  const float* const x = stage(half_round);
  float* const next = stage(half_round + 1);
  send_messages(d, half_round);
  find_affected(d);
  rows_.clear();
  for (size_t begin = 0; begin < affected_.size(); begin += kBlock) {
    const auto block =
        std::span(affected_).subspan(begin, std::min<size_t>(kBlock, affected_.size() - begin));
    sum_senders(d, messages(half_round), block.size(), [block](size_t i) { return block[i]; });
    d.message.total.run(block_in_.data(), sum_stride_, block_out_.data(), stride_,
                        static_cast<uint32_t>(block.size()), kernels_, scratch_);
    for (size_t i = 0; i < block.size(); ++i) {
      const size_t row = size_t{block[i]} * stride_;
      float* const updated = &block_out_[i * stride_];
      for (uint32_t c = 0; c < stride_; ++c) updated[c] += x[row + c];
      if (std::memcmp(updated, next + row, stride_ * sizeof(float)) == 0) continue;
      std::copy_n(updated, stride_, next + row);
      rows_.push_back(block[i]);
    }
  }
  rows_updated_ += affected_.size();
}

// out[embedding] = g(sum over the members of f(x)); g(0) if there are none.
void PlacetoNetwork::pool(const PaddedSum& sum, std::span<const uint32_t> members, float* out) {
  std::fill(pooled_.begin(), pooled_.end(), 0.0f);
  const uint32_t width = PaddedMlp::padded(sum.width);
  for (size_t begin = 0; begin < members.size(); begin += kBlock) {
    const auto block = members.subspan(begin, std::min<size_t>(kBlock, members.size() - begin));
    gather(block, embeddings(), stride_, block_in_.data());
    sum.each.run(block_in_.data(), stride_, block_out_.data(), width,
                 static_cast<uint32_t>(block.size()), kernels_, scratch_);
    for (size_t i = 0; i < block.size(); ++i) {
      for (uint32_t c = 0; c < sum.width; ++c) pooled_[c] += block_out_[i * width + c];
    }
  }
  pooled_[sum.width] = static_cast<float>(members.size());
  sum.total.run(pooled_.data(), sum_stride_, block_out_.data(), stride_, 1, kernels_, scratch_);
  std::copy_n(block_out_.data(), embedding_, out);
}

std::span<const float> PlacetoNetwork::logits(uint32_t node) {
  reach_.find(node);
  float* const in = head_in_.data();
  std::copy_n(embeddings() + size_t{node} * stride_, embedding_, in);
  pool(pools_[0], reach_.ancestors(), in + embedding_);
  pool(pools_[1], reach_.descendants(), in + 2 * size_t{embedding_});
  pool(pools_[2], reach_.unrelated(), in + 3 * size_t{embedding_});
  head_.run(in, 4 * size_t{embedding_}, logits_.data(), logits_.size(), 1, kernels_, scratch_);
  return {logits_.data(), devices_};
}

}  // namespace placeto
