// A tournament over a fixed set of slots: each holds the key of its next event, the root is the
// earliest. Changing one key replays the matches on its path: log2(slots) comparisons, no branches
// that depend on how full a heap is, no allocation.
// Knuth, The Art of Computer Programming, vol. 3, section 5.4.1.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace placeto {

class WinnerTree {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Key {
    double time = kNever;
    uint64_t rank = ~uint64_t{0};  // order among events at one time
    bool before(const Key& other) const {
      return time < other.time || (time == other.time && rank < other.rank);
    }
    friend bool operator==(const Key&, const Key&) = default;
  };

  explicit WinnerTree(uint32_t slots)
      : leaves_(std::bit_ceil(slots < 2 ? 2u : slots)), keys_(leaves_), winner_(leaves_) {
    clear();
  }

  void clear() {
    keys_.assign(keys_.size(), Key{});
    for (uint32_t i = leaves_ - 1; i > 0; --i)
      winner_[i] = 2 * i < leaves_ ? winner_[2 * i] : 2 * i - leaves_;
  }

  // Slot with the earliest key; of slots that never fire, any.
  uint32_t top() const { return winner_[1]; }
  const Key& key(uint32_t slot) const { return keys_[slot]; }

  void set(uint32_t slot, Key key) {
    keys_[slot] = key;
    uint32_t champion = slot;
    for (uint32_t i = slot + leaves_; i > 1; i /= 2) {
      const uint32_t sibling = i ^ 1;
      const uint32_t rival = sibling < leaves_ ? winner_[sibling] : sibling - leaves_;
      champion = keys_[rival].before(keys_[champion]) ? rival : champion;
      winner_[i / 2] = champion;
    }
  }

 private:
  uint32_t leaves_;
  std::vector<Key> keys_;
  std::vector<uint32_t> winner_;  // of the subtree below inner node i; [1] is the root
};

}  // namespace placeto
