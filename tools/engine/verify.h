// Where the engine really ran what a plan placed: an engine takes an operator that a provider
// cannot run to another one and at most logs it, so a plan can be ignored without a sign.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tools/costs/profile.h"

namespace placeto {

struct PlannedNode {
  std::string name, device;
  std::string op = {};                    // "": not known
  std::string stage = {};                 // that it runs in; "": none is known
  std::vector<std::string> outputs = {};  // their names in the model; empty: not known
};

struct Difference {
  std::string node, op, device, provider;
};

struct Verification {
  uint32_t as_planned = 0;
  uint32_t compiled = 0;   // of those: several nodes of the plan each, which a provider took as one
  uint32_t not_seen = 0;   // planned nodes that no record has, though it has others of their stage:
                           // fused into others or folded
  uint32_t by_engine = 0;  // recorded nodes that lead to no planned one: copies, changes of layout
  // The same that compute something, of a plan without outputs: the engine gives what it fuses a
  // name of its own, and only outputs tell what that is.
  uint32_t unknown = 0;
  std::vector<Difference> differences;
  std::vector<std::string> not_run;  // stages of which no record has a node, in the plan's order
};

// Nodes are matched as run times are (costs/engine_nodes.h), by numbers and by names, of nodes and
// of outputs, alone. Two planned nodes of one name agree with either's device, and are of either's
// stage. A record that is given twice counts once. `is_split`: each stage is a model, with a record
// of its own; else the engine may have fused or folded whole stages if a record has nodes of
// several, and none of them counts as not run.
// Providers that compile (TensorRT, OpenVINO, QNN, CoreML ...) take several nodes as one whose name
// says nothing of them ("TensorrtExecutionProvider_TRTKernel_..."). In a split plan it is of the
// stage of the other nodes in its record, else of the first stage without a record that is to run
// on that provider; in others it stands for whatever is to run there.
// A record without nodes, of a session in which all was folded, is of a stage of which nothing else
// is known, in a split plan; in others it says nothing.
// `names`: by device, what the engine calls it; of one that is not there, its kind.
// Fails with kBadInput if the plan has no nodes.
Result<Verification> verify_run(std::span<const PlannedNode> plan, std::span<const Profile> records,
                                const std::map<std::string, std::string>& names,
                                bool is_split = false);

}  // namespace placeto
