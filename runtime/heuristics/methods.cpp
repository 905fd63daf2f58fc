#include "runtime/heuristics/heuristics.h"

namespace placeto {

std::span<const Method* const> builtin_methods() {
  static const Method* const methods[] = {&single_method(), &random_method(), &contiguous_method(),
                                          &heft_method(),   &etf_method(),    &iterate_method(),
                                          &anneal_method()};
  return methods;
}

const Method* find_method(std::string_view name) {
  for (const Method* method : builtin_methods()) {
    if (method->name() == name) return method;
  }
  return nullptr;
}

}  // namespace placeto
