// Memory that ends where a page ends, for tests that nobody reads beyond it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/capi_support.h"

namespace capi_test {

// A page whose end is followed by one that nobody may touch.
class LastBytes {
 public:
  LastBytes() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* const map =
        mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(map != MAP_FAILED);
    begin_ = static_cast<char*>(map);
    REQUIRE(mprotect(begin_ + page_, page_, PROT_NONE) == 0);
  }
  LastBytes(const LastBytes&) = delete;
  ~LastBytes() { munmap(begin_, 2 * page_); }

  // The last `count` objects of the page.
  template <class T>
  T* last(size_t count = 1) const {
    return reinterpret_cast<T*>(begin_ + page_ - count * sizeof(T));
  }
  // A struct of which there is nothing but its struct_size.
  template <class Struct>
  Struct* stub(size_t struct_size) const {
    *last<size_t>() = struct_size;
    return reinterpret_cast<Struct*>(last<size_t>());
  }
  template <class T>
  T* copy(const T& value) const {
    return new (last<T>()) T(value);
  }

 private:
  size_t page_;
  char* begin_ = nullptr;
};

inline constexpr size_t kHuge = ~size_t{0};

// `call` refuses the struct, of which there are eight bytes, whatever size it claims but those that
// it has had, from `oldest` on.
template <class Struct, class Call>
void refuses_stubs(Call call, size_t oldest = sizeof(Struct)) {
  const LastBytes room, error_room;
  placeto_error* const error = error_room.last<placeto_error>();
  for (const size_t size : {size_t{0}, size_t{1}, sizeof(size_t), oldest - 8, sizeof(Struct) - 1,
                            sizeof(Struct) + 8, kHuge}) {
    INFO(size);
    CHECK(call(room.stub<Struct>(size), error) == PLACETO_INVALID_ARGUMENT);
    CHECK(mentions(*error, "struct_size is "));
  }
}

}  // namespace capi_test
