#include "runtime/heuristics/heuristics.h"

namespace placeto {

std::array<const Method*, kMethodCount> builtin_methods() {
#define PLACETO_METHOD_ADDRESS(name) &name##_method(),
  return {PLACETO_METHODS(PLACETO_METHOD_ADDRESS)};
#undef PLACETO_METHOD_ADDRESS
}

const Method* find_method(std::string_view name) {
  for (const Method* method : builtin_methods()) {
    if (method->name() == name) return method;
  }
  return nullptr;
}

Result<Candidate> Method::place(const Problem& problem, const MethodOptions& options) const {
  Workbench bench(problem, options);
  return place(bench);
}

Status Method::add_to(Workbench& bench) const {
  Result<Candidate> candidate = place(bench);
  if (!candidate.ok()) return candidate.status();
  bench.add(std::move(*candidate));
  return {};
}

}  // namespace placeto
