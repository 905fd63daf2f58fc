#include "runtime/heuristics/bin_completion.h"

#include <algorithm>
#include <bit>

#include "runtime/base/saturating.h"
#include "runtime/base/stoppable_sort.h"
#include "runtime/heuristics/subset_sums.h"

namespace placeto {
namespace {

constexpr uint32_t kListed = 32;                      // groups whose sums are listed, in two halves
constexpr size_t kMostTriedSets = 1 << 13;            // for a device
constexpr uint64_t kFillSteps = 500, kSetSteps = 50;  // what a device, and a set, take as long as

bool tighter(const SubsetSum& a, const SubsetSum& b) {
  return a.sum != b.sum ? a.sum > b.sum : a.subset > b.subset;
}

class BinCompletion {
 public:
  BinCompletion(const Problem& problem, std::span<const uint64_t> need,
                std::span<const uint32_t> groups, std::span<const uint32_t> devices,
                uint64_t& steps, Stop* stop)
      : problem_(problem),
        need_(need),
        groups_(groups.begin(), groups.end()),
        devices_(devices.begin(), devices.end()),
        taken_(devices.size(), 0),
        steps_(steps),
        stop_(stop) {
    insertion_sort(groups_.data(), groups_.data() + groups_.size(), [&](uint32_t a, uint32_t b) {
      return bytes_of(a) != bytes_of(b) ? bytes_of(a) > bytes_of(b) : a < b;
    });
    for (const uint32_t g : groups_) bytes_.push_back(bytes_of(g));
    insertion_sort(devices_.data(), devices_.data() + devices_.size(), [&](uint32_t a, uint32_t b) {
      return problem_.memory_limit(a) < problem_.memory_limit(b);
    });
  }

  Completion run() {
    find_allowed();
    uint64_t room = 0, all = 0;
    for (const uint64_t bytes : bytes_) all += bytes;
    for (const uint64_t limit : limits_) room = saturating_add(room, limit);
    if (all > room) return Completion::kNone;
    if (room == ~uint64_t{0}) return Completion::kGaveUp;
    const uint64_t every = groups_.empty() ? 0 : ~uint64_t{0} >> (64 - groups_.size());
    return fill(0, every, room - all);
  }

  void write(std::vector<uint32_t>& device_of) const {
    for (size_t bin = 0; bin < devices_.size(); ++bin) {
      for (uint64_t set = taken_[bin]; set != 0; set &= set - 1) {
        device_of[groups_[static_cast<size_t>(std::countr_zero(set))]] = devices_[bin];
      }
    }
  }

 private:
  uint64_t bytes_of(uint32_t group) const { return problem_.resident_bytes(group); }

  // What may be on each device, and on those after it, and its room as far as that can use it.
  void find_allowed() {
    allowed_.assign(devices_.size(), 0);
    allowed_later_.assign(devices_.size(), 0);
    limits_.assign(devices_.size(), 0);
    for (size_t bin = devices_.size(); bin-- > 0;) {
      uint64_t most_needed = 0;
      for (size_t i = 0; i < groups_.size(); ++i) {
        if (!problem_.allowed(groups_[i], devices_[bin])) continue;
        allowed_[bin] |= uint64_t{1} << i;
        most_needed = std::max(most_needed, need_[groups_[i]]);
      }
      if (bin > 0) allowed_later_[bin - 1] = allowed_later_[bin] | allowed_[bin];
      limits_[bin] = std::min(problem_.memory_limit(devices_[bin]),
                              saturating_add(sum(allowed_[bin]), most_needed));
    }
  }

  uint64_t sum(uint64_t set) const {
    uint64_t sum = 0;
    for (; set != 0; set &= set - 1) sum += bytes_[static_cast<size_t>(std::countr_zero(set))];
    return sum;
  }
  bool fits(uint64_t set, size_t bin) const {
    const uint64_t most = limits_[bin], held = sum(set);
    if (held > most) return false;
    for (; set != 0; set &= set - 1) {
      if (need_[groups_[static_cast<size_t>(std::countr_zero(set))]] > most - held) return false;
    }
    return true;
  }

  // The devices from this one on take the groups that are left, and may waste so much together.
  // Sets that waste least are tried first.
  Completion fill(size_t bin, uint64_t left, uint64_t spare) {
    if (left == 0) return Completion::kFound;
    if (bin == devices_.size()) return Completion::kNone;
    if (!look(kFillSteps)) return Completion::kGaveUp;
    const uint64_t may = left & allowed_[bin], must = left & ~allowed_later_[bin];
    if ((must & ~may) != 0) return Completion::kNone;
    std::vector<SubsetSum> sets;
    Completion result =
        find_sets(bin, must, may & ~must, spare, sets) ? Completion::kNone : Completion::kGaveUp;
    stoppable_sort(sets.begin(), sets.end(), tighter, stop_);
    for (const auto [held, set] : sets) {
      if (steps_ == 0 || stopped(stop_)) return Completion::kGaveUp;
      const Completion rest = fill(bin + 1, left & ~set, spare - (limits_[bin] - held));
      if (rest == Completion::kGaveUp) result = rest;
      if (rest != Completion::kFound) continue;
      taken_[bin] = set;
      return rest;
    }
    return result;
  }

  // All sets of `must` and some of `may` that fit and waste no more than what is to spare; whether
  // these are all. The groups beyond those whose sums are listed are in or out, in all ways.
  bool find_sets(size_t bin, uint64_t must, uint64_t may, uint64_t spare,
                 std::vector<SubsetSum>& sets) {
    const uint64_t held = sum(must);
    if (held > limits_[bin]) return true;
    const uint64_t most = limits_[bin] - held, least = most - std::min(most, spare);
    std::vector<int> members;  // bits of `may`
    for (uint64_t left = may; left != 0; left &= left - 1) {
      members.push_back(std::countr_zero(left));
    }
    const size_t apart = members.size() > kListed ? members.size() - kListed : 0;
    std::vector<uint64_t> numbers;
    for (size_t i = apart; i < members.size(); ++i) {
      numbers.push_back(bytes_[static_cast<size_t>(members[i])]);
    }
    const auto count = static_cast<uint32_t>(numbers.size());
    list_subset_sums(numbers, 0, count / 2, low_, merged_);
    list_subset_sums(numbers, count / 2, count, high_, merged_);
    if (!look(low_.size() + high_.size())) return false;
    const auto spread = [&](uint64_t subset, size_t from) {
      uint64_t set = 0;
      for (; subset != 0; subset &= subset - 1) {
        set |= uint64_t{1} << members[from + static_cast<size_t>(std::countr_zero(subset))];
      }
      return set;
    };
    bool all = true;
    for (uint64_t in = 0; in < uint64_t{1} << apart && all; ++in) {
      const uint64_t first = must | spread(in, 0), more = sum(first) - held;
      if (more > most) continue;
      all = each_subset(least - std::min(least, more), most - more, [&](uint64_t subset) {
        const uint64_t set = first | spread(subset, apart);
        if (fits(set, bin)) sets.push_back({sum(set), set});
        return sets.size() < kMostTriedSets;
      });
    }
    return all;
  }

  // Subsets of the listed numbers with a sum from `least` to `most`, while visit(subset) says so;
  // whether these are all.
  template <class Visit>
  bool each_subset(uint64_t least, uint64_t most, Visit visit) {
    if (!look(low_.size() + high_.size())) return false;
    size_t begin = high_.size(), end = high_.size();  // those that make a sum in between
    for (const SubsetSum& one : low_) {
      while (end > 0 && one.sum + high_[end - 1].sum > most) --end;
      while (begin > 0 && one.sum + high_[begin - 1].sum >= least) --begin;
      for (size_t i = begin; i < end; ++i) {
        if (!look(kSetSteps) || !visit(one.subset | high_[i].subset)) return false;
      }
    }
    return true;
  }

  // Whether it may go on.
  bool look(uint64_t steps) {
    steps_ -= std::min(steps_, steps);
    return !spend(stop_, Stop::looked_up(steps)) && steps_ > 0;
  }

  const Problem& problem_;
  std::span<const uint64_t> need_;
  std::vector<uint32_t> groups_;                   // the largest first
  std::vector<uint64_t> bytes_;                    // of each
  std::vector<uint32_t> devices_;                  // the smallest first
  std::vector<uint64_t> taken_;                    // the set of each
  std::vector<uint64_t> allowed_, allowed_later_;  // groups, on each and on those after it
  std::vector<uint64_t> limits_;                   // of each
  uint64_t& steps_;                                // left
  Stop* stop_;
  std::vector<SubsetSum> low_, high_, merged_;
};

}  // namespace

Completion complete_bins(const Problem& problem, std::span<const uint64_t> need,
                         std::span<const uint32_t> groups, std::span<const uint32_t> devices,
                         std::vector<uint32_t>& device_of, uint64_t& steps, Stop* stop) {
  BinCompletion bins(problem, need, groups, devices, steps, stop);
  const Completion found = bins.run();
  if (found == Completion::kFound) bins.write(device_of);
  return found;
}

}  // namespace placeto
