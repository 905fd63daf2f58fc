// A tournament over a fixed set of slots: each holds the key of its next event, the root is the
// earliest. Changing one key replays the matches on its path: log2(slots) comparisons, no branches
// that depend on how full a heap is, no allocation.
// Knuth, The Art of Computer Programming, vol. 3, section 5.4.1.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/base/no_index.h"

namespace placeto {

class WinnerTree {
 public:
  struct Key {
    double time = kNever;
    uint64_t rank = ~uint64_t{0};  // order among events at one time
    friend bool operator==(const Key&, const Key&) = default;
  };

  explicit WinnerTree(uint32_t slots = 0)
      : leaves_(std::bit_ceil(slots < 2 ? 2u : slots)), keys_(leaves_), winner_(2 * leaves_) {
    for (uint32_t i = 0; i < leaves_; ++i) winner_[leaves_ + i] = i;
    clear();
  }

  void clear() {
    keys_.assign(keys_.size(), Key{});
    for (uint32_t i = leaves_ - 1; i > 0; --i) winner_[i] = winner_[2 * i];
  }

  // Slot with the earliest key; of slots that never fire, any.
  uint32_t top() const { return winner_[1]; }
  const Key& key(uint32_t slot) const { return keys_[slot]; }
  bool same_keys(const WinnerTree& other) const { return keys_ == other.keys_; }

  // Who wins a match is a coin toss to a branch predictor, so the matches are moves that depend on
  // a condition: compilers make jumps of them unless they see one comparison and are told that it
  // may go either way. Times are not negative, and such doubles compare like their bits.
  void set(uint32_t slot, Key key) {
    keys_[slot] = key;
    uint32_t champion = slot;
    Wide best = wide(key);
    for (uint32_t i = slot + leaves_; i > 1; i /= 2) {
      const uint32_t rival = winner_[i ^ 1];
      const Wide other = wide(keys_[rival]);
      const bool rival_wins = __builtin_expect_with_probability(other < best, 1, 0.5);
      champion = rival_wins ? rival : champion;
      best = rival_wins ? other : best;
      winner_[i / 2] = champion;
    }
  }

 private:
  __extension__ using Wide = unsigned __int128;

  static Wide wide(Key key) { return Wide{std::bit_cast<uint64_t>(key.time)} << 64 | key.rank; }

  uint32_t leaves_;
  std::vector<Key> keys_;
  std::vector<uint32_t> winner_;  // of the subtree below node i; [1] is the root, then the leaves
};

}  // namespace placeto
