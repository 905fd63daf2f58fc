// Pipelines: consecutive stages of the graph, each on a device of its own, so that the busiest is
// as little busy as it can be.
#pragma once

#include <vector>

#include "runtime/heuristics/memory_plan.h"

namespace placeto {

// Orders of the problem's groups in which each comes after what it reads, where groups do not wait
// for each other in a circle: one that keeps what starts together together, and one that follows
// each path as far as it goes.
std::vector<std::vector<uint32_t>> pipeline_orders(const Problem& problem, Stop* stop = nullptr);

// What a stage is taken to hold beside its resident bytes: the plan's share of all its outputs, or
// what it does if it runs its groups one after the other. The second is right for chains; where
// nodes of a group run at different times (a layer and its gradient), what waits in between is not
// seen, and only the share, which is learned, allows for it.
enum class StageMemory { kShare, kHeld };

// The division of the order into consecutive stages, with a choice of devices for them, that has
// the least bottleneck of all that keep within the plan; among equals one of the fewest stages.
// Exact where devices are linked alike, by broadcasts, the order has up to some hundred groups and
// no group waits for a later one: of longer orders the places to cut are thinned out, links count
// as their mean, and stages in a circle each alone. Of many unlike devices those listed first are
// looked at, as many as make 1,024 sets (ten, if all differ). Empty if there is none, or once
// stopped.
Assignment best_pipeline(const Problem& problem, const std::vector<uint32_t>& order,
                         const MemoryPlan& plan, StageMemory memory = StageMemory::kHeld,
                         Stop* stop = nullptr);

// The same with the least sum of runs and of what stages wait for from each other, as if nothing
// ran at the same time; what they hold is what they would then (serial_memory.h).
Assignment best_chain(const Problem& problem, const std::vector<uint32_t>& order,
                      const MemoryPlan& plan, Stop* stop = nullptr);

// The best of the orders.
Candidate place_pipeline(const Problem& problem, Evaluator& evaluator);

// What comes closest to one device that is too small for all: a chain along a line (line_order.h).
// No assignment, if there is none that should fit.
Candidate place_chain(const Problem& problem, Evaluator& evaluator);

}  // namespace placeto
