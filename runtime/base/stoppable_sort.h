// Stable sort that can be stopped: what std::stable_sort gives, in pieces short enough to look at
// the clock in between. Used where no stop is needed, too: every comparison makes an instance of
// its own, and those of std::stable_sort and std::sort were a tenth of the library's code.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

#include "runtime/base/stop.h"
#include "runtime/base/uncleared.h"

namespace placeto {

template <class T, class Less>
void insertion_sort(T* first, T* last, Less less) {
  for (T* i = first; i != last; ++i) {
    T moved = *i;
    T* hole = i;
    for (; hole != first && less(moved, hole[-1]); --hole) *hole = hole[-1];
    *hole = moved;
  }
}

// By merging, from runs sorted by insertion. T is cheap to copy. `scratch` grows to `size` elements
// at most, and not at all for a few.
template <class T, class Less>
void merge_sort(T* first, size_t size, Less less, Stop* stop, Uncleared<T>& scratch) {
  constexpr size_t kRun = 16, kPiece = 4096;
  const auto least = [size](size_t i) { return i < size ? i : size; };
  // Every merge moves all elements to the other side: an even number of them ends where it began.
  size_t run = kRun;
  bool odd = false;
  for (size_t merged = kRun; merged < size; merged *= 2) odd = !odd;
  if (odd) run /= 2;
  for (size_t begin = 0; begin < size; begin += run) {
    insertion_sort(first + begin, first + least(begin + run), less);
    if (spend(stop, run)) return;
  }
  if (run >= size) return;
  T *from = first, *to = scratch.grow_to(size);
  for (; run < size; run *= 2) {
    for (size_t begin = 0; begin < size; begin += 2 * run) {
      size_t a = begin, b = least(begin + run);
      const size_t a_end = b, b_end = least(begin + 2 * run);
      for (size_t out = begin; out < b_end; ++out) {
        const bool second = a == a_end || (b != b_end && less(from[b], from[a]));
        to[out] = from[second ? b++ : a++];
        if (out % kPiece == kPiece - 1 && spend(stop, kPiece)) return;
      }
    }
    std::swap(from, to);
  }
}

// Once stopped, the range holds its elements in no particular order, some of them repeatedly.
// With `scratch` (elements of the range's type) nothing is allocated once it is large enough.
template <class Iterator, class Less>
void stoppable_sort(
    Iterator first, Iterator last, Less less, Stop* stop = nullptr,
    Uncleared<typename std::iterator_traits<Iterator>::value_type>* scratch = nullptr) {
  Uncleared<typename std::iterator_traits<Iterator>::value_type> own;
  if (first == last) return;
  merge_sort(&*first, static_cast<size_t>(last - first), less, stop,
             scratch == nullptr ? own : *scratch);
}

}  // namespace placeto
