// Policies whose weights are written down, not trained: what each number means can be read in
// small_policies.cpp, and placements made with them are sensible.
#pragma once

#include <memory>

#include "runtime/policy/file/policy.h"
#include "runtime/policy/file/policy_spec.h"

namespace placeto::test {

// `pairwise`, no graph network: a move is good if it evens out the loads and shortens the
// transfers, those that the makespan waits for above all, and bad if inputs come later to the group
// or its outputs later to their consumers.
PolicySpec small_pairwise_policy();

// The same, and everything leaps at once to a device that has less to do: too many at a time, for
// polishing to mend.
PolicySpec small_leaping_policy();

// `placeto`: the device with the least run time on it, apart from the current node's; devices that
// hold its predecessors are preferred a little. With `start_time`, only run time near the current
// node's start counts as load.
enum class Looks : uint8_t { kAtLoads, kAtLoadsNearby };
PolicySpec small_placeto_policy(uint32_t devices, Looks looks, uint32_t rounds = 1);

// `placeto` with the published widths (as many floats per node and direction as features, hidden
// layers as wide as their input, the head's first twice that) and seeded weights: for costs and
// agreement, not for placing well.
PolicySpec published_placeto_policy(uint32_t devices, uint32_t rounds, bool start_time,
                                    uint64_t seed);

// Replaces the tensors by seeded ones of the shapes that the rest of the description asks for.
void draw_weights(PolicySpec& spec, uint64_t seed);

// Through the file format. The description must be valid.
std::shared_ptr<const Policy> load_policy(const PolicySpec& spec);

}  // namespace placeto::test
