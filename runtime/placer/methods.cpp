#include "runtime/placer/methods.h"

#include "runtime/heuristics/heuristics.h"
#include "runtime/search/search.h"

namespace placeto {

// In the order in which `auto` tries them: quick ones first, of which one may be all that a
// deadline leaves time for.
std::vector<const Method*> builtin_methods() {
  return {&single_method(),     &random_method(),  &heft_method(),  &etf_method(),
          &contiguous_method(), &iterate_method(), &anneal_method()};
}

const Method* find_method(std::string_view name) {
  for (const Method* method : builtin_methods()) {
    if (method->name() == name) return method;
  }
  return nullptr;
}

}  // namespace placeto
