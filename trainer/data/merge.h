// Merging operators: a smaller graph that stands for a large one, as the paper merges the operators
// of TensorFlow before it places them (Addanki et al., section 4.1: groups of operators are the
// nodes that are placed).
//
// The runtime's hierarchy (runtime/groups/hierarchy.h) moves groups of the graph as it is and
// has no need to be a graph itself: its groups may wait for each other. Here they must not: the
// quotient has no cycle. contract.h makes such groups, each within one group of the hierarchy, so
// that colocation forces few of them together. Where they are too many, a group is an interval of a
// topological order, and colocated sets chain intervals together.
#pragma once

#include "runtime/cost/evaluator.h"
#include "trainer/data/problems.h"

namespace placeto::train {

// An instance whose nodes are groups of the operators of `operators`, at most `groups` of them, but
// never fewer than colocation forces: `merged` of the result keeps the operators and says in which
// group each is. On one kind of device, and without transfers, both graphs take equally long: a
// group costs its operators and the gaps between them. What a group keeps to itself of memory
// is counted as workspace by its largest tensor.
//
// All devices of the topology must be of one class: costs are stated once for all.
Instance merge_operators(Instance operators, uint32_t groups);

// Where the operators are when the groups are placed so. `merged` must have a value.
Assignment place_operators(const Instance& merged, std::span<const uint32_t> groups);

// The problem that placements of the instance are judged on: of the operators, where its nodes are
// groups of them.
const Problem& judged_problem(const Instance& instance);

// What a placement of the instance's nodes is worth there; the evaluator is of that problem.
Score judge(const Instance& instance, std::span<const uint32_t> placement, Evaluator& evaluator);

}  // namespace placeto::train
