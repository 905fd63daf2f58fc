#include "runtime/placer/methods.h"

#include "runtime/heuristics/heuristics.h"
#include "runtime/search/search.h"

namespace placeto {

std::vector<const Method*> builtin_methods() {
  return {&single_method(), &random_method(),  &contiguous_method(), &heft_method(),
          &etf_method(),    &iterate_method(), &anneal_method()};
}

const Method* find_method(std::string_view name) {
  for (const Method* method : builtin_methods()) {
    if (method->name() == name) return method;
  }
  return nullptr;
}

}  // namespace placeto
