#include "runtime/heuristics/method.h"

#include "runtime/heuristics/workbench.h"

namespace placeto {

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
