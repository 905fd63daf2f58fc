// How many examples of a property a test tries.
#pragma once

#include <cstdint>

namespace placeto::test {

// Of so many examples, a third under a sanitizer: it makes each several times as slow, and what it
// looks for, wrong accesses to memory, shows in fewer. Also for what a test counts among them.
constexpr uint32_t examples(uint32_t many) {
#ifdef __SANITIZE_ADDRESS__
  return (many + 2) / 3;
#else
  return many;
#endif
}

}  // namespace placeto::test
