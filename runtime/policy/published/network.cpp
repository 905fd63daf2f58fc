#include "runtime/policy/published/network.h"

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

void PublishedNetwork::embed(const float* inputs, std::span<const uint32_t> changed) {
  play_.all = !keep_ || !embedded_;
  play_.rows.assign(changed.begin(), changed.end());
  embedded_ = true;
  encode(inputs);
  for (uint32_t half_round = 0; half_round < size_.half_rounds; ++half_round) {
    play_.all = play_.all || play_.rows.size() > size_.nodes / 2;
    if (play_.all) {
      update_all(half_round);
    } else {
      update_rows(half_round);
    }
  }
}

void PublishedNetwork::encode(const float* inputs) {
  play_.all = play_.all || play_.rows.size() > size_.nodes / 2;
  if (play_.all) {
    encoder_.run(inputs, size_.inputs, stage(0), size_.stride, size_.nodes, kernels_,
                 scratch_.layers);
    return;
  }
  for (size_t begin = 0; begin < play_.rows.size(); begin += kBlock) {
    const auto block =
        std::span(play_.rows).subspan(begin, std::min<size_t>(kBlock, play_.rows.size() - begin));
    for (size_t i = 0; i < block.size(); ++i) {
      std::copy_n(inputs + size_t{block[i]} * size_.inputs, size_.inputs,
                  &scratch_.block_in[i * size_.inputs]);
    }
    encoder_.run(scratch_.block_in.data(), size_.inputs, scratch_.block_out.data(), size_.stride,
                 static_cast<uint32_t>(block.size()), kernels_, scratch_.layers);
    for (size_t i = 0; i < block.size(); ++i) {
      std::copy_n(&scratch_.block_out[i * size_.stride], size_.stride,
                  stage(0) + size_t{block[i]} * size_.stride);
    }
  }
}

// Into row i of scratch_.block_in: the sum of the messages that node_at(i) hears, in the order in
// which its edges are listed, and behind it how many they are.
template <class NodeAt>
void PublishedNetwork::sum_senders(const Direction& d, const float* sent, size_t count,
                                   NodeAt node_at) {
  static_assert(PaddedMlp::kLanes == 16);
  const uint32_t* const offset = d.offset.data();
  const uint32_t* const senders = d.senders.data();
  const size_t stride = size_.message_stride, sum_stride = size_.sum_stride,
               width = d.message.width;
  float* sum = scratch_.block_in.data();
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

void PublishedNetwork::update_all(uint32_t half_round) {
  const Direction& d = directions_[half_round % 2];
  const float* const x = stage(half_round);
  float* const next = stage(half_round + 1);  // x itself unless half rounds are kept
  float* const sent = messages(half_round);
  d.message.each.run(x, size_.stride, sent, size_.message_stride, size_.nodes, kernels_,
                     scratch_.layers);
  for (uint32_t begin = 0; begin < size_.nodes; begin += kBlock) {
    const uint32_t count = std::min(kBlock, size_.nodes - begin);
    sum_senders(d, sent, count, [begin](size_t i) { return begin + static_cast<uint32_t>(i); });
    d.message.total.run(scratch_.block_in.data(), size_.sum_stride, scratch_.block_out.data(),
                        size_.stride, count, kernels_, scratch_.layers);
    const size_t first = size_t{begin} * size_.stride, size = size_t{count} * size_.stride;
    for (size_t i = 0; i < size; ++i) next[first + i] = scratch_.block_out[i] + x[first + i];
  }
  rows_updated_ += size_.nodes;
}

void PublishedNetwork::gather(std::span<const uint32_t> rows, const float* from, size_t width,
                              float* to) const {
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(from + rows[i] * width, width, to + i * width);
  }
}

// New messages from the rows in play.
void PublishedNetwork::send_messages(const Direction& d, uint32_t half_round) {
  float* const sent = messages(half_round);
  for (size_t begin = 0; begin < play_.rows.size(); begin += kBlock) {
    const auto block =
        std::span(play_.rows).subspan(begin, std::min<size_t>(kBlock, play_.rows.size() - begin));
    gather(block, stage(half_round), size_.stride, scratch_.block_in.data());
    d.message.each.run(scratch_.block_in.data(), size_.stride, scratch_.block_out.data(),
                       size_.message_stride, static_cast<uint32_t>(block.size()), kernels_,
                       scratch_.layers);
    for (size_t i = 0; i < block.size(); ++i) {
      std::copy_n(&scratch_.block_out[i * size_.message_stride], size_.message_stride,
                  sent + size_t{block[i]} * size_.message_stride);
    }
  }
}

// The rows in play and everyone who hears one of them.
void PublishedNetwork::find_affected(const Direction& d) {
  play_.affected.clear();
  const auto add = [this](uint32_t v) {
    if (play_.is_affected[v]) return;
    play_.is_affected[v] = 1;
    play_.affected.push_back(v);
  };
  for (const uint32_t v : play_.rows) {
    add(v);
    for (uint32_t i = d.receiver_offset[v]; i < d.receiver_offset[v + 1]; ++i) add(d.receivers[i]);
  }
  for (const uint32_t v : play_.affected) play_.is_affected[v] = 0;
}

// Leaves in play_.rows the rows that came out different.
void PublishedNetwork::update_rows(uint32_t half_round) {
  const Direction& d = directions_[half_round % 2];
  const float* const x = stage(half_round);
  float* const next = stage(half_round + 1);
  send_messages(d, half_round);
  find_affected(d);
  play_.rows.clear();
  for (size_t begin = 0; begin < play_.affected.size(); begin += kBlock) {
    const auto block = std::span(play_.affected)
                           .subspan(begin, std::min<size_t>(kBlock, play_.affected.size() - begin));
    sum_senders(d, messages(half_round), block.size(), [block](size_t i) { return block[i]; });
    d.message.total.run(scratch_.block_in.data(), size_.sum_stride, scratch_.block_out.data(),
                        size_.stride, static_cast<uint32_t>(block.size()), kernels_,
                        scratch_.layers);
    for (size_t i = 0; i < block.size(); ++i) {
      const size_t row = size_t{block[i]} * size_.stride;
      float* const updated = &scratch_.block_out[i * size_.stride];
      for (uint32_t c = 0; c < size_.stride; ++c) updated[c] += x[row + c];
      if (std::memcmp(updated, next + row, size_.stride * sizeof(float)) == 0) continue;
      std::copy_n(updated, size_.stride, next + row);
      play_.rows.push_back(block[i]);
    }
  }
  rows_updated_ += play_.affected.size();
}

// out[embedding] = g(sum over the members of f(x)); g(0) if there are none.
void PublishedNetwork::pool(const PaddedSum& sum, std::span<const uint32_t> members, float* out) {
  std::fill(scratch_.pooled.begin(), scratch_.pooled.end(), 0.0f);
  const uint32_t width = PaddedMlp::padded(sum.width);
  for (size_t begin = 0; begin < members.size(); begin += kBlock) {
    const auto block = members.subspan(begin, std::min<size_t>(kBlock, members.size() - begin));
    gather(block, embeddings(), size_.stride, scratch_.block_in.data());
    sum.each.run(scratch_.block_in.data(), size_.stride, scratch_.block_out.data(), width,
                 static_cast<uint32_t>(block.size()), kernels_, scratch_.layers);
    for (size_t i = 0; i < block.size(); ++i) {
      for (uint32_t c = 0; c < sum.width; ++c)
        scratch_.pooled[c] += scratch_.block_out[i * width + c];
    }
  }
  scratch_.pooled[sum.width] = static_cast<float>(members.size());
  sum.total.run(scratch_.pooled.data(), size_.sum_stride, scratch_.block_out.data(), size_.stride,
                1, kernels_, scratch_.layers);
  std::copy_n(scratch_.block_out.data(), size_.embedding, out);
}

std::span<const float> PublishedNetwork::logits(uint32_t node) {
  reach_.find(node);
  float* const in = scratch_.head_in.data();
  std::copy_n(embeddings() + size_t{node} * size_.stride, size_.embedding, in);
  pool(pools_[0], reach_.ancestors(), in + size_.embedding);
  pool(pools_[1], reach_.descendants(), in + 2 * size_t{size_.embedding});
  pool(pools_[2], reach_.unrelated(), in + 3 * size_t{size_.embedding});
  head_.run(in, 4 * size_t{size_.embedding}, scratch_.logits.data(), scratch_.logits.size(), 1,
            kernels_, scratch_.layers);
  return {scratch_.logits.data(), size_.devices};
}

}  // namespace placeto
