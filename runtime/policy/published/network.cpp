#include "runtime/policy/published/network.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

namespace placeto {
namespace {

constexpr uint32_t kBlock = PaddedMlp::kBlockRows;
constexpr const char* kSets[3][2] = {{"ancestors.f", "ancestors.g"},
                                     {"descendants.f", "descendants.g"},
                                     {"unrelated.f", "unrelated.g"}};
constexpr const char* kWays[2][2] = {{"along.f", "along.g"}, {"against.f", "against.g"}};

// Four floats that the compiler keeps in a register.
typedef float Float4 __attribute__((vector_size(16)));

// to += from. Both are whole vectors long.
void add(const float* from, float* to, size_t size) {
  for (size_t i = 0; i < size; ++i) to[i] += from[i];
}

}  // namespace

PaddedMlp::PaddedMlp(const Mlp& mlp) {
  for (const DenseLayer& layer : mlp.layers()) {
    const uint32_t width = padded(layer.outputs);
    std::vector<float> numbers(size_t{width} * (layer.inputs + 1));
    for (uint32_t k = 0; k < layer.inputs; ++k) {
      std::copy_n(layer.weights + size_t{k} * layer.outputs, layer.outputs,
                  &numbers[size_t{k} * width]);
    }
    float* const bias = &numbers[size_t{layer.inputs} * width];
    std::copy_n(layer.bias, layer.outputs, bias);
    layers_.push_back({layer.inputs, width, numbers.data(), bias, layer.activation});
    numbers_.push_back(std::move(numbers));
  }
}

uint32_t PaddedMlp::widest() const {
  uint32_t widest = 0;
  for (const DenseLayer& layer : layers_) widest = std::max(widest, layer.outputs);
  return widest;
}

void PaddedMlp::run(const float* x, size_t x_stride, float* y, size_t y_stride, uint32_t rows,
                    Kernels& kernels, Scratch& scratch) const {
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

PublishedNetwork::Sizes PublishedNetwork::sizes_of(const Policy& policy, uint32_t nodes) {
  const PolicyDimensions& d = policy.dimensions();
  return {nodes,
          d.embedding,
          d.devices,
          d.rounds,
          PaddedMlp::padded(d.embedding),
          PaddedMlp::padded(2 * d.embedding)};
}

size_t PublishedNetwork::bytes(const Policy& policy, uint32_t nodes) {
  const Sizes size = sizes_of(policy, nodes);
  return sizeof(float) * nodes * (3 * size_t{size.one} + size.both) +
         PublishedReach::table_bytes(nodes);
}

PublishedNetwork::PublishedNetwork(const Policy& policy, const Graph& graph, KernelChoice kernels,
                                   Stop* stop)
    : size_(sizes_of(policy, graph.node_count())),
      kernels_(kernels),
      encoder_(*policy.find_network("encoder")),
      head_(policy.head()),
      reach_(graph, stop),
      encoding_(size_t{size_.nodes} * size_.one),
      x_(encoding_.size()),
      messages_(encoding_.size()),
      embeddings_(size_t{size_.nodes} * size_.both) {
  assert(policy.architecture() == Architecture::kPlaceto);
  uint32_t widest = std::max(encoder_.widest(), head_.widest());
  const auto load = [&](SumOf& of, const char* const names[2]) {
    of = {PaddedMlp(*policy.find_network(names[0])), PaddedMlp(*policy.find_network(names[1]))};
    widest = std::max({widest, of.f.widest(), of.g.widest()});
  };
  for (size_t i = 0; i < 2 && size_.rounds > 0; ++i) load(directions_[i].message, kWays[i]);
  for (size_t i = 0; i < 3; ++i) load(pools_[i], kSets[i]);
  scratch_.block_in.resize(size_t{kBlock} * size_.both);
  scratch_.block_out.resize(scratch_.block_in.size());
  scratch_.pooled.resize(size_.both);
  scratch_.head_in.resize(8 * size_t{size_.embedding});
  scratch_.logits.resize(PaddedMlp::padded(size_.devices));
  for (auto& hidden : scratch_.layers) hidden.resize(size_t{kBlock} * widest);
  const auto order = graph.topological_order();
  const std::vector<uint32_t> backwards(order.rbegin(), order.rend());
  arrange(
      directions_[0], order,
      [&](uint32_t v, const auto& hear) {
        for (const InEdge& in : watched(graph.in_edges(v), stop)) hear(in.source);
        spend(stop, graph.in_edges(v).size());
      },
      stop);
  arrange(
      directions_[1], backwards,
      [&](uint32_t v, const auto& hear) {
        for (const OutEdge& out : watched(graph.out_edges(v), stop)) hear(out.target);
        spend(stop, graph.out_edges(v).size());
      },
      stop);
}

// Every edge carries a message: two edges between the same nodes count twice. `order`: nodes behind
// all whom they hear; heard(v) calls its argument with each of those. Incomplete once stopped.
template <class Heard>
void PublishedNetwork::arrange(Direction& d, std::span<const uint32_t> order, const Heard& heard,
                               Stop* stop) {
  std::vector<uint32_t> length(size_.nodes), row(size_.nodes);
  d.first_row.assign(size_.rounds + 2, 0);
  for (const uint32_t v : order) {
    heard(v, [&](uint32_t u) { length[v] = std::max(length[v], length[u] + 1); });
    length[v] = std::min(length[v], size_.rounds);
    ++d.first_row[length[v] + 1];
  }
  std::partial_sum(d.first_row.begin(), d.first_row.end(), d.first_row.begin());
  std::vector<uint32_t> next = d.first_row;
  d.nodes.resize(size_.nodes);
  for (uint32_t v = 0; v < size_.nodes && !spend(stop, 1); ++v) {
    row[v] = next[length[v]]++;
    d.nodes[row[v]] = v;
  }
  d.offset = {0};
  for (const uint32_t v : d.nodes) {
    heard(v, [&](uint32_t u) { d.senders.push_back(row[u]); });
    d.offset.push_back(static_cast<uint32_t>(d.senders.size()));
  }
}

void PublishedNetwork::embed(const float* inputs) {
  const size_t width = size_.embedding;
  encoder_.run(inputs, encoder_.inputs(), encoding_.data(), size_.one, size_.nodes, kernels_,
               scratch_.layers);
  for (size_t i = 0; i < 2; ++i) {
    const Direction& d = directions_[i];
    for (size_t row = 0; row < size_.nodes; ++row) {
      std::copy_n(&encoding_[d.nodes[row] * size_.one], size_.one, &x_[row * size_.one]);
    }
    for (uint32_t round = 0; round < size_.rounds; ++round) exchange(d, round);
    for (size_t row = 0; row < size_.nodes; ++row) {
      std::copy_n(&x_[row * size_.one], width, &embeddings_[d.nodes[row] * size_.both + i * width]);
    }
  }
}

// x_v <- g(sum of f(x_u)) + e_v, for all who hear somebody: but for those who hear what they have
// heard before, over paths that are shorter than the rounds so far.
void PublishedNetwork::exchange(const Direction& d, uint32_t round) {
  const uint32_t stride = size_.one;
  const uint32_t news = d.first_row[round];  // those behind have changed in the last round
  d.message.f.run(x_.data() + size_t{news} * stride, stride,
                  messages_.data() + size_t{news} * stride, stride, size_.nodes - news, kernels_,
                  scratch_.layers);
  for (uint32_t first = d.first_row[round + 1]; first < size_.nodes; first += kBlock) {
    const uint32_t count = std::min(kBlock, size_.nodes - first);
    sum_senders(d, first, count);
    d.message.g.run(scratch_.block_in.data(), stride, scratch_.block_out.data(), stride, count,
                    kernels_, scratch_.layers);
    for (uint32_t i = 0; i < count; ++i) {
      const float* const update = &scratch_.block_out[size_t{i} * stride];
      const float* const encoding = &encoding_[size_t{d.nodes[first + i]} * stride];
      float* const x = &x_[size_t{first + i} * stride];
      for (uint32_t c = 0; c < stride; ++c) x[c] = update[c] + encoding[c];
    }
  }
}

// Into row i of block_in: the sum of the messages that row first + i hears, in the order in which
// its edges are listed.
void PublishedNetwork::sum_senders(const Direction& d, uint32_t first, uint32_t count) {
  static_assert(PaddedMlp::kLanes == 16);
  const uint32_t* const offset = &d.offset[first];
  const size_t stride = size_.one;
  float* sum = scratch_.block_in.data();
  for (uint32_t i = 0; i < count; ++i, sum += stride) {
    for (size_t c = 0; c < stride; c += PaddedMlp::kLanes) {
      Float4 lanes[4] = {};
      for (uint32_t e = offset[i]; e != offset[i + 1]; ++e) {
        Float4 row[4];
        std::memcpy(row, &messages_[d.senders[e] * stride + c], sizeof row);
        for (int k = 0; k < 4; ++k) lanes[k] += row[k];
      }
      std::memcpy(sum + c, lanes, sizeof lanes);
    }
  }
}

// out[2 x embedding] = g(sum over the members of f(x)); g(0) if there are none.
void PublishedNetwork::pool(const SumOf& of, std::span<const uint32_t> members, float* out) {
  const size_t stride = size_.both;
  std::fill(scratch_.pooled.begin(), scratch_.pooled.end(), 0.0f);
  for (size_t begin = 0; begin < members.size(); begin += kBlock) {
    const auto block = members.subspan(begin, std::min<size_t>(kBlock, members.size() - begin));
    for (size_t i = 0; i < block.size(); ++i) {
      std::copy_n(&embeddings_[block[i] * stride], stride, &scratch_.block_in[i * stride]);
    }
    of.f.run(scratch_.block_in.data(), stride, scratch_.block_out.data(), stride,
             static_cast<uint32_t>(block.size()), kernels_, scratch_.layers);
    for (size_t i = 0; i < block.size(); ++i) {
      add(&scratch_.block_out[i * stride], scratch_.pooled.data(), stride);
    }
  }
  of.g.run(scratch_.pooled.data(), stride, scratch_.block_out.data(), stride, 1, kernels_,
           scratch_.layers);
  std::copy_n(scratch_.block_out.data(), 2 * size_t{size_.embedding}, out);
}

std::span<const float> PublishedNetwork::logits(uint32_t node) {
  reach_.find(node);
  const size_t width = 2 * size_t{size_.embedding};
  const std::span<const uint32_t> sets[] = {reach_.ancestors(), reach_.descendants(),
                                            reach_.unrelated()};
  std::copy_n(&embeddings_[size_t{node} * size_.both], width, scratch_.head_in.data());
  for (size_t i = 0; i < 3; ++i) pool(pools_[i], sets[i], &scratch_.head_in[(i + 1) * width]);
  head_.run(scratch_.head_in.data(), scratch_.head_in.size(), scratch_.logits.data(),
            scratch_.logits.size(), 1, kernels_, scratch_.layers);
  return {scratch_.logits.data(), size_.devices};
}

}  // namespace placeto
