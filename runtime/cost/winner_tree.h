// A tournament over a fixed set of slots: each holds the key of its next event, the root is the
// earliest. Changing one key replays the matches on its path: log2(slots) comparisons, no branches
// that depend on how full a heap is, no allocation.
// Knuth, The Art of Computer Programming, vol. 3, section 5.4.1.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/no_index.h"

namespace placeto {

class WinnerTree {
 public:
  struct Key {
    double time = kNever;
    uint32_t rank = ~uint32_t{0};  // order among events at one time; then comes the slot's
    friend bool operator==(const Key&, const Key&) = default;
  };

  explicit WinnerTree(uint32_t slots = 0)
      : leaves_(std::bit_ceil(slots < 2 ? 2u : slots)), winner_(2 * size_t{leaves_}) {
    clear();
  }

  void clear() {
    for (uint32_t i = 0; i < leaves_; ++i) winner_[leaves_ + i] = wide({}, i);
    for (uint32_t i = leaves_ - 1; i > 0; --i) winner_[i] = winner_[2 * i];
  }

  // Slot with the earliest key; of slots that never fire, any.
  uint32_t top() const { return static_cast<uint32_t>(winner_[1]); }
  double top_time() const { return time_of(winner_[1]); }
  Key key(uint32_t slot) const {
    const Wide& leaf = winner_[leaves_ + slot];
    return {time_of(leaf), static_cast<uint32_t>(leaf >> 32)};
  }
  bool same_keys(const WinnerTree& other) const { return winner_ == other.winner_; }

  // Who wins a match is a coin toss to a branch predictor, so the matches are moves that depend on
  // a condition: compilers make jumps of them unless they see one comparison and are told that it
  // may go either way. Times are not negative, and such doubles compare like their bits.
  void set(uint32_t slot, Key key) {
    Wide best = wide(key, slot);
    uint32_t i = slot + leaves_;
    for (winner_[i] = best; i > 1; winner_[i] = best) {
      const Wide rival = winner_[i ^ 1];
      const bool rival_wins = __builtin_expect_with_probability(rival < best, 1, 0.5);
      best = rival_wins ? rival : best;
      i /= 2;
    }
  }

 private:
  __extension__ using Wide = unsigned __int128;  // a key and its slot, in the order of events

  static Wide wide(Key key, uint32_t slot) {
    return Wide{std::bit_cast<uint64_t>(key.time)} << 64 | uint64_t{key.rank} << 32 | slot;
  }
  static double time_of(Wide wide) {
    return std::bit_cast<double>(static_cast<uint64_t>(wide >> 64));
  }

  uint32_t leaves_;
  std::vector<Wide> winner_;  // of the subtree below node i; [1] is the root, then the leaves
};

}  // namespace placeto
