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

// Of all divisions of the order into consecutive stages, and all choices of devices for them, that
// keep within the plan, the one with the least bottleneck; of equals one of the fewest stages.
// Exact where devices are linked alike, by broadcasts, and the order has up to some hundred groups:
// of longer ones the places to cut are thinned out, and links count as their mean. Empty if there
// is none, or once stopped.
Assignment best_pipeline(const Problem& problem, const std::vector<uint32_t>& order,
                         const MemoryPlan& plan, Stop* stop = nullptr);

// The best of the orders.
Candidate place_pipeline(const Problem& problem, Evaluator& evaluator);

}  // namespace placeto
