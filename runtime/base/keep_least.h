// The few least of many.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace placeto {

// Puts the item among the at most so many that are kept, the least first, where it is less than one
// of them or there is room; of equal ones those that came first stay.
template <class T, class Item, class Less>
void keep_least(std::vector<T>& kept, size_t most, Item&& item, Less less) {
  if (kept.size() == most) {
    if (!less(item, kept.back())) return;
    kept.pop_back();
  }
  kept.insert(std::upper_bound(kept.begin(), kept.end(), item, less), std::forward<Item>(item));
}

}  // namespace placeto
