// Stable sort that can be stopped: what std::stable_sort gives, in pieces short enough to look at
// the clock in between.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "runtime/base/stop.h"

namespace placeto {

// One step of merging: takes up to `most` elements off the fronts of two sorted ranges.
template <class From, class To, class Less>
void merge_some(From& a, From a_end, From& b, From b_end, To& to, size_t most, Less less) {
  for (; most > 0 && a != a_end && b != b_end; --most) *to++ = less(*b, *a) ? *b++ : *a++;
  for (; most > 0 && a != a_end; --most) *to++ = *a++;
  for (; most > 0 && b != b_end; --most) *to++ = *b++;
}

// Once stopped, the range holds its elements in no particular order, some of them repeatedly.
template <class Iterator, class Less>
void stoppable_sort(Iterator first, Iterator last, Less less, Stop* stop) {
  using Value = typename std::iterator_traits<Iterator>::value_type;
  constexpr size_t kRun = 4096;
  const auto size = static_cast<size_t>(last - first);
  if (stop == nullptr || size <= kRun) {
    std::stable_sort(first, last, less);
    spend(stop, size);
    return;
  }
  const auto at = [](auto begin, size_t i) { return begin + static_cast<ptrdiff_t>(i); };
  for (size_t begin = 0; begin < size; begin += kRun) {
    std::stable_sort(at(first, begin), at(first, std::min(size, begin + kRun)), less);
    if (stop->spend(kRun)) return;
  }
  std::vector<Value> other(first, last);
  const auto merge_runs = [&](auto from, auto to, size_t run) {
    for (size_t begin = 0; begin < size; begin += 2 * run) {
      const size_t middle = std::min(size, begin + run), end = std::min(size, begin + 2 * run);
      auto a = at(from, begin), b = at(from, middle);
      for (size_t left = end - begin; left > 0; left -= std::min(left, kRun)) {
        merge_some(a, at(from, middle), b, at(from, end), to, kRun, less);
        if (stop->spend(kRun)) return;
      }
    }
  };
  bool in_other = false;
  for (size_t run = kRun; run < size && !stop->stopped(); run *= 2, in_other = !in_other) {
    if (in_other) {
      merge_runs(other.begin(), first, run);
    } else {
      merge_runs(first, other.begin(), run);
    }
  }
  if (in_other) std::copy(other.begin(), other.end(), first);
}

}  // namespace placeto
