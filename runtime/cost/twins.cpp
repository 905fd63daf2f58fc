#include "runtime/cost/twins.h"

#include <tuple>

namespace placeto {
namespace {

// At one time, devices and channels are served in the order of their indices. What one of them
// does then is heard by others at that time only if it takes no time to run or to send; it may come
// before or after what another says, and queues keep that order.
bool order_is_heard(const Problem& problem, Stop* stop) {
  const double shortest = problem.shortest_passing_us();
  const TopologySpec& spec = problem.topology().spec();
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    for (uint32_t c = 0; c < problem.class_count(); ++c) {
      if (problem.run_row(v)[c] <= shortest) return true;
    }
    if (spec.contention == Contention::kNone || problem.device_count() < 2) continue;
    for (const OutEdge& out : watched(problem.graph().out_edges(v), stop)) {
      if (out.output != kControlEdge && problem.transfer_us(out.output, 0, 1) <= shortest) {
        return true;
      }
    }
    if (spend(stop, problem.class_count() + problem.graph().out_edges(v).size())) return true;
  }
  return false;
}

auto prices(const Problem& problem, uint32_t d) {
  const DeviceSpec& device = problem.topology().device(d);
  return std::tie(device.stage_us, device.cut_us, device.cut_bytes_per_us);
}

}  // namespace

bool interchangeable(const Problem& problem, uint32_t a, uint32_t b, Stop* stop) {
  if (problem.class_of(a) != problem.class_of(b) ||
      problem.memory_limit(a) != problem.memory_limit(b) ||
      (problem.is_staged() && prices(problem, a) != prices(problem, b))) {
    return false;
  }
  if (!problem.is_restricted()) return true;  // kinds allow what they allow the class
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    if (problem.allowed(g, a) != problem.allowed(g, b) || spend(stop, 1)) return false;
  }
  return true;
}

std::vector<uint32_t> first_twins(const Problem& problem, Stop* stop) {
  const bool apart = !problem.topology().uniform_links() || order_is_heard(problem, stop);
  std::vector<uint32_t> first(problem.device_count());
  for (uint32_t d = 0; d < first.size(); ++d) {
    first[d] = d;
    for (uint32_t e = 0; e < d && !apart && first[d] == d; ++e) {
      if (first[e] == e && interchangeable(problem, d, e, stop)) first[d] = e;
    }
  }
  return first;
}

}  // namespace placeto
