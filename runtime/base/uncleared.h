// Uncleared: room that costs nothing until it is used.
#pragma once

#include <cstddef>
#include <memory>

namespace placeto {

// Room for elements that are written before they are read. Not cleared when it grows, and what it
// held is lost: the pages of a large one are first touched where work is reported.
template <class T>
class Uncleared {
 public:
  T* grow_to(size_t size) {
    if (size_ < size) {
      elements_ = std::make_unique_for_overwrite<T[]>(size);
      size_ = size;
    }
    return elements_.get();
  }
  const T* data() const { return elements_.get(); }
  T& operator[](size_t i) { return elements_[i]; }
  const T& operator[](size_t i) const { return elements_[i]; }

 private:
  std::unique_ptr<T[]> elements_;
  size_t size_ = 0;
};

}  // namespace placeto
