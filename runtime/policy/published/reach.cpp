#include "runtime/policy/published/reach.h"

#include <bit>

namespace placeto {
namespace {

constexpr uint32_t kWordBits = 64;

// Appends the numbers of the bits that are set, the lowest bit being number `first`.
void list_bits(uint64_t bits, uint32_t first, std::vector<uint32_t>& list) {
  for (; bits != 0; bits &= bits - 1) {
    list.push_back(first + static_cast<uint32_t>(std::countr_zero(bits)));
  }
}

uint64_t bit(uint32_t node) {
  return uint64_t{1} << (node % kWordBits);
}

}  // namespace

PublishedReach::PublishedReach(const Graph& graph, Stop* stop)
    : nodes_(graph.node_count()),
      row_words_((nodes_ + kWordBits - 1) / kWordBits),
      above_(size_t{nodes_} * row_words_),
      below_(above_.size()) {
  for (auto* list : {&ancestors_, &descendants_, &unrelated_}) list->reserve(nodes_);
  const auto order = graph.topological_order();
  const uint64_t work = 1 + row_words_ / 8;  // of a row
  for (const uint32_t v : order) {
    for (const InEdge& in : watched(graph.in_edges(v), stop, work)) add(above_, v, in.source);
    if (spend(stop, work * (1 + graph.in_edges(v).size()))) return;
  }
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    for (const OutEdge& out : watched(graph.out_edges(*v), stop, work)) {
      add(below_, *v, out.target);
    }
    if (spend(stop, work * (1 + graph.out_edges(*v).size()))) return;
  }
}

void PublishedReach::add(Words& table, uint32_t to, uint32_t from) const {
  uint64_t* const row = &table[size_t{to} * row_words_];
  const uint64_t* const other = &table[size_t{from} * row_words_];
  for (uint32_t w = 0; w < row_words_; ++w) row[w] |= other[w];
  row[from / kWordBits] |= bit(from);
}

void PublishedReach::find(uint32_t node) {
  ancestors_.clear();
  descendants_.clear();
  unrelated_.clear();
  for (uint32_t w = 0; w < row_words_; ++w) {
    const uint64_t above = above_[size_t{node} * row_words_ + w];
    const uint64_t below = below_[size_t{node} * row_words_ + w];
    const bool last = w + 1 == row_words_ && nodes_ % kWordBits != 0;
    const uint64_t exist = last ? bit(nodes_) - 1 : ~uint64_t{0};
    const uint64_t self = w == node / kWordBits ? bit(node) : 0;
    list_bits(above, w * kWordBits, ancestors_);
    list_bits(below, w * kWordBits, descendants_);
    list_bits(exist & ~(above | below | self), w * kWordBits, unrelated_);
  }
}

}  // namespace placeto
