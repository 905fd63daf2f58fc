// Networks of the published architecture as they are run: padded, merged, with their scratch. Built
// once per placing.
#include <algorithm>
#include <cassert>

#include "runtime/policy/published/network.h"

namespace placeto {
namespace {

constexpr uint32_t kBlock = PaddedMlp::kBlockRows;

// Compressed rows from pairs (row, entry), entries in the order in which they are given.
template <class Visit>
void list_by_row(uint32_t rows, Visit visit, std::vector<uint32_t>& offset,
                 std::vector<uint32_t>& entries) {
  offset.assign(rows + 1, 0);
  visit([&](uint32_t row, uint32_t) { ++offset[row + 1]; });
  for (uint32_t i = 0; i < rows; ++i) offset[i + 1] += offset[i];
  entries.resize(offset[rows]);
  std::vector<uint32_t> end(offset.begin(), offset.end() - 1);
  visit([&](uint32_t row, uint32_t entry) { entries[end[row]++] = entry; });
}

// Messages are what the hidden layers of f make of an embedding, or the embedding.
uint32_t message_stride(const Policy& policy) {
  if (policy.dimensions().rounds == 0) return 0;
  return PaddedMlp::padded(policy.graph_network().along.f().layers().back().inputs);
}

}  // namespace

PaddedMlp::PaddedMlp(std::span<const DenseLayer> layers) {
  for (const DenseLayer& layer : layers) {
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
  for (size_t i = 0; i + 1 < layers_.size(); ++i) widest = std::max(widest, layers_[i].outputs);
  return widest;
}

// With f = F(h) = h Wf + bf on what its hidden layers make of x, and g(s) = G(s Wg + bg):
// sum F(h) Wg = (sum h) (Wf Wg) + count (bf Wg).
PaddedSum::PaddedSum(const Mlp& f, const Mlp& g) {
  const DenseLayer& last = f.layers().back();
  const DenseLayer& first = g.layers().front();
  width = last.inputs;
  each = PaddedMlp(f.layers().first(f.layers().size() - 1));
  std::vector<float> product(size_t{width + 1} * first.outputs);
  for (uint32_t k = 0; k <= width; ++k) {
    const float* const row = k == width ? last.bias : last.weights + size_t{k} * last.outputs;
    for (uint32_t n = 0; n < first.outputs; ++n) {
      double sum = 0;
      for (uint32_t i = 0; i < last.outputs; ++i) {
        sum += static_cast<double>(row[i]) *
               static_cast<double>(first.weights[size_t{i} * first.outputs + n]);
      }
      product[size_t{k} * first.outputs + n] = static_cast<float>(sum);
    }
  }
  std::vector<DenseLayer> layers(g.layers().begin(), g.layers().end());
  layers.front() = {width + 1, first.outputs, product.data(), first.bias, first.activation};
  total = PaddedMlp(layers);
}

PublishedNetwork::Sizes PublishedNetwork::sizes_of(const Policy& policy, const Graph& graph) {
  const PolicyDimensions& dimensions = policy.dimensions();
  return {graph.node_count(),    dimensions.embedding,  policy.graph_network().encoder.inputs(),
          dimensions.devices,    2 * dimensions.rounds, PaddedMlp::padded(dimensions.embedding),
          message_stride(policy)};
}

PublishedNetwork::PublishedNetwork(const Policy& policy, const Graph& graph, KernelChoice kernels,
                                   Reuse reuse, Stop* stop)
    : size_(sizes_of(policy, graph)),
      keep_(reuse == Reuse::kWherePossible && kept_bytes() <= kMostKeptBytes),
      kernels_(kernels),
      encoder_(policy.graph_network().encoder.layers()),
      head_(policy.head().layers()),
      reach_(graph, stop) {
  assert(policy.architecture() == Architecture::kPlaceto);
  if (size_.half_rounds > 0) {
    const GraphNetwork& network = policy.graph_network();
    directions_[0].message = PaddedSum(network.along.f(), network.along.g());
    directions_[1].message = PaddedSum(network.against.f(), network.against.g());
    list_edges(graph);
  }
  const char* const names[3][2] = {{"ancestors.f", "ancestors.g"},
                                   {"descendants.f", "descendants.g"},
                                   {"unrelated.f", "unrelated.g"}};
  for (size_t i = 0; i < pools_.size(); ++i) {
    pools_[i] = PaddedSum(*policy.find_network(names[i][0]), *policy.find_network(names[i][1]));
  }
  allocate();
}

void PublishedNetwork::allocate() {
  uint32_t widest = std::max(encoder_.widest(), head_.widest()), summand = 0;
  const auto count = [&](const PaddedSum& sum) {
    widest = std::max({widest, sum.each.widest(), sum.total.widest()});
    summand = std::max(summand, sum.width);
  };
  for (const Direction& d : directions_) count(d.message);
  for (const PaddedSum& p : pools_) count(p);
  size_.sum_stride = PaddedMlp::padded(summand + 1);
  for (auto& hidden : scratch_.layers) hidden.resize(size_t{kBlock} * widest);
  stages_.resize(stage_size() * (keep_ ? size_.half_rounds + 1 : 1));
  messages_.resize(message_size() * (keep_ ? size_.half_rounds : 1));
  scratch_.block_in.resize(size_t{kBlock} *
                           std::max({size_.stride, size_.inputs, size_.sum_stride}));
  scratch_.block_out.resize(size_t{kBlock} * std::max(size_.stride, size_.sum_stride));
  scratch_.pooled.resize(size_.sum_stride);
  scratch_.head_in.resize(4 * size_t{size_.stride});
  scratch_.logits.resize(PaddedMlp::padded(size_.devices));
  play_.is_affected.resize(size_.nodes);
  play_.rows.reserve(size_.nodes);
  play_.affected.reserve(size_.nodes);
}

size_t PublishedNetwork::kept_bytes() const {
  return sizeof(float) *
         ((size_.half_rounds + 1) * stage_size() + size_.half_rounds * message_size());
}

// Every edge carries a message: two edges between the same nodes count twice, as in GraphNetwork.
void PublishedNetwork::list_edges(const Graph& graph) {
  auto& [along, against] = directions_;
  const auto predecessors = [&](auto add) {
    for (uint32_t v = 0; v < size_.nodes; ++v) {
      for (const InEdge& in : graph.in_edges(v)) add(v, in.source);
    }
  };
  const auto successors = [&](auto add) {
    for (uint32_t v = 0; v < size_.nodes; ++v) {
      for (const OutEdge& out : graph.out_edges(v)) add(v, out.target);
    }
  };
  list_by_row(size_.nodes, predecessors, along.offset, along.senders);
  list_by_row(size_.nodes, successors, against.offset, against.senders);
  along.receiver_offset = against.offset;
  along.receivers = against.senders;
  against.receiver_offset = along.offset;
  against.receivers = along.senders;
}

}  // namespace placeto
