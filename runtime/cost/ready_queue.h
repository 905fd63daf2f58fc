// Queues of the cost model. Items are dense ids and every item is in at most one queue, so the
// links live in arrays indexed by item and nothing is allocated after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "runtime/base/no_index.h"
#include "runtime/base/stop.h"

namespace placeto {

// First in, first out.
class FifoQueues {
 public:
  FifoQueues(uint32_t queues, uint32_t items)
      : head_(queues, kNoIndex), tail_(queues), next_(items) {}

  bool empty(uint32_t queue) const { return head_[queue] == kNoIndex; }
  uint32_t front(uint32_t queue) const { return head_[queue]; }
  void push(uint32_t queue, uint32_t item) {
    next_[item] = kNoIndex;
    if (empty(queue)) {
      head_[queue] = item;
    } else {
      next_[tail_[queue]] = item;
    }
    tail_[queue] = item;
  }
  uint32_t pop(uint32_t queue) { return std::exchange(head_[queue], next_[head_[queue]]); }
  void clear() { head_.assign(head_.size(), kNoIndex); }
  // Appends the queue's items to `out`, front first.
  void list(uint32_t queue, std::vector<uint32_t>& out, Stop* stop = nullptr) const {
    for (uint32_t i = head_[queue]; i != kNoIndex && !spend(stop, 1); i = next_[i]) {
      out.push_back(i);
    }
  }

 private:
  std::vector<uint32_t> head_, tail_, next_;
};

// Lowest priority value first. Skew heaps: Sleator and Tarjan, "Self-adjusting heaps", SIAM J.
// Comput. 1986; O(log n) amortised.
class PriorityQueues {
 public:
  PriorityQueues(uint32_t queues, std::vector<uint32_t> priority)
      : root_(queues, kNoIndex),
        left_(priority.size()),
        right_(priority.size()),
        priority_(std::move(priority)) {}

  bool empty(uint32_t queue) const { return root_[queue] == kNoIndex; }
  void push(uint32_t queue, uint32_t item) {
    left_[item] = right_[item] = kNoIndex;
    root_[queue] = merge(root_[queue], item);
  }
  uint32_t pop(uint32_t queue) {
    const uint32_t top = root_[queue];
    root_[queue] = merge(left_[top], right_[top]);
    return top;
  }
  void clear() { root_.assign(root_.size(), kNoIndex); }
  void list(uint32_t queue, std::vector<uint32_t>& out, Stop* stop = nullptr) const {
    const size_t first = out.size();
    if (!empty(queue)) out.push_back(root_[queue]);
    for (size_t i = first; i < out.size() && !spend(stop, 1); ++i) {
      for (uint32_t child : {left_[out[i]], right_[out[i]]}) {
        if (child != kNoIndex) out.push_back(child);
      }
    }
  }

 private:
  // Top-down: walk the right spines together, swapping the children of every node passed.
  uint32_t merge(uint32_t a, uint32_t b) {
    uint32_t root = kNoIndex;
    uint32_t* hook = &root;
    while (a != kNoIndex && b != kNoIndex) {
      if (priority_[b] < priority_[a]) std::swap(a, b);
      *hook = a;
      const uint32_t rest = right_[a];
      right_[a] = left_[a];
      hook = &left_[a];
      a = rest;
    }
    *hook = a != kNoIndex ? a : b;
    return root;
  }

  std::vector<uint32_t> root_, left_, right_, priority_;
};

}  // namespace placeto
