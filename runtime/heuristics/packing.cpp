// Bin packing with unlike bins. Best fit decreasing first (Johnson, "Near-optimal bin packing
// algorithms", MIT 1973); then, from its least overflow, two devices at a time have groups dealt
// out anew by all sums that their subsets make (subset_sums.h); then all devices, or some at a
// time, take whatever sets fill them (bin_completion.h).
#include "runtime/heuristics/packing.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/no_index.h"
#include "runtime/base/random.h"
#include "runtime/base/saturating.h"
#include "runtime/base/stoppable_sort.h"
#include "runtime/cost/memory.h"
#include "runtime/heuristics/bin_completion.h"
#include "runtime/heuristics/subset_sums.h"

namespace placeto {
namespace {
constexpr uint32_t kDealt = 20;         // groups dealt out anew at once: 2 x 2^10 sums
constexpr uint32_t kMostDeals = 2'000;  // of them
constexpr uint32_t kMostCompletedDevices = 64;

class Packer {
 public:
  Packer(const Problem& problem, Stop* stop)
      : problem_(problem),
        stop_(stop),
        devices_(problem.device_count()),
        need_(bytes_while_running(problem, stop)),
        order_(problem.group_count()),
        device_of_(problem.group_count(), kNoIndex),
        held_(devices_, 0),
        peak_(devices_, 0) {
    std::iota(order_.begin(), order_.end(), 0u);
    stoppable_sort(
        order_.begin(), order_.end(),
        [this](uint32_t a, uint32_t b) { return bytes(a) + need_[a] > bytes(b) + need_[b]; }, stop);
  }

  Packing run() {
    Packing packing;
    packing.missing_bytes = surely_missing();
    if (packing.missing_bytes > 0) packing.verdict = Packing::Verdict::kImpossible;
    fit_best();
    if (overflow() > 0) deal_out();
    if (overflow() > 0 && packing.missing_bytes == 0 && !stopped(stop_)) {
      if (complete() == Completion::kNone) {
        packing.verdict = Packing::Verdict::kImpossible;
        packing.missing_bytes = 1;
      }
    }
    if (stopped(stop_)) return {};
    if (overflow() == 0) packing.verdict = Packing::Verdict::kFits;
    packing.assignment.resize(problem_.node_count());
    for (uint32_t v = 0; v < problem_.node_count(); ++v) {
      packing.assignment[v] = device_of_[problem_.group_of(v)];
      if (spend(stop_, 1)) return {};
    }
    return packing;
  }

 private:
  uint64_t bytes(uint32_t group) const { return problem_.resident_bytes(group); }
  uint64_t limit(uint32_t device) const { return problem_.memory_limit(device); }

  // Bytes that every placement lacks: of a group that fits nowhere, or of all together.
  uint64_t surely_missing() const {
    uint64_t missing = 0, all = 0, room = 0;
    for (uint32_t g = 0; g < problem_.group_count(); ++g) {
      uint64_t least = ~uint64_t{0};
      for (uint32_t d = 0; d < devices_; ++d) {
        if (!problem_.allowed(g, d)) continue;
        const uint64_t wanted = bytes(g) + need_[g];
        least = std::min(least, wanted > limit(d) ? wanted - limit(d) : 0);
      }
      missing = std::max(missing, least);
      all += bytes(g);
      if (spend(stop_, 1 + Stop::looked_up(devices_))) return 0;
    }
    for (uint32_t d = 0; d < devices_; ++d) {
      room = limit(d) > ~uint64_t{0} - room ? ~uint64_t{0} : room + limit(d);
    }
    return std::max(missing, all > room ? all - room : 0);
  }

  void put(uint32_t group, uint32_t device) {
    device_of_[group] = device;
    held_[device] += bytes(group);
    peak_[device] = std::max(peak_[device], need_[group]);
  }
  // The peaks stay: find_peak() mends them.
  void take(uint32_t group) {
    held_[device_of_[group]] -= bytes(group);
    device_of_[group] = kNoIndex;
  }
  // Groups without a device yet are left out.
  void take_over(const std::vector<uint32_t>& device_of) {
    std::fill(held_.begin(), held_.end(), 0);
    std::fill(peak_.begin(), peak_.end(), 0);
    for (uint32_t g = 0; g < device_of.size(); ++g) {
      if (device_of[g] != kNoIndex) put(g, device_of[g]);
    }
  }
  bool fits(uint32_t group, uint32_t device) const {
    const uint64_t most = limit(device), peak = std::max(peak_[device], need_[group]);
    return peak <= most && held_[device] + bytes(group) <= most - peak;
  }
  uint64_t overflow(uint32_t device) const {
    const uint64_t wanted = held_[device] + peak_[device];
    return wanted > limit(device) ? wanted - limit(device) : 0;
  }
  uint64_t overflow() const {
    uint64_t sum = 0;
    for (uint32_t d = 0; d < devices_; ++d) sum = saturating_add(sum, overflow(d));
    return sum;
  }
  uint64_t room(uint32_t device) const {
    const uint64_t wanted = held_[device] + peak_[device];
    return wanted < limit(device) ? limit(device) - wanted : 0;
  }

  // The largest first.
  void fit_best() {
    for (const uint32_t g : order_) {
      put_where_it_fits_best(g);
      if (spend(stop_, devices_)) return;
    }
  }
  // Where it leaves least room; where nothing has room, where it lacks least.
  void put_where_it_fits_best(uint32_t group) {
    uint32_t best = kNoIndex, roomiest = kNoIndex;
    for (uint32_t d = 0; d < devices_; ++d) {
      if (!problem_.allowed(group, d)) continue;
      if (roomiest == kNoIndex || room(d) > room(roomiest)) roomiest = d;
      if (fits(group, d) && (best == kNoIndex || room(d) < room(best))) best = d;
    }
    put(group, best == kNoIndex ? roomiest : best);
  }

  // A device that lacks room and any other have groups of theirs dealt out anew, again and again.
  void deal_out() {
    constexpr uint64_t kDealWork = 50'000'000;  // groups gone through
    const uint64_t most = std::min<uint64_t>(kMostDeals, kDealWork / device_of_.size());
    for (uint64_t deals = 0; deals < most && overflow() > 0; ++deals) {
      if (devices_ == 1 || spend(stop_, (3u << (kDealt / 2)))) return;
      uint32_t a = random_.below(devices_);
      // Most deals begin where bytes are missing; some elsewhere, to make room of another size.
      if (random_.below(4) > 0) {
        while (overflow(a) == 0) a = (a + 1) % devices_;
      }
      const uint32_t b = (a + 1 + random_.below(devices_ - 1)) % devices_;
      deal(a, b);
    }
  }

  void deal(uint32_t a, uint32_t b) {
    choose_groups(a, b);
    if (chosen_.empty()) return;
    uint64_t fixed_a = held_[a], fixed_b = held_[b], sum = 0;
    for (const uint32_t g : chosen_) {
      (device_of_[g] == a ? fixed_a : fixed_b) -= bytes(g);
      sum += bytes(g);
    }
    // What a may take of the sum so that neither lacks anything; if there is no such share, any in
    // between lacks the same.
    const auto left = [&](uint32_t d, uint64_t fixed) {
      const uint64_t taken = fixed + peak_[d];
      return std::min(sum, limit(d) > taken ? limit(d) - taken : 0);
    };
    const uint64_t most = left(a, fixed_a), least = sum - left(b, fixed_b);
    const uint64_t low = std::min(least, most), high = std::max(least, most);
    const double share = random_.uniform();
    const uint64_t target =
        low + std::min(high - low, static_cast<uint64_t>(share * static_cast<double>(high - low)));
    const uint64_t subset = closest_subset(target);
    const uint64_t before = overflow(a) + overflow(b);
    old_.clear();
    for (const uint32_t g : chosen_) old_.push_back(device_of_[g]);
    for (uint32_t i = 0; i < chosen_.size(); ++i) {
      take(chosen_[i]);
      put(chosen_[i], (subset >> i & 1) != 0 ? a : b);
    }
    find_peak(a), find_peak(b);
    if (overflow(a) + overflow(b) <= before) return;
    for (uint32_t i = 0; i < chosen_.size(); ++i) {
      take(chosen_[i]);
      put(chosen_[i], old_[i]);
    }
    find_peak(a), find_peak(b);
  }

  void find_peak(uint32_t device) {
    peak_[device] = 0;
    for (uint32_t g = 0; g < device_of_.size(); ++g) {
      if (device_of_[g] == device) peak_[device] = std::max(peak_[device], need_[g]);
    }
    spend(stop_, Stop::looked_up(device_of_.size()));
  }

  // Some of those that both may hold.
  void choose_groups(uint32_t a, uint32_t b) {
    chosen_.clear();
    for (uint32_t g = 0; g < device_of_.size(); ++g) {
      const bool here = device_of_[g] == a || device_of_[g] == b;
      if (here && bytes(g) > 0 && problem_.allowed(g, a) && problem_.allowed(g, b)) {
        chosen_.push_back(g);
      }
    }
    spend(stop_, device_of_.size());
    for (uint32_t i = 0; i < std::min<size_t>(kDealt, chosen_.size()); ++i) {
      std::swap(chosen_[i], chosen_[i + random_.below(static_cast<uint32_t>(chosen_.size()) - i)]);
    }
    if (chosen_.size() > kDealt) chosen_.resize(kDealt);
  }

  // Those of the chosen groups whose bytes together come closest to the target.
  uint64_t closest_subset(uint64_t target) {
    const auto size = static_cast<uint32_t>(chosen_.size());
    numbers_.clear();
    for (const uint32_t g : chosen_) numbers_.push_back(bytes(g));
    list_subset_sums(numbers_, 0, size / 2, sums_.low, sums_.merged);
    list_subset_sums(numbers_, size / 2, size, sums_.high, sums_.merged);
    const auto distance = [target](uint64_t sum) {
      return sum > target ? sum - target : target - sum;
    };
    uint64_t best = 0, least = distance(0);
    for (size_t i = 0, j = sums_.high.size(); i < sums_.low.size() && j > 0;) {
      const uint64_t sum = sums_.low[i].sum + sums_.high[j - 1].sum;
      if (distance(sum) < least) {
        least = distance(sum);
        best = sums_.low[i].subset | sums_.high[j - 1].subset;
      }
      if (sum > target) {
        --j;
      } else {
        ++i;
      }
    }
    return best;
  }

  // All packings of what has resident bytes, if that is little, or again and again of a few
  // devices, until nothing lacks room; the rest goes where there is some.
  Completion complete() {
    constexpr uint64_t kSteps = 200'000'000;
    constexpr uint32_t kTries = 30, kMostGroups = 4'096;
    if (device_of_.size() > kMostGroups) return Completion::kGaveUp;
    uint64_t steps = kSteps;
    const std::vector<uint32_t> before = device_of_;
    Completion result = Completion::kGaveUp;
    for (uint32_t tried = 0; tried < kTries && steps > 0 && !stopped(stop_); ++tried) {
      choose_devices();
      if (chosen_.empty()) return result;
      const bool all = some_.size() == devices_;
      result = complete_bins(problem_, need_, chosen_, some_, device_of_, steps, stop_);
      if (result == Completion::kFound) take_over_weights();
      if (overflow() == 0) return result;
      if (all) break;
      result = Completion::kGaveUp;
    }
    take_over(before);
    return result;
  }

  // Devices that lack room, then those that have some, then others, in any order, and the groups on
  // them that have resident bytes: all, or as many as can be completed.
  void choose_devices() {
    std::vector<uint32_t> order(devices_);
    std::iota(order.begin(), order.end(), 0u);
    for (uint32_t i = devices_; i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    const auto rank = [this](uint32_t d) { return overflow(d) > 0 ? 0 : room(d) > 0 ? 1 : 2; };
    std::vector<uint32_t> weights(devices_, 0);
    for (const uint32_t g : order_) weights[device_of_[g]] += bytes(g) > 0;
    std::vector<bool> is_chosen(devices_, false);
    uint32_t all = 0;
    some_.clear(), chosen_.clear();
    for (int wanted = 0; wanted < 3; ++wanted) {
      for (const uint32_t d : order) {
        if (rank(d) != wanted || all + weights[d] > kMostCompleted) continue;
        if (some_.size() == kMostCompletedDevices) break;
        all += weights[d];
        some_.push_back(d);
        is_chosen[d] = true;
      }
    }
    for (const uint32_t g : order_) {
      if (bytes(g) > 0 && is_chosen[device_of_[g]]) chosen_.push_back(g);
    }
    spend(stop_, order_.size());
  }
  // They are dealt out anew; the others go where there is room.
  void take_over_weights() {
    std::vector<uint32_t> device_of = device_of_;
    for (const uint32_t g : order_) {
      if (bytes(g) == 0) device_of[g] = kNoIndex;
    }
    take_over(device_of);
    for (const uint32_t g : order_) {
      if (bytes(g) == 0) put_where_it_fits_best(g);
    }
    spend(stop_, order_.size());
  }

  const Problem& problem_;
  Stop* stop_;
  uint32_t devices_;
  Random random_{1};
  std::vector<uint64_t> need_;   // of each group: bytes_while_running()
  std::vector<uint32_t> order_;  // groups, the largest first
  std::vector<uint32_t> device_of_;
  std::vector<uint64_t> held_, peak_;  // of each device: resident bytes, largest need
  std::vector<uint32_t> chosen_, old_;
  std::vector<uint32_t> some_;  // devices
  std::vector<uint64_t> numbers_;
  struct {
    std::vector<SubsetSum> low, high, merged;
  } sums_;
};

}  // namespace

Packing pack(const Problem& problem, Stop* stop) {
  return Packer(problem, stop).run();
}

}  // namespace placeto
