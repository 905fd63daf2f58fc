// The features of the `pairwise` policy, defined once: this list names the columns that the runtime
// computes, the trainer records and policy files refer to. A new feature is one line here and one
// in move_features.cpp (pairs) or node_features.cpp (nodes).
//
// Every feature is a ratio: nothing depends on units, and little on the size of the graph.
#pragma once

#include "runtime/policy/feature.h"

namespace placeto {

// Features of a move: a group, the device it would move to (target) and the device that now holds
// most of its work (source). M is the makespan; times are shares of it.
#define PLACETO_PAIR_FEATURES(X)                                                                   \
  X(work_target, "run time of the group on the target / M", 0, 2)                                  \
  X(work_change, "run time on the target minus run time where its nodes are now / M", -2, 2)       \
  X(load_target, "run time the target already has, without the group / M", 0, 1)                   \
  X(load_source, "run time the source has, without the group / M", 0, 1)                           \
  X(load_mean, "mean run time of a device / M", 0, 1)                                              \
  X(busy_target, "share of the group's time window in which the target runs other nodes", 0, 1)    \
  X(busy_source, "the same of the source", 0, 1)                                                   \
  X(window, "time from the group's first start to its last finish / M", 0, 1)                      \
  X(position, "middle of that window / M", 0, 1)                                                   \
  X(transfer_before, "time of the transfers at the group's border and inside it now / M", 0, 2)    \
  X(transfer_after, "time of those transfers after the move / M", 0, 2)                            \
  X(critical_transfer_before, "the same for edges the makespan waits for / M", 0, 1)               \
  X(critical_transfer_after, "the same after the move / M", 0, 1)                                  \
  X(critical_work, "run time of the group's nodes that the makespan waits for / M", 0, 1)          \
  X(slack, "least time one of its nodes could finish later without lengthening the run / M", 0, 1) \
  X(delay_in, "latest input after the move minus its node's start now / M", -1, 1)                 \
  X(delay_out, "latest output after the move minus its consumer's start now / M", -1, 1)           \
  X(egress_target, "time the target's channels are busy / M", 0, 2)                                \
  X(egress_source, "the same of the source / M", 0, 2)                                             \
  X(affinity_target, "share of the border's bytes that the target's nodes exchange", 0, 1)         \
  X(affinity_source, "the same of the source", 0, 1)                                               \
  X(scattered, "share of the group's work that is not on the source", 0, 1)                        \
  X(on_target, "share of the group's work that is on the target already", 0, 1)                    \
  X(memory_after, "plan of the target's memory after the move / limit; 0 without a limit", 0, 2)   \
  X(group_share, "share of all nodes that are in the group", 0, 1)                                 \
  X(devices, "1 / number of devices", 0, 1)                                                        \
  X(parallelism, "total mean run time / (M x devices)", 0, 2)                                      \
  X(communication, "mean transfer time of an edge / mean run time of a node, as x / (1 + x)", 0, 1)

// Features of a node in the last simulated timeline.
#define PLACETO_NODE_FEATURES(X)                                                                 \
  X(run, "mean run time / largest mean run time", 0, 1)                                          \
  X(transfer, "mean transfer time of its outputs / largest mean run time, as x / (1 + x)", 0, 1) \
  X(rank, "upward rank / largest upward rank", 0, 1)                                             \
  X(depth, "position in topological order / number of nodes", 0, 1)                              \
  X(start, "start / M", 0, 1)                                                                    \
  X(wait, "time its latest input waited for the device / M", 0, 1)                               \
  X(node_slack, "time it could finish later without lengthening the run / M", 0, 1)              \
  X(critical, "1 if the makespan waits for it", 0, 1)                                            \
  X(remote_inputs, "share of its inputs that come from other devices", 0, 1)                     \
  X(remote_outputs, "share of its out-edges that leave its device", 0, 1)

PLACETO_DEFINE_FEATURES(PairFeature, kPairFeatures, kPairFeatureList, PLACETO_PAIR_FEATURES)
PLACETO_DEFINE_FEATURES(NodeFeature, kNodeFeatures, kNodeFeatureList, PLACETO_NODE_FEATURES)

}  // namespace placeto
